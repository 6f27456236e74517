import type { DesiredSandboxes, Sandbox } from '../model/sandbox.ts';

/** Sandboxes that this run has started, by id, with the item each was started for. */
export type Started = ReadonlyMap<string, DesiredSandboxes>;

/**
 * Whose business each sandbox is: items by id claim first, then those that a sandbox was started for, then those by spec,
 * and the item without spec has the rest. A sandbox is claimed once at most.
 */
export function claimSandboxes(
  desired: readonly DesiredSandboxes[],
  sandboxes: readonly Sandbox[],
  started: Started,
): ReadonlyMap<DesiredSandboxes, readonly Sandbox[]> {
  const rest = desired.find((item) => item.kind === 'counted' && item.spec === null);
  const claims = new Map<DesiredSandboxes, Sandbox[]>(desired.map((item) => [item, []]));
  for (const sandbox of sandboxes) {
    const item =
      desired.find((item) => item.kind === 'named' && item.id === sandbox.id) ??
      started.get(sandbox.id) ??
      desired.find((item) => item.kind === 'counted' && item.spec === specOf(sandbox)) ??
      rest;
    if (item !== undefined) claims.get(item)?.push(sandbox);
  }
  return claims;
}

/** A sandbox whose spec is not said is nobody's by spec. */
function specOf({ spec }: Sandbox): string | undefined {
  return spec ?? undefined;
}
