import { SetpointError, type Warning } from '../model/error.ts';
import { formatPath, samePath } from '../model/path.ts';
import {
  listPlanChanges,
  type Change,
  type EnvironmentPlan,
  type Plan,
  isById,
} from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { redactDocument } from '../model/redacted.ts';
import type { Redactor } from '../model/redactor.ts';
import type { DesiredState } from '../model/state.ts';
import { sameValue, type Json } from '../model/value.ts';
import { namesListed } from '../model/wording.ts';
import { digestDeclaredChanges } from './declared.ts';
import { SETTINGS } from './settings-part.ts';
import { maskChange } from './plan-environment.ts';

/** The part of a saved plan that is about one environment, what its digests are made with, and what is masked in it. */
export interface ApprovedPlan {
  readonly part: EnvironmentPlan;
  readonly digests: Digests;
  readonly redactor: Redactor;
}

/** The number of changes that a message names. */
const MOST_CHANGES = 20;

/**
 * A saved plan is an approval, not an instruction: nothing in it is ever sent. It covers a new plan if it has every change of
 * it: the same action, the same values before and after, and the same digest of what the file declares, which covers masked
 * literals, and a secret by its path and reference. What follows from changes of other resources is covered with them. A forged one can only
 * cause a refusal, or approve what the committed file declares anyway.
 */
export function notCovered(
  plan: Plan,
  desired: DesiredState,
  approved: ApprovedPlan,
): SetpointError | null {
  const isApproved = among(listSealedChanges(approved.part));
  const missing = listApprovableChanges(plan, desired, approved)
    .filter((one) => !isCovered(one) && !isApproved(one))
    .map(({ change }) => change);
  if (missing.length === 0) return null;
  const changes = missing.length === 1 ? 'a change' : `${missing.length} changes`;
  const named = missing.map((one) => `${formatApprovedName(one)} (${one.action})`);
  return new SetpointError(
    'not-covered',
    `The saved plan does not cover ${changes} that an apply would make: ${namesListed(named, MOST_CHANGES)}.`,
  );
}

/** Warns of what was approved and is not planned any more: it is done already, or no longer declared. */
export function alreadyMade(plan: Plan, desired: DesiredState, approved: ApprovedPlan): Warning[] {
  const isPlanned = among(listApprovableChanges(plan, desired, approved));
  return listSealedChanges(approved.part)
    .filter((one) => !isCovered(one) && !isPlanned(one))
    .map(({ change }) => ({
      code: 'already-made',
      message: `${formatApprovedName(change)}: ${explainExtraChange(change)}.`,
      path: change.path,
    }));
}

/** Reports whether a change is covered by the one it follows from: not one of the settings, whose values the saved plan has. */
function isCovered({ change }: DigestedChange): boolean {
  return change.consequence === true && change.resource !== SETTINGS.name;
}

function explainExtraChange({ action, path }: Change<Json>): string {
  return action === 'rotate'
    ? `the saved plan rotates it, and this run does not; pass --rotate ${formatPath(path)}`
    : 'already as the saved plan makes it';
}

function formatApprovedName(change: Change<Json>): string {
  const { resource, path } = change;
  return isById(change) ? `${resource} ${path.join(' ')}` : formatPath(path);
}

/** A change as documents carry it, and the digest of what the file declares for it. */
interface DigestedChange {
  readonly change: Change<Json>;
  readonly digest: string;
}

function listApprovableChanges(
  plan: Plan,
  desired: DesiredState,
  { digests, redactor }: ApprovedPlan,
): DigestedChange[] {
  const declared = digestDeclaredChanges(plan, desired, digests);
  return listPlanChanges(plan).map((change, index) => ({
    change: redactDocument(maskChange(change), redactor),
    digest: declared[index] ?? '',
  }));
}

/** The changes of a saved plan; one without a digest covers nothing. */
function listSealedChanges({ changes, digests }: EnvironmentPlan): DigestedChange[] {
  return changes.map((change, index) => ({ change, digest: digests?.changes[index] ?? '' }));
}

/** Returns a test whether a change is one of these. A digest belongs to one path, so each change is compared with few. */
function among(changes: readonly DigestedChange[]): (change: DigestedChange) => boolean {
  const byDigest = new Map<string, DigestedChange[]>();
  for (const change of changes) {
    const alike = byDigest.get(change.digest);
    if (alike === undefined) byDigest.set(change.digest, [change]);
    else alike.push(change);
  }
  return (change) =>
    byDigest.get(change.digest)?.some((other) => isSameChange(change, other)) === true;
}

function isSameChange(
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
