import type { Refusal } from '../../model/guard.ts';
import { isWithin } from '../../model/path.ts';
import type { Change, ErrorReport, Warning } from '../../model/plan.ts';
import { refusalSentence, WOULD_BE_REFUSED } from '../refusal-text.ts';
import { groupedWarnings, weightOf } from '../warning-order.ts';
import type { Annotation } from './command.ts';

type Place = Annotation['place'];

/** The file that a target's changes stand in, for what has no line of its own; null where none says it. */
export function fileOf(changes: readonly Pick<Change, 'source'>[]): Place {
  const file = changes.find(({ source }) => source !== null)?.source?.file;
  return file === undefined ? null : { file };
}

export function errorAnnotation(
  { message, hint }: ErrorReport,
  title: string,
  place: Place,
): Annotation {
  return { level: 'error', weight: 0, title, lines: [message, hint], place };
}

/** Why an apply would refuse a plan, each at the change it is about. */
export function refusalAnnotations(
  refusals: readonly Refusal[],
  changes: readonly Pick<Change, 'source' | 'path'>[],
  { title, place, level }: Pick<Annotation, 'title' | 'place' | 'level'>,
): Annotation[] {
  return refusals.map((refusal) => ({
    level,
    weight: 0,
    title,
    lines: [`${WOULD_BE_REFUSED} ${refusalSentence(refusal)}`],
    place: changes.find(({ path }) => isWithin(refusal.path, path))?.source ?? place,
  }));
}

export function warningAnnotations(
  warnings: readonly Warning[],
  title: string,
  place: Place,
): Annotation[] {
  return groupedWarnings(warnings).map(({ code, message }) => ({
    level: 'warning',
    weight: weightOf(code),
    title,
    lines: [message],
    place,
  }));
}
