import type { DesiredSandboxes, Sandbox } from '../model/sandbox.ts';

/** Sandboxes that this run has started, by id, with the item each was started for. */
export type Started = ReadonlyMap<string, DesiredSandboxes>;

/**
 * Assigns each sandbox to the item that owns it: items by id claim first, then those that a sandbox was started for, then those by spec,
 * and the item without spec has the rest. A sandbox is claimed once at most.
 */
export function claimSandboxes(
  desired: readonly DesiredSandboxes[],
  sandboxes: readonly Sandbox[],
  started: Started,
): ReadonlyMap<DesiredSandboxes, readonly Sandbox[]> {
  const named = new Map<string, DesiredSandboxes>();
  const counted = new Map<string | null, DesiredSandboxes>();
  for (const item of desired.toReversed()) {
    if (item.kind === 'named') named.set(item.id, item);
    else counted.set(item.spec, item);
  }
  const claims = new Map<DesiredSandboxes, Sandbox[]>(desired.map((item) => [item, []]));
  for (const sandbox of sandboxes) {
    const item =
      named.get(sandbox.id) ??
      started.get(sandbox.id) ??
      // One whose spec the service does not tell is nobody's by spec.
      counted.get(sandbox.spec) ??
      counted.get(null);
    if (item !== undefined) claims.get(item)?.push(sandbox);
  }
  return claims;
}
