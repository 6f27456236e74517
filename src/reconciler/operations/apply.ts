import { FORMAT_VERSION, listPlanChanges } from '../model/plan.ts';
import { createStartMember } from '../model/action.ts';
import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import type {
  EnvironmentOutcome,
  OutcomeDocument,
  OutcomeHead,
  OutcomeTail,
} from '../model/outcome.ts';
import { outcomeTally } from '../model/summary.ts';
import { TOOL } from '../model/version.ts';
import type { Target } from '../desired/target.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { type ApprovedPlan, alreadyMade } from '../plan/approval.ts';
import { matchApprovedParts } from './approved.ts';
import { addressText } from './digests.ts';
import {
  refusePullRequest,
  planningFor,
  describeTarget,
  planInput,
  type Planning,
} from './plan-target.ts';
import type { ApplyRequest } from './options.ts';
import { chooseTargets } from './select.ts';
import { eachTarget, FailureLimit, parallelWrites } from './parallel.ts';
import { checkPolicy } from './policy.ts';
import {
  judgeTargets,
  prepareEachTarget,
  whyNotApplied,
  formatOrigin,
  type PreparedTarget,
} from './prepare.ts';
import { redactingParts, wholeDocument, type Parts, type Running } from './redacting.ts';
import { redactDocument } from '../model/redacted.ts';
import { NOT_OBSERVED } from '../model/state.ts';
import { environmentPlan, maskChange } from '../plan/plan-environment.ts';
import type { ReconcileResult } from '../reconcile/contract.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { unlessAbandoned } from '../reconcile/interruption.ts';
import type { Writing } from '../service/port.ts';
import { withTarget, type OpenTarget } from './open-target.ts';

/**
 * Reconciles each environment once, one after another in the order given. It starts no more when more than `maxFailures` did not end well.
 * Every file, key and reference is checked before the first request to any. The outcome has a result for every change, on
 * every end. Throws a SetpointError if nothing was begun.
 */
export function apply(request: ApplyRequest): Promise<OutcomeDocument> {
  return wholeDocument<OutcomeHead, EnvironmentOutcome, OutcomeTail>((parts) =>
    applyInParts(request, parts),
  );
}

/** Applies in parts, each environment as soon as it and those before it have ended. */
export function applyInParts(
  request: ApplyRequest,
  parts: Parts<OutcomeHead, EnvironmentOutcome>,
): Promise<OutcomeTail> {
  return redactingParts(request, parts, outcomeTally(), applyAll);
}

async function applyAll(
  request: Running<ApplyRequest>,
  parts: Parts<OutcomeHead, EnvironmentOutcome>,
): Promise<Pick<OutcomeTail, 'finished_at'>> {
  const clock = request.clock ?? SYSTEM_CLOCK;
  const startedAt = new Date(clock.now()).toISOString();
  if (request.check === true) refusePullRequest(request.env, '--check');
  const run = chooseTargets(request, 'apply');
  const { targets } = run;
  if (request.policy !== undefined) await checkPolicy(run.judged, request.policy);
  const judged = await judgeTargets(run, request);
  const planning = await planningFor(request, () => prepareEachTarget(judged));
  const problem = whyNotApplied(prepareEachTarget(judged), request);
  if (problem !== null) throw problem;
  const approved =
    request.approved === undefined
      ? NONE
      : await matchApprovedParts(request.approved, prepareEachTarget(judged), request.resolved);
  const limit = new FailureLimit(request.maxFailures ?? 0, targets.length);
  const parallel = parallelWrites(request, request.confirm !== undefined);
  const applyOne = (target: Target): Promise<EnvironmentOutcome> => {
    const prepared = judged.prepare(target);
    const part = approved.get(target.name) ?? null;
    return limit.start(
      request.signal,
      () => applyTarget(prepared, request, planning, part),
      (why) => createFailedOutcome(prepared, why),
    );
  };
  const head: OutcomeHead = {
    format_version: FORMAT_VERSION,
    kind: 'outcome',
    tool: TOOL,
    started_at: startedAt,
    shard: request.shard ?? null,
  };
  await parts.begin(head, targets.length);
  await eachTarget('apply', { targets, parallel }, request, applyOne, parts.environment);
  return { finished_at: new Date(clock.now()).toISOString() };
}

const NONE: ReadonlyMap<string, ApprovedPlan> = new Map();

/**
 * Reconciles one target, and gives its part of an outcome: a result for every change, on every end. `approved` is what nothing may go beyond;
 * null if there is nothing of that kind. Never throws.
 */
export async function applyTarget(
  prepared: PreparedTarget,
  request: Running<ApplyRequest>,
  planning: Planning,
  approved: ApprovedPlan | null,
): Promise<EnvironmentOutcome> {
  const { target, desired, server, warnings } = prepared;
  const redact = <D>(document: D): D => redactDocument(document, request.resolved.of(target.name));
  const about = { ...describeTarget(prepared), digests: null };
  // A saved plan names each removal, and nothing beyond it is written.
  const lifted: Planning['allowed'] =
    approved === null ? planning.allowed : [...planning.allowed, 'remove-others'];
  const address = server instanceof SetpointError ? target.name : addressText(server);
  const reconcileTarget = async (open: OpenTarget): Promise<ReconcileResult> => {
    const input = await planInput(prepared, open, request, { ...planning, allowed: lifted });
    const saved = approved?.part.proofs;
    return reconcile({
      ...input,
      prove: input.prove ?? (saved === undefined ? undefined : async () => saved),
      approved,
      ifEmpty: request.ifEmpty,
      writer: (of) => of({ ...open, send: sending(request, target.name) }),
      announce: async (planned) =>
        request.onPlan?.(redact(environmentPlan(planned, about, warnings))),
      approve: () => open.aside(async () => (await request.confirm?.(target.name)) ?? true),
      abandon: request.abandon,
    });
  };
  try {
    return await withTarget(prepared, request, async (open) => {
      const { secrets } = open.connection;
      const { writes } = request.networks;
      const reconciled = await writes.write({ address, secrets }, () => reconcileTarget(open));
      const made =
        approved === null || reconciled.dialect === null || reconciled.status === 'not-empty'
          ? []
          : alreadyMade(reconciled.plan, desired, approved);
      const requests = { ...open.connection.requests };
      return createOutcome(prepared, reconciled, made, { allowed: planning.allowed, requests });
    });
  } catch (thrown) {
    return createFailedOutcome(prepared, asSetpointError(thrown));
  }
}

/**
 * The step that all writing requests go through: it checks whether they may still be sent, reports each as a span, and abandons one that is
 * under way at a second request to stop.
 */
export function sending(
  {
    beforeWrite,
    tracer,
    abandon,
  }: Pick<Running<ApplyRequest>, 'beforeWrite' | 'tracer' | 'abandon'>,
  target: string,
): Writing['send'] {
  return (what, work) => {
    const asked = async () => {
      const error = (await beforeWrite?.()) ?? null;
      if (error === null) return tracer.write(what, target, work);
      return { kind: 'not-applied', retry: false, reached: false, error } as const;
    };
    return unlessAbandoned(asked(), abandon);
  };
}

function createOutcome(
  prepared: PreparedTarget,
  { plan, results, started, error, proofs, ...ended }: ReconcileResult,
  made: EnvironmentOutcome['warnings'],
  { allowed, requests }: Pick<EnvironmentOutcome, 'allowed' | 'requests'>,
): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: formatOrigin(prepared),
    dialect: ended.dialect,
    release: ended.release,
    status: ended.status,
    allowed,
    changes: listPlanChanges(plan).map((change) => ({
      ...maskChange(change),
      result: results.get(change) ?? 'not-sent',
      ...createStartMember(started.get(change)),
    })),
    remaining: ended.remaining,
    unknown: ended.unknown,
    warnings: [...prepared.warnings, ...ended.warnings, ...made],
    refusals: ended.refusals,
    requests,
    ...(proofs === undefined ? {} : { proofs }),
    error: error === null ? null : errorReport(error),
  };
}

/** The outcome of a target that was not written. */
export function createFailedOutcome(
  prepared: PreparedTarget,
  error: SetpointError,
): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: formatOrigin(prepared),
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
