import { formatPath } from '../model/path.ts';
import { countActions, type EnvironmentPlan, type PlanDocument } from '../model/plan.ts';
import { changeText, unknownText, warningText } from './change-text.ts';
import { countsText } from './counts-text.ts';
import { refusalText } from './refusal-text.ts';
import { seenText } from './seen-text.ts';
import { paint, type Style } from './style.ts';
import { unchangedText } from './unchanged-text.ts';
import { visible } from './visible.ts';

/** An empty plan of what is not as declared. */
export const NOTHING_TO_BE_DONE =
  'Nothing can be done, and not all is as declared: see the warnings.';

/** `plan` speaks of what an apply would do, `drift` of what was found; `strict drift` counts what is not known. */
export type Voice = 'plan' | 'drift' | 'strict drift';

export function planText(document: PlanDocument, style: Style, voice: Voice = 'plan'): string {
  const blocks = document.environments.map((environment) =>
    environmentText(environment, style, voice, seenText(environment, document)),
  );
  return blocks.join('\n');
}

/** One target's plan. Its last line is `No changes.` exactly when the plan is empty; what would refuse an apply comes last. */
export function environmentText(
  environment: EnvironmentPlan,
  style: Style,
  voice: Voice = 'plan',
  seen: string | null = null,
): string {
  const lines = [
    heading(environment, style) + (seen === null ? '' : paint(style, 'dim', `  ${seen}`)),
  ];
  const body = [
    ...environment.changes.flatMap((change) => changeText(change, style)),
    ...environment.unknown.map((unknown) => unknownText(unknown, style)),
    ...environment.warnings.map((warning) => warningText(warning, style)),
    ...unmanagedText(environment, style),
  ];
  if (body.length > 0) lines.push('', ...body);
  const refusals = environment.refusals.map((refusal) => refusalText(refusal, style));
  return `${[...lines, '', footer(environment, style, voice), ...refusals].join('\n')}\n`;
}

export function heading(
  { name, origin }: Pick<EnvironmentPlan, 'name' | 'origin'>,
  style: Style,
): string {
  const where = origin === null ? '' : paint(style, 'dim', `  ${visible(origin)}`);
  return paint(style, 'bold', visible(name)) + where;
}

function unmanagedText({ unmanaged }: EnvironmentPlan, style: Style): string[] {
  if (unmanaged.length === 0) return [];
  const names = unmanaged.map((path) => visible(formatPath(path)));
  const shown =
    style.verbose || names.length <= 6 ? names : [...names.slice(0, 6), `${names.length - 6} more`];
  return [paint(style, 'dim', `  Not managed: ${shown.join(', ')}`)];
}

function footer({ status, changes, unknown }: EnvironmentPlan, style: Style, voice: Voice): string {
  if (status === 'error') return paint(style, 'red', 'Could not be looked at.');
  if (changes.length > 0)
    return `${voice === 'plan' ? 'Plan' : 'Drift'}: ${countsText(countActions(changes))}.${whoMovedText(changes, voice)}`;
  if (status === 'differs') return paint(style, 'yellow', NOTHING_TO_BE_DONE);
  return unchangedText(unknown, style, voice === 'strict drift' ? ' (--strict counts them)' : '');
}

/** Whose move it was: without the file as last applied, a look alone cannot tell. */
export function whoMovedText(changes: EnvironmentPlan['changes'], voice: Voice): string {
  if (voice === 'plan') return '';
  return changes.some((change) => change.class !== undefined)
    ? ''
    : ' Without --base it cannot be told whether the file has moved or the service.';
}
