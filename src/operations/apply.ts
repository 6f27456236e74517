import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import type { EnvironmentOutcome, OutcomeDocument } from '../model/outcome.ts';
import {
  changesOf,
  FORMAT_VERSION,
  type EnvironmentPlan,
  type PlanDocument,
} from '../model/plan.ts';
import { redacted } from '../model/redacted.ts';
import { NOT_OBSERVED } from '../model/state.ts';
import { TOOL } from '../model/version.ts';
import { runInfo } from '../host/run-info.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { alreadyMade, type Approved } from '../plan/approval.ts';
import { environmentPlan, maskedChange } from '../plan/plan-document.ts';
import type { Reconciled } from '../reconcile/contract.ts';
import { inParallel } from '../reconcile/in-parallel.ts';
import { interruption } from '../reconcile/interruption.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { settingsActuator } from '../service/settings.ts';
import { sandboxActuator } from '../service/v1/sandboxes.ts';
import { approvedParts } from './approved.ts';
import { chooseTargets, type WritingRequest } from './select.ts';
import { withTarget } from './open-target.ts';
import type { PlanRequest } from './options.ts';
import { planInput, planningFor, type Planning } from './planning.ts';
import { checkPolicy } from './policy.ts';
import { prepareTargets, shownOrigin, whyNotApplied, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';

export interface ApplyRequest extends Omit<PlanRequest, 'snapshot' | 'digests'>, WritingRequest {
  /** A saved plan, beyond which nothing is done. Absent: whatever the plan is. */
  readonly approved?: PlanDocument | undefined;
  /** Write only to services on which nothing is stored yet. */
  readonly ifEmpty?: boolean | undefined;
  /** Go on with the next environment if one did not end well. */
  readonly keepGoing?: boolean | undefined;
  /** Receives each plan that has changes, before guards and questions. */
  readonly onPlan?: ((plan: EnvironmentPlan) => Promise<void>) | undefined;
  /** Approves each write, by the environment's name; asked one at a time. Absent: every plan is approved. */
  readonly confirm?: ((target: string) => Promise<boolean>) | undefined;
  /** Abandons what is in flight; its state in the outcome is then unknown. */
  readonly abandon?: AbortSignal | undefined;
}

/**
 * Reconciles each environment once, one after another in the order given, and stops at the first that does not end well.
 * Every file, key and reference is checked before the first request to any. The outcome has a result for every change, on
 * every end. Throws a SetpointError if nothing was begun.
 */
export function apply(request: ApplyRequest): Promise<OutcomeDocument> {
  return redacting(request, applied);
}

async function applied(request: Running<ApplyRequest>): Promise<OutcomeDocument> {
  const clock = request.clock ?? SYSTEM_CLOCK;
  const startedAt = clock.now();
  const targets = chooseTargets(request, 'apply');
  await checkPolicy(targets, request);
  const prepared = prepareTargets(targets, request);
  const problem = whyNotApplied(prepared);
  if (problem !== null) throw problem;
  const planning = planningFor(request, prepared);
  const approved = await approvedParts(request.approved, prepared, request.resolved);
  let stopped = false;
  // A person is asked one thing at a time.
  const parallel = request.confirm === undefined ? (request.parallel ?? 1) : 1;
  const outcomes = await inParallel(prepared, parallel, async (one) => {
    if (stopped || interruption(request.signal) !== null) return notBegun(one, request);
    const outcome = await applyTarget(one, request, planning, approved.get(one) ?? null);
    stopped ||= outcome.error !== null && request.keepGoing !== true;
    return outcome;
  });
  return {
    format_version: FORMAT_VERSION,
    kind: 'outcome',
    tool: TOOL,
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(clock.now()).toISOString(),
    run: runInfo(request.env),
    environments: outcomes,
  };
}

async function applyTarget(
  prepared: Prepared,
  request: Running<ApplyRequest>,
  planning: Planning,
  approved: Approved | null,
): Promise<EnvironmentOutcome> {
  const { target, desired, warnings } = prepared;
  const redact = <D>(document: D): D => redacted(document, request.resolved.of(target.name));
  const about = {
    name: target.name,
    origin: shownOrigin(prepared),
    observed_at: null,
    digests: null,
  };
  try {
    return await withTarget(prepared, request, async (open) => {
      const reconciled = await reconcile({
        ...(await planInput(prepared, open, request, planning)),
        approved,
        ifEmpty: request.ifEmpty,
        actuators: {
          settings: settingsActuator(open.connection, open.limits),
          sandboxes: sandboxActuator(open.connection),
        },
        announce: async (planned) =>
          request.onPlan?.(redact(environmentPlan(planned, about, warnings))),
        approve: () => open.aside(async () => (await request.confirm?.(target.name)) ?? true),
        abandon: request.abandon,
      });
      const made =
        approved === null || reconciled.dialect === null || reconciled.status === 'not-empty'
          ? []
          : alreadyMade(reconciled.plan, desired, approved);
      const requests = { ...open.connection.requests };
      return outcomeOf(prepared, reconciled, made, { allowed: planning.allowed, requests });
    });
  } catch (thrown) {
    return failedOutcome(prepared, asSetpointError(thrown));
  }
}

function outcomeOf(
  prepared: Prepared,
  { plan, results, started, error, ...ended }: Reconciled,
  made: EnvironmentOutcome['warnings'],
  { allowed, requests }: Pick<EnvironmentOutcome, 'allowed' | 'requests'>,
): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: shownOrigin(prepared),
    dialect: ended.dialect,
    release: ended.release,
    status: ended.status,
    allowed,
    changes: changesOf(plan).map((change) => ({
      ...maskedChange(change),
      result: results.get(change) ?? 'not-sent',
      ...startedAs(started.get(change)),
    })),
    remaining: ended.remaining,
    unknown: ended.unknown,
    warnings: [...prepared.warnings, ...ended.warnings, ...made],
    refusals: ended.refusals,
    requests,
    error: error === null ? null : errorReport(error),
  };
}

/** The id of a sandbox that was started; nothing for other changes. */
function startedAs(sandbox: string | undefined): { readonly sandbox?: string } {
  return sandbox === undefined ? {} : { sandbox };
}

function failedOutcome(prepared: Prepared, error: SetpointError): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: shownOrigin(prepared),
    ...NOT_OBSERVED,
    status: 'failed',
    allowed: [],
    changes: [],
    remaining: [],
    unknown: [],
    warnings: prepared.warnings,
    refusals: [],
    requests: { get: 0, post: 0 },
    error: errorReport(error),
  };
}

function notBegun(prepared: Prepared, request: ApplyRequest): EnvironmentOutcome {
  const why =
    interruption(request.signal) ??
    new SetpointError('skipped', 'Not begun: an environment before it did not end well.');
  return failedOutcome(prepared, why);
}
