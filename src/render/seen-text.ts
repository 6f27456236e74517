import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import { ageText } from './age-text.ts';
import { visible } from './visible.ts';

/** `as seen 2 h ago`, and when that was; null where the service itself was looked at. The age is that at the time of the plan. */
export function seenText(
  { observed_at: seen }: Pick<EnvironmentPlan, 'observed_at'>,
  { created_at: made }: Pick<PlanDocument, 'created_at'>,
): string | null {
  if (seen === null) return null;
  return `as seen ${ageText(Date.parse(made) - Date.parse(seen), ' ')} ago (${visible(seen)})`;
}
