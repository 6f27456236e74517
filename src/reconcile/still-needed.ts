import type { SandboxPlan, SandboxStep } from '../model/plan.ts';
import type { DesiredSandboxes } from '../model/sandbox.ts';
import type { Started } from '../plan/claim-sandboxes.ts';

/**
 * Those of some steps that a later plan still asks for. A resume or a pause is about its sandbox; starts of an item are
 * counted, and those in `lost` have been asked for already.
 */
export function stillNeeded(
  steps: readonly SandboxStep[],
  fresh: SandboxPlan,
  lost: readonly SandboxStep[] = [],
): readonly SandboxStep[] {
  const startsLeft = new Map<DesiredSandboxes, number>();
  for (const { action, item } of fresh.steps)
    if (action === 'start') startsLeft.set(item, (startsLeft.get(item) ?? 0) + 1);
  for (const { item } of lost) startsLeft.set(item, (startsLeft.get(item) ?? 0) - 1);
  return steps.filter(({ action, item, sandbox }) => {
    if (action !== 'start')
      return fresh.steps.some((other) => other.action === action && other.sandbox === sandbox);
    const left = startsLeft.get(item) ?? 0;
    startsLeft.set(item, left - 1);
    return left > 0;
  });
}

/** What was started, as far as it has a name, and for which item. */
export function startedIn(
  sent: readonly { readonly step: SandboxStep; readonly id: string | null }[],
): Started {
  return new Map(
    sent.flatMap(({ id, step }): [string, DesiredSandboxes][] =>
      step.action === 'start' && id !== null ? [[id, step.item]] : [],
    ),
  );
}
