import { formatPath } from '../model/path.ts';
import {
  countActions,
  SANDBOX_ACTIONS,
  SETTINGS_ACTIONS,
  type ActionCounts,
  type EnvironmentPlan,
  type PlanDocument,
} from '../model/plan.ts';
import { changeText, unknownText, warningText } from './change-text.ts';
import { paint, type Style } from './style.ts';
import { unchangedText } from './unchanged-text.ts';
import { visible } from './visible.ts';

/** An empty plan of what is not as declared. */
export const NOTHING_TO_BE_DONE = 'Nothing can be done, and not all is as declared: see above.';

/** `plan` speaks of what an apply would do, `drift` of what was found; `strict drift` counts what is not known. */
export type Voice = 'plan' | 'drift' | 'strict drift';

export function planText(document: PlanDocument, style: Style, voice: Voice = 'plan'): string {
  const blocks = document.environments.map((environment) =>
    environmentText(environment, style, voice),
  );
  return blocks.join('\n');
}

/** One target's plan. Its last line is `No changes.` exactly when the plan is empty. */
export function environmentText(
  environment: EnvironmentPlan,
  style: Style,
  voice: Voice = 'plan',
): string {
  const lines = [heading(environment, style)];
  const body = [
    ...environment.changes.flatMap((change) => changeText(change, style)),
    ...environment.unknown.map((unknown) => unknownText(unknown, style)),
    ...environment.warnings.map((warning) => warningText(warning, style)),
    ...unmanagedText(environment, style),
  ];
  if (body.length > 0) lines.push('', ...body);
  return `${[...lines, '', footer(environment, style, voice)].join('\n')}\n`;
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
    return `${voice === 'plan' ? 'Plan' : 'Drift'}: ${countsText(countActions(changes))}.${since(changes, voice)}`;
  if (status === 'differs') return paint(style, 'yellow', NOTHING_TO_BE_DONE);
  return unchangedText(unknown, style, voice === 'strict drift' ? ' (--strict counts them)' : '');
}

/** Whose move it was: without the file as last applied, a look alone cannot tell. */
function since(changes: EnvironmentPlan['changes'], voice: Voice): string {
  if (voice === 'plan') return '';
  return changes.some((change) => change.class !== undefined)
    ? ''
    : ' Without --base it cannot be told whether the file has moved or the service.';
}

/** `1 to set, 2 to change; 1 sandbox to start, 2 to pause`; what is not there is left out. */
function countsText(counts: ActionCounts): string {
  const settings = SETTINGS_ACTIONS.filter((action) => counts[action] > 0).map(
    (action) => `${counts[action]} to ${action}`,
  );
  const sandboxes = SANDBOX_ACTIONS.filter((action) => counts[action] > 0).map((action, index) => {
    const noun = index > 0 ? '' : counts[action] === 1 ? ' sandbox' : ' sandboxes';
    return `${counts[action]}${noun} to ${action}`;
  });
  return [settings.join(', '), sandboxes.join(', ')].filter((part) => part !== '').join('; ');
}
