import type { EnvironmentPlan } from '../model/plan.ts';

/** Whether the service was changed. What only the file has changed, as far as that can be told, waits for an apply. */
export function hasDrifted({ status, changes }: EnvironmentPlan): boolean {
  if (status !== 'differs') return false;
  return changes.length === 0 || changes.some((change) => change.class !== 'pending');
}
