import type { Change, ErrorReport, Warning } from '../../model/plan.ts';
import { byWeight, weightOf } from '../warning-order.ts';
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

export function warningAnnotations(
  warnings: readonly Warning[],
  title: string,
  place: Place,
): Annotation[] {
  return byWeight(warnings).map(({ code, message }) => ({
    level: 'warning',
    weight: weightOf(code),
    title,
    lines: [message],
    place,
  }));
}
