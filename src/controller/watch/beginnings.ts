import { formatPath } from '../../reconciler/model/path.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Beginning } from '../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../reconciler/model/verdict.ts';

type FoundChanges = Pick<EnvironmentPlan, 'changes' | 'unknown'>;

/**
 * The beginning of the finding of a read, from the facts before it. A difference keeps its beginning while the service cannot be read: no
 * read has seen it equal since. `at` is the time of the read, `after` that of the read before.
 */
export function beginningsAfter(
  known: readonly Beginning[],
  found: WatchStatus,
  plan: FoundChanges | null,
  at: string,
  after: string | null,
): readonly Beginning[] {
  const names = listFoundParts(found, plan).map(({ name }) => name);
  const before = new Map(known.map((one) => [one.of, one]));
  const now = names.map((of) => before.get(of) ?? { of, since: at, after });
  return found === 'error' ? [...known.filter((one) => one.of !== 'error'), ...now] : now;
}

/**
 * Returns the first beginning among the parts of a state. Edits of the file that are not applied yet count only if nothing else differs.
 */
export function findFirstBeginning(
  began: readonly Beginning[],
  found: WatchStatus,
  plan: FoundChanges | null,
): Omit<Beginning, 'of'> | null {
  const all = listFoundParts(found, plan);
  const others = all.filter(({ isPending }) => !isPending);
  const names = new Set((others.length > 0 ? others : all).map(({ name }) => name));
  const [first] = began
    .filter(({ of }) => names.has(of))
    .toSorted((one, other) => Date.parse(one.since) - Date.parse(other.since));
  return first === undefined ? null : { since: first.since, after: first.after };
}

function listFoundParts(
  found: WatchStatus,
  plan: FoundChanges | null,
): readonly { readonly name: string; readonly isPending: boolean }[] {
  const changes = (plan?.changes ?? []).map((change) => ({
    name: `${change.resource} ${formatPath(change.path)}`,
    isPending: change.class === 'pending',
  }));
  const named = [
    ...changes,
    ...(changes.length > 0 ? [] : (plan?.unknown ?? [])).map(({ path }) => ({
      name: `unknown ${formatPath(path)}`,
      isPending: false,
    })),
  ];
  // An environment in sync stays so if only something else cannot be compared now.
  const isOne = found === 'error' || found === 'in-sync' || named.length === 0;
  return isOne ? [{ name: found, isPending: false }] : named;
}
