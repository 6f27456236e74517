import { asSetpointError, errorReport, usageError, type SetpointError } from '../model/error.ts';
import type {
  EnvironmentOutcome,
  OutcomeDocument,
  OutcomeHead,
  OutcomeTail,
} from '../model/outcome.ts';
import {
  changesOf,
  FORMAT_VERSION,
  type EnvironmentPlan,
  type PlanDocument,
} from '../model/plan.ts';
import type { Tracer, WriteFailure } from '../model/ports.ts';
import { outcomeTally } from '../model/summary.ts';
import { redacted } from '../model/redacted.ts';
import { NOT_OBSERVED } from '../model/state.ts';
import { TOOL } from '../model/version.ts';
import type { Target } from '../desired/target.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { alreadyMade, type Approved } from '../plan/approval.ts';
import { environmentPlan, maskedChange } from '../plan/plan-document.ts';
import type { Reconciled, ReconcileInput } from '../reconcile/contract.ts';
import { inOrder } from '../reconcile/in-parallel.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { collectionActuator } from '../service/collections/collection.ts';
import { settingsActuator } from '../service/settings.ts';
import { sandboxActuator } from '../service/v1/sandboxes.ts';
import { approvedParts } from './approved.ts';
import { reportingEnd } from './ended.ts';
import { chooseTargets, type WritingRequest } from './select.ts';
import { withTarget } from './open-target.ts';
import { FailureLimit } from './failure-limit.ts';
import type { PlanRequest } from './options.ts';
import { parallelWrites } from './parallel.ts';
import { planInput, planningFor, type Planning } from './planning.ts';
import { checkPolicy } from './policy.ts';
import { judgeTargets, preparedOf, shownOrigin, whyNotApplied, type Prepared } from './prepare.ts';
import { redactingParts, wholeDocument, type Parts, type Running } from './redacting.ts';

export interface ApplyRequest extends Omit<PlanRequest, 'snapshot' | 'digests'>, WritingRequest {
  /** A saved plan, beyond which nothing is done. Absent: whatever the plan is. */
  readonly approved?: PlanDocument | undefined;
  /** Write only to services on which nothing is stored yet. */
  readonly ifEmpty?: boolean | undefined;
  /** Go on with the next environment, however many did not end well. Not with `maxFailures`. */
  readonly keepGoing?: boolean | undefined;
  /** Receives each plan that has changes, before guards and questions. */
  readonly onPlan?: ((plan: EnvironmentPlan) => Promise<void>) | undefined;
  /** Approves each write, by the environment's name; asked one at a time. Absent: every plan is approved. */
  readonly confirm?: ((target: string) => Promise<boolean>) | undefined;
  /** Asked right before each request that writes: with an error, which the outcome then has, nothing more is sent. */
  readonly beforeWrite?: (() => Promise<SetpointError | null>) | undefined;
  /** Abandons what is in flight; its state in the outcome is then unknown. */
  readonly abandon?: AbortSignal | undefined;
}

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

/** The same, handed on in parts: each environment as soon as it and those before it have ended. */
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
  const run = chooseTargets(request, 'apply');
  const { targets } = run;
  await checkPolicy(run.judged, request);
  const judged = judgeTargets(run, request);
  const problem = whyNotApplied(judged);
  if (problem !== null) throw problem;
  const planning = planningFor(request, () => preparedOf(judged));
  const approved = await approvedParts(request.approved, judged, request.resolved);
  const limit = new FailureLimit(maxFailuresOf(request), targets.length);
  const parallel = parallelWrites(request, request.confirm !== undefined);
  const applyOne = (target: Target): Promise<EnvironmentOutcome> => {
    const prepared = judged.prepare(target);
    const part = approved.get(target.name) ?? null;
    return limit.start(
      request.signal,
      () => applyTarget(prepared, request, planning, part),
      (why) => failedOutcome(prepared, why),
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
  const work = reportingEnd(targets.length, request, (target: Target) =>
    request.tracer.environment('apply', target.name, () => applyOne(target)),
  );
  await inOrder(targets, parallel, work, parts.environment);
  return { finished_at: new Date(clock.now()).toISOString() };
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
        actuators: writing(request, target.name, {
          settings: settingsActuator(open.connection, open.limits),
          sandboxes: sandboxActuator(open.connection),
          collections: collectionActuator(open.connection, open.limits),
        }),
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

/** What all requests that write go through: whether they may still be sent is asked, and each is told as a span. */
function writing(
  { beforeWrite, tracer }: Running<ApplyRequest>,
  target: string,
  { settings, sandboxes, collections }: ReconcileInput['actuators'],
): ReconcileInput['actuators'] {
  const write = async <A extends { readonly kind: string }>(
    what: Parameters<Tracer['write']>[0],
    send: () => Promise<A>,
  ): Promise<A | WriteFailure> => {
    const error = (await beforeWrite?.()) ?? null;
    if (error !== null) return { kind: 'not-applied', retry: false, reached: false, error };
    return tracer.write(what, target, send);
  };
  return {
    settings: {
      store: (fields) => write('write settings', () => settings.store(fields)),
      activate: (...of) => write('write settings', () => settings.activate(...of)),
    },
    sandboxes: {
      start: (spec) => write('start sandbox', () => sandboxes.start(spec)),
      resume: (id) => write('resume sandbox', () => sandboxes.resume(id)),
      pause: (id) => write('pause sandbox', () => sandboxes.pause(id)),
    },
    collections: {
      send: (name, ...of) => write(`write ${name}`, () => collections.send(name, ...of)),
    },
  };
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

function maxFailuresOf({ maxFailures, keepGoing }: ApplyRequest): number | string {
  if (keepGoing !== true) return maxFailures ?? 0;
  if (maxFailures === undefined) return '100%';
  throw usageError(
    '--keep-going and --max-failures exclude each other.',
    '--keep-going is the same as --max-failures 100%.',
  );
}
