import { SetpointError } from '../model/error.ts';
import type { SandboxPlan } from '../model/plan.ts';
import type { CountedSandboxes, DesiredSandboxes, ObservedSandboxes } from '../model/sandbox.ts';
import { didYouMean } from '../model/suggest.ts';

const MOST = 10;

/**
 * Why a target is refused before any write: an item names a spec that the service does not have, or one that starts what
 * would count for another item. A spec that is gone from the list (its ids change with every upgrade of a service) may still
 * be named to pause what runs of it, but not to start.
 */
export function specProblem(
  desired: readonly DesiredSandboxes[],
  { sandboxes, specs }: ObservedSandboxes,
  { steps }: SandboxPlan,
): SetpointError | null {
  if (specs === null) return null;
  const ids = specs.map(({ id }) => id);
  const counted = desired.filter((item) => item.kind === 'counted');
  for (const item of counted) {
    const starts = steps.some((step) => step.item === item && step.action === 'start');
    if (item.spec === null) {
      const [usual] = ids;
      const other = counted.find(({ spec }) => spec === usual);
      if (starts && usual !== undefined && other !== undefined) return startsAnothers(item, usual);
    } else if (!ids.includes(item.spec)) {
      const shown = sandboxes.some(({ spec }) => spec === item.spec);
      if (starts || !shown) return unknown(item, item.spec, ids);
    }
  }
  return null;
}

function unknown(
  { source: { file, line } }: CountedSandboxes,
  spec: string,
  ids: readonly string[],
): SetpointError {
  return new SetpointError(
    'spec-refused',
    `${file}:${line} names the sandbox spec ${spec}, which the service does not have.`,
    { hint: `${didYouMean(spec, ids)} ${listOf(ids)}`.trim() },
  );
}

function startsAnothers({ source }: CountedSandboxes, usual: string): SetpointError {
  const { file, line } = source;
  return new SetpointError(
    'spec-refused',
    `${file}:${line} starts from the server's default spec, ${usual}, which another item names: what it starts would count there.`,
    { hint: 'Give this item a spec of its own, or make one item of the two.' },
  );
}

function listOf(ids: readonly string[]): string {
  if (ids.length === 0) return 'It lists none.';
  const more = ids.length > MOST ? ` and ${ids.length - MOST} more` : '';
  return `It has ${ids.slice(0, MOST).join(', ')}${more}.`;
}
