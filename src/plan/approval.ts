import { SetpointError } from '../model/error.ts';
import { formatPath, samePath } from '../model/path.ts';
import {
  changesOf,
  type Change,
  type EnvironmentPlan,
  type Plan,
  type Warning,
} from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredState } from '../model/state.ts';
import { sameValue, type Json } from '../model/value.ts';
import { declaredDigests } from './declared-form.ts';
import { maskedChange } from './plan-document.ts';

/** One environment of a saved plan, and what its digests are made with. */
export interface Approved {
  readonly part: EnvironmentPlan;
  readonly digests: Digests;
}

/** Changes that a message names. */
const MOST_NAMES = 20;

/** A change as plan documents have it: the values of references are masked. */
type Shown = (change: Change<Json>) => Change<Json>;

/**
 * A saved plan is an approval, not an instruction: nothing in it is ever sent. It covers a plan that was made anew if it has
 * every change of that too: the same action, the same value before and after, and the same digest of what the file declares,
 * which holds masked literals, and a secret by its path and reference. A forged plan can only cause a refusal, or
 * approve what the committed file declares in any case.
 */
export function notCovered(
  plan: Plan,
  desired: DesiredState,
  { part, digests }: Approved,
  shown: Shown,
): SetpointError | null {
  const isApproved = among(digestedChanges(part));
  const missing = plannedChanges(plan, desired, digests, shown)
    .filter((change) => !isApproved(change))
    .map(({ change }) => change);
  if (missing.length === 0) return null;
  const changes = missing.length === 1 ? 'a change' : `${missing.length} changes`;
  const named = missing.slice(0, MOST_NAMES).map((one) => `${nameOf(one)} (${one.action})`);
  const more = missing.length - named.length;
  return new SetpointError(
    'not-covered',
    `The saved plan does not cover ${changes} that an apply would make: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
  );
}

/** Warns of approved changes that an apply no longer makes: they are made already, or no longer declared. */
export function alreadyMade(
  plan: Plan,
  desired: DesiredState,
  { part, digests }: Approved,
  shown: Shown,
): Warning[] {
  const isPlanned = among(plannedChanges(plan, desired, digests, shown));
  return digestedChanges(part)
    .filter((change) => !isPlanned(change))
    .map(({ change }) => ({
      code: 'already-made',
      message: `${nameOf(change)}: ${whyNot(change)}.`,
      path: change.path,
    }));
}

function whyNot({ action, path }: Change<Json>): string {
  return action === 'rotate'
    ? `the saved plan rotates it, and nothing here asks for that; --rotate ${formatPath(path)} would`
    : 'as the saved plan has it already';
}

/** A change as documents carry it, and the digest of what the file declares for it. */
interface DigestedChange {
  readonly change: Change<Json>;
  readonly digest: string;
}

function plannedChanges(
  plan: Plan,
  desired: DesiredState,
  digests: Digests,
  shown: Shown,
): DigestedChange[] {
  const declared = declaredDigests(plan, desired, digests);
  return changesOf(plan).map((change, index) => ({
    change: shown(maskedChange(change)),
    digest: declared[index] ?? '',
  }));
}

/** The changes of a saved plan; one without a digest covers nothing. */
function digestedChanges({ changes, digests }: EnvironmentPlan): DigestedChange[] {
  return changes.map((change, index) => ({ change, digest: digests?.changes[index] ?? '' }));
}

/** Whether a change is one of these. A digest is of one path, so that each is compared with few. */
function among(changes: readonly DigestedChange[]): (change: DigestedChange) => boolean {
  const byDigest = new Map<string, DigestedChange[]>();
  for (const change of changes) {
    const alike = byDigest.get(change.digest);
    if (alike === undefined) byDigest.set(change.digest, [change]);
    else alike.push(change);
  }
  return (change) => byDigest.get(change.digest)?.some((other) => isSame(change, other)) === true;
}

function isSame(
  { change: one, digest }: DigestedChange,
  { change: other, digest: otherDigest }: DigestedChange,
): boolean {
  return (
    digest !== '' &&
    digest === otherDigest &&
    one.resource === other.resource &&
    one.action === other.action &&
    one.sensitive === other.sensitive &&
    one.ref === other.ref &&
    samePath(one.path, other.path) &&
    sameValue(one.before, other.before) &&
    sameValue(one.after, other.after)
  );
}

function nameOf({ resource, path }: Change<Json>): string {
  return resource === 'settings' ? formatPath(path) : `sandbox ${path.join(' ')}`;
}
