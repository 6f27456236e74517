import { asSetpointError, SetpointError } from '../model/error.ts';
import {
  listPlanChanges,
  partWarnings,
  listPlanUnknowns,
  listPlanUnmet,
  listPlanWarnings,
  type Change,
  type PartPlan,
  type Plan,
} from '../model/plan.ts';
import { samePath } from '../model/path.ts';
import {
  NOT_OBSERVED,
  describeDialectVersion,
  type ObservedState,
  isEmptyStore,
} from '../model/state.ts';
import { notCovered } from '../plan/approval.ts';
import { refusalError } from '../plan/guard.ts';
import type { PlanResult } from '../plan/plan-environment.ts';
import { sameChanges, extractSettingsPlan } from '../plan/settings-part.ts';
import type { ManagedResource, ReconcileResult, ReconcileInput, ResourceEnd } from './contract.ts';
import { findInterruption } from './interruption.ts';
import { observeAndPlan, planAgain } from './observe-and-plan.ts';
import { joinResourceEnds, sameResult, createUnsentEnd } from './resource-end.ts';

const ATTEMPTS = 3;

/**
 * Reconciles once: observe, plan, guard, observe again, write, verify; one resource after the other.
 *
 * - Level-based: it knows nothing of earlier runs and reads everything again, so that the next run finishes what a killed one
 *   left.
 * - If nothing differs, nothing is sent; nor is a plan that a guard refuses, or that is not approved. The guards judge every
 *   plan on the observation it was made from, also the one right before the write.
 * - With `ifEmpty` nothing is planned or sent once an observation finds settings stored, also the one right before the write.
 * - The observation right before the write must give the plan that was approved. The service has no compare-and-swap: the
 *   window between that observation and the write is small, not zero.
 * - A write is done when a later observation shows it. What it does not show is reported, and never called done.
 *
 * Ends with a result and never throws: every end has a result for each change.
 */
export async function reconcile(input: ReconcileInput): Promise<ReconcileResult> {
  let planned: PlanResult | null = null;
  const ended = (status: ReconcileResult['status'], error: SetpointError | null): ReconcileResult =>
    createUnverifiedEnd(status, planned, error);
  try {
    if (input.ifEmpty === true) {
      const found = await input.settings.observe(input.signal);
      if (!isEmptyStore(found)) return createUntouchedEnd(found);
    }
    let next = await observeAndPlan(input);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      planned = next;
      if (mustLeaveAlone(input, planned)) return createUntouchedEnd(planned.observed);
      if (listPlanChanges(planned.plan).length === 0) return withoutChanges(planned);
      await input.announce(planned);
      const refused = whyRefused(input, planned);
      if (refused !== null) return createRefusedEnd(planned, refused);
      if (!(await input.approve())) {
        const declined = new SetpointError('declined', 'Cancelled. Nothing was written.');
        return ended('failed', findInterruption(input.signal) ?? declined);
      }
      if (extractSettingsPlan(planned.plan).changes.length === 0)
        return await writeResources(input, planned);
      next = await planAgain(input, planned);
      const stopped = findInterruption(input.signal);
      if (stopped !== null) return ended('failed', stopped);
      if (mustLeaveAlone(input, next)) return createUntouchedEnd(next.observed);
      if (writesTheSame(planned, next)) {
        planned = next;
        const refusedNow = whyRefused(input, planned);
        if (refusedNow !== null) return createRefusedEnd(planned, refusedNow);
        return await writeResources(input, planned);
      }
    }
    return ended(
      'failed',
      new SetpointError(
        'contended',
        'The service changed between every observation and the write that was to follow.',
      ),
    );
  } catch (thrown) {
    const error = findInterruption(input.signal) ?? asSetpointError(thrown);
    return ended(error.code === 'spec-refused' ? 'refused' : 'failed', error);
  }
}

/** Explains why a plan must not be written: it exceeds the approved one, or a guard refuses it. */
function whyRefused(
  { desired, approved }: ReconcileInput,
  planned: PlanResult,
): SetpointError | null {
  const uncovered = approved === null ? null : notCovered(planned.plan, desired, approved);
  return uncovered ?? refusalError(planned.refusals);
}

/** Reports whether settings are stored that must not be overwritten. */
function mustLeaveAlone({ ifEmpty = false }: ReconcileInput, { observed }: PlanResult): boolean {
  return ifEmpty && !isEmptyStore(observed);
}

/** Reports whether two plans write the same. An emptied, or newly filled, store turns the same changes into another record. */
function writesTheSame(one: PlanResult, other: PlanResult): boolean {
  return (
    one.observed.stored === other.observed.stored &&
    sameChanges(extractSettingsPlan(one.plan), extractSettingsPlan(other.plan))
  );
}

/** Writes one resource after the other, until one fails, then removes what is removed last, and joins the ends. */
async function writeResources(
  input: ReconcileInput,
  planned: PlanResult,
): Promise<ReconcileResult> {
  const { plan, observed, proofs } = planned;
  let end: ResourceEnd = createUnsentEnd([], []);
  for (const { resource, part } of orderSteps(plan, input.resources)) {
    const own =
      end.error === null && resource !== undefined
        ? await resource.write(input, part, observed)
        : { ...createUnsentEnd(part.changes, partWarnings(part)), unknown: part.unknown };
    end = joinResourceEnds(end, own, findInterruption(input.signal) !== null);
  }
  return { ...end, plan, ...describeDialectVersion(observed), refusals: [], proofs };
}

/** A part of a plan that one resource writes at once. */
interface Step {
  readonly resource: ManagedResource | undefined;
  readonly part: PartPlan;
}

/** The steps of a write: what is stored, and what makes room for it, in the order of the plan; and what is removed last in the opposite order. */
function orderSteps(plan: Plan, resources: readonly ManagedResource[]): readonly Step[] {
  const all = plan.map((part): Step => {
    const resource = resources.find(({ name }) => name === part.resource.name);
    return { resource, part };
  });
  const isLast = ({ resource, part: { room = [], changes } }: Step, change: Change): boolean => {
    // What follows from a removal is made by its request.
    const { action, path } = changes.find((one) => isMadeBy(change, one)) ?? change;
    const isFirst = room.some((first) => samePath(first, path));
    return action === 'remove' && resource?.removesLast === true && !isFirst;
  };
  const last = all.findLastIndex(({ resource }) => resource?.removesLast === true) + 1;
  const storing = all.map((step) => withChanges(step, (change) => !isLast(step, change)));
  const removing = all.toReversed().flatMap((step) => {
    const { part, resource } = withChanges(step, (change) => isLast(step, change));
    const silent = { unknown: [], warnings: [], unmet: [] };
    return part.changes.length === 0 ? [] : [{ resource, part: { ...part, ...silent } }];
  });
  return [...storing.slice(0, last), ...removing, ...storing.slice(last)];
}

function isMadeBy({ cause }: Change, one: Change): boolean {
  return cause !== undefined && one.cause === undefined && samePath(one.path, cause);
}

function withChanges({ resource, part }: Step, isKept: (change: Change) => boolean): Step {
  if (part.changes.every(isKept)) return { resource, part };
  return { resource, part: { ...part, changes: part.changes.filter(isKept) } };
}

/** Nothing to do; what is declared and unavailable is still an error. */
function withoutChanges(planned: PlanResult): ReconcileResult {
  const [unmet] = listPlanUnmet(planned.plan);
  if (unmet === undefined) return createUnverifiedEnd('in-sync', planned, null);
  const { message, hint } = unmet;
  return createUnverifiedEnd(
    'partial',
    planned,
    new SetpointError('applied-in-part', message, { hint }),
  );
}

/** The end of a run that was to write only if nothing is stored yet: what is stored is compared with nothing. */
function createUntouchedEnd(observed: ObservedState): ReconcileResult {
  return { ...createUnverifiedEnd('not-empty', null, null), ...describeDialectVersion(observed) };
}

function createRefusedEnd(planned: PlanResult, error: SetpointError): ReconcileResult {
  return { ...createUnverifiedEnd('refused', planned, error), refusals: planned.refusals };
}

/** An end at which nothing was sent; null is a plan that could not be made. */
function createUnverifiedEnd(
  status: ReconcileResult['status'],
  planned: PlanResult | null,
  error: SetpointError | null,
): ReconcileResult {
  const plan: Plan = planned?.plan ?? [];
  return {
    status,
    plan,
    ...(planned === null ? NOT_OBSERVED : describeDialectVersion(planned.observed)),
    results: sameResult(listPlanChanges(plan), 'not-sent'),
    started: new Map(),
    remaining: [],
    unknown: listPlanUnknowns(plan),
    warnings: listPlanWarnings(plan),
    refusals: [],
    proofs: planned?.proofs,
    error,
  };
}
