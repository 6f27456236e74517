import type { EnvironmentPlan } from '../../model/plan.ts';
import { shellWord } from '../shell-word.ts';
import { markup, type Markup } from './markup.ts';
import type { Voice } from '../sides.ts';

/**
 * What to type to have the service as the file says, where no guard would refuse that, or the file as the service is; null
 * where nothing differs.
 */
export function remedyHtml(environments: readonly EnvironmentPlan[], voice: Voice): Markup | null {
  const differing = environments.filter(({ changes }) => changes.length > 0);
  if (differing.length === 0) return null;
  const applied = differing.filter(({ refusals }) => refusals.length === 0);
  const apply =
    applied.length === 0
      ? null
      : markup`<p>To make the service equal to the file: <code>setpoint apply ${chosen(applied)}</code></p>\n`;
  if (voice === 'plan') return apply;
  return markup`${apply}<p>To bring the service's values into the file: <code>setpoint pull ${chosen(differing)}</code></p>\n`;
}

function chosen(environments: readonly EnvironmentPlan[]): string {
  return environments.map(({ name }) => `-e ${shellWord(name)}`).join(' ');
}
