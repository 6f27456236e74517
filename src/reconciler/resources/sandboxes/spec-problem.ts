import { SetpointError } from '../../model/error.ts';
import type { CountedSandboxes, DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import type { ObservedSandboxes, SandboxPlan } from './sandbox.ts';
import { didYouMean } from '../../model/wording.ts';

const LISTED_SPECS = 10;

/**
 * Why an environment is refused before any write: an item names a spec that the service does not have, or starts sandboxes
 * that would count for another item. A retired spec (the ids change with every upgrade of a service) may still be named to
 * pause the sandboxes that run from it, and not to start one.
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
      if (starts && usual !== undefined && other !== undefined)
        return startsForAnother(item, usual);
    } else if (!ids.includes(item.spec)) {
      const shown = sandboxes.some(({ spec }) => spec === item.spec);
      if (starts || !shown) return unknownSpec(item, item.spec, ids);
    }
  }
  return null;
}

function unknownSpec(
  { source: { file, line } }: CountedSandboxes,
  spec: string,
  ids: readonly string[],
): SetpointError {
  return new SetpointError(
    'spec-refused',
    `${file}:${line} names the sandbox spec ${spec}, which the service does not have.`,
    { hint: `${didYouMean(spec, ids)} ${choices(ids)}`.trim() },
  );
}

function startsForAnother({ source }: CountedSandboxes, usual: string): SetpointError {
  const { file, line } = source;
  return new SetpointError(
    'spec-refused',
    `${file}:${line} starts from the server's default spec, ${usual}, which another item names: what it starts would count there.`,
    { hint: 'Give this item a spec of its own, or make one item of the two.' },
  );
}

function choices(ids: readonly string[]): string {
  if (ids.length === 0) return 'It lists none.';
  const more = ids.length > LISTED_SPECS ? ` and ${ids.length - LISTED_SPECS} more` : '';
  return `Available: ${ids.slice(0, LISTED_SPECS).join(', ')}${more}.`;
}
