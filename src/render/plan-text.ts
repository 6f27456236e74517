import { formatPath } from '../model/path.ts';
import { counted } from '../model/counted.ts';
import { countActions, type EnvironmentPlan, type PlanDocument } from '../model/plan.ts';
import { changeText, unknownText, warningText } from './change-text.ts';
import { countsText } from './counts-text.ts';
import { refusalText } from './refusal-text.ts';
import { seenText } from './seen-text.ts';
import type { Voice } from './sides.ts';
import { paint, type Style } from './style.ts';
import { unchangedText } from './unchanged-text.ts';
import { visible } from './visible.ts';
import { groupedWarnings } from './warning-order.ts';

/** An empty plan of what is not as declared. */
export const NOTHING_TO_BE_DONE =
  'Not as declared, and nothing can be done about it: see the warnings.';

export const COULD_NOT_READ = "Could not read the service's settings.";

/** How a plan is worded; `strict drift` counts what could not be compared. */
export type TextVoice = Voice | 'strict drift';

export function planText(document: PlanDocument, style: Style, voice: TextVoice = 'plan'): string {
  const blocks = document.environments.map((environment) =>
    environmentText(environment, style, voice, seenText(environment, document)),
  );
  return blocks.join('\n');
}

/** One target's plan. Its last line is `No changes.` exactly when the plan is empty; what would refuse an apply comes last. */
export function environmentText(
  environment: EnvironmentPlan,
  style: Style,
  voice: TextVoice = 'plan',
  seen: string | null = null,
): string {
  const lines = [
    heading(environment, style) + (seen === null ? '' : paint(style, 'dim', `  ${seen}`)),
  ];
  const body = [
    ...environment.changes.flatMap((change) =>
      changeText(change, style, voice === 'plan' ? 'plan' : 'drift'),
    ),
    ...environment.unknown.map((unknown) => unknownText(unknown, style)),
    ...groupedWarnings(environment.warnings).map((warning) => warningText(warning, style)),
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

function footer(
  { status, changes, unknown }: EnvironmentPlan,
  style: Style,
  voice: TextVoice,
): string {
  if (status === 'error') return paint(style, 'red', COULD_NOT_READ);
  if (changes.length > 0) return foundText(changes, voice);
  if (status === 'differs') return paint(style, 'yellow', NOTHING_TO_BE_DONE);
  return unchangedText(unknown, style, voice === 'strict drift' ? ' (--strict counts them)' : '');
}

/** How much there is, in the words of the last line. */
export function foundText(changes: EnvironmentPlan['changes'], voice: TextVoice): string {
  if (voice === 'plan') return `Plan: ${countsText(countActions(changes))}.`;
  return `${driftText(changes)}.${untoldText(changes)}`;
}

/**
 * Drift and pending edits, each counted by itself: `Drift: 1 difference. 2 pending edits`. Without the file as last applied
 * every difference may be drift.
 */
export function driftText(changes: EnvironmentPlan['changes']): string {
  const pending = changes.filter((change) => change.class === 'pending').length;
  const drifted = changes.length - pending;
  const edits = pending === 0 ? [] : [counted(pending, 'pending edit')];
  const drift = drifted === 0 ? 'No drift' : `Drift: ${counted(drifted, 'difference')}`;
  return [drift, ...edits].join('. ');
}

/** The same as the end of a title: `1 difference, 2 pending edits`. */
export function driftTitle(changes: EnvironmentPlan['changes']): string {
  return driftText(changes)
    .replace(/^Drift: /, '')
    .replace(/^No/, 'no')
    .replace('. ', ', ');
}

/** Without the file as last applied, one snapshot of the service cannot tell drift from edits. */
export function untoldText(changes: EnvironmentPlan['changes']): string {
  return changes.some((change) => change.class !== undefined)
    ? ''
    : ' Without --base, drift cannot be told from edits of the file.';
}
