import type { DesiredSandboxes, Sandbox } from '../model/sandbox.ts';
import type { Waiting } from './waiting.ts';

/**
 * Gives starts whose answer was lost the sandboxes that have appeared since. A sandbox of the spec that was asked for comes
 * first; then one of a spec that no item names, since a service may show another spec than the one it started.
 */
export function adopt(
  waiting: readonly Waiting[],
  desired: readonly DesiredSandboxes[],
  known: ReadonlySet<string>,
  sandboxes: readonly Sandbox[],
): readonly Waiting[] {
  const taken = new Set(waiting.flatMap(({ id }) => id ?? []));
  const strangers = sandboxes.filter(({ id }) => !known.has(id) && !taken.has(id));
  const named = new Set(
    desired.flatMap((item) => (item.kind === 'counted' ? (item.spec ?? []) : [])),
  );
  return waiting.map((one) => {
    if (one.id !== null) return one;
    const { item } = one.sent.step;
    const wanted = item.kind === 'counted' ? item.spec : null;
    const found =
      strangers.find(({ spec }) => spec === wanted) ??
      strangers.find(({ spec }) => spec === null || !named.has(spec));
    if (found === undefined) return one;
    strangers.splice(strangers.indexOf(found), 1);
    return { ...one, id: found.id };
  });
}
