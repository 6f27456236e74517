import { asSetpointError, SetpointError } from '../model/error.ts';
import type { EnvironmentOutcome, OutcomeDocument } from '../model/outcome.ts';
import {
  changesOf,
  FORMAT_VERSION,
  type EnvironmentPlan,
  type PlanDocument,
} from '../model/plan.ts';
import { redacted } from '../model/redacted.ts';
import { TOOL } from '../model/version.ts';
import { runInfo } from '../host/run-info.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import type { Rule } from '../model/guard.ts';
import { alreadyMade, notCovered, type Approved } from '../plan/approval.ts';
import { maskedChange } from '../plan/plan-document.ts';
import type { Rotation } from '../plan/plan-secrets.ts';
import { interruption } from '../reconcile/interruption.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import type { Reconciled, SandboxProgress } from '../reconcile/reconciled.ts';
import { settingsActuator, settingsObserver } from '../service/settings.ts';
import { sandboxActuator } from '../service/v1/sandboxes.ts';
import { allowedRules } from './allowed-rules.ts';
import { approvedParts } from './approved.ts';
import { classifierFor } from './base.ts';
import { chooseTargets, type WritingRequest } from './choose-targets.ts';
import { plannedEnvironment } from './environment-plan.ts';
import { errorReport } from './error-report.ts';
import { fingerprintsOf } from './fingerprints.ts';
import { originOf } from './look-at.ts';
import { withTarget } from './open-target.ts';
import { parseRotation } from './parse-rotation.ts';
import { DEFAULT_WAIT, type PlanRequest } from './options.ts';
import { checkPolicy } from './policy.ts';
import { prepareTargets, whyNotApplied, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { sandboxObserverOf } from './sandbox-observer.ts';
import { sideBySide } from '../reconcile/side-by-side.ts';

export interface ApplyRequest extends Omit<PlanRequest, 'snapshot' | 'digests'>, WritingRequest {
  /** A saved plan: nothing is done but what stands in it. Absent: whatever the plan is. */
  readonly approved?: PlanDocument | undefined;
  /** Go on with the next target where one did not end well. */
  readonly keepGoing?: boolean | undefined;
  /** Shown each plan that has changes, before guards and questions. */
  readonly onPlan?: ((plan: EnvironmentPlan) => Promise<void>) | undefined;
  /** Asked before each write, by the target's name; one at a time. Absent: every plan is approved. */
  readonly confirm?: ((target: string) => Promise<boolean>) | undefined;
  /** Told what the sandboxes that are waited for are at, by the target's name. */
  readonly onProgress?: ((target: string, waiting: readonly SandboxProgress[]) => void) | undefined;
  /** Gives up what is in flight; the outcome then says that its state is unknown. */
  readonly abandon?: AbortSignal | undefined;
}

/**
 * Reconciles each target once, one after another in the order given, and stops at the first that does not end well.
 * Every file, key and reference is checked before the first request to any target. The outcome says of every change what
 * became of it, on every end. Throws a SetpointError where nothing was begun.
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
  const rotation = parseRotation(
    request.rotate,
    prepared.map(({ desired }) => desired),
  );
  const allowed = allowedRules(request);
  const classifier = classifierFor(request, prepared);
  const approved = await approvedParts(request.approved, prepared, request.resolved);
  let stopped = false;
  // A person is asked one thing at a time.
  const parallel = request.confirm === undefined ? (request.parallel ?? 1) : 1;
  const outcomes = await sideBySide(prepared, parallel, async (target) => {
    if (stopped || interruption(request.signal) !== null) return notBegun(target, request);
    const part = approved.get(target) ?? null;
    const outcome = await applyTarget(target, request, { rotation, allowed, classifier, part });
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

/** How the targets of one apply are dealt with; `part` is what the saved plan says of this one, where there is such a plan. */
interface Approach {
  readonly rotation: Rotation;
  readonly allowed: readonly Rule[];
  readonly classifier: ReturnType<typeof classifierFor>;
  readonly part: Approved | null;
}

async function applyTarget(
  prepared: Prepared,
  request: Running<ApplyRequest>,
  { rotation, allowed, classifier, part }: Approach,
): Promise<EnvironmentOutcome> {
  const { target, desired, warnings } = prepared;
  const redact = <D>(document: D): D => redacted(document, request.resolved.of(target.name));
  const origin = originOf(prepared);
  const clock = request.clock ?? SYSTEM_CLOCK;
  try {
    const fingerprints = await fingerprintsOf(prepared, request);
    return await withTarget(prepared, request, async (open) => {
      const reconciled = await reconcile({
        desired,
        rotation,
        allowed,
        observer: settingsObserver(open.connection, open.limits),
        actuator: settingsActuator(open.connection, open.limits),
        sandboxes: {
          observer: sandboxObserverOf(open),
          actuator: sandboxActuator(open.connection),
        },
        wait: request.wait ?? DEFAULT_WAIT,
        progress: (waiting) => request.onProgress?.(target.name, redact(waiting)),
        clock,
        fingerprints,
        cover: (plan) => (part === null ? null : notCovered(plan, desired, part, redact)),
        classify: classifier(prepared, { rotation, fingerprints }),
        forget: (paths) => fingerprints.forget(paths),
        remember: (written) => fingerprints.remember(written, clock.now()),
        signal: request.signal,
        abandon: request.abandon,
        announce: async (plan, observed) => {
          const where = { name: target.name, origin, observed_at: null };
          const terms = { warnings, allowed, sealing: null };
          const shown = plannedEnvironment(plan, observed, desired, where, terms);
          await request.onPlan?.(redact(shown));
        },
        approve: () => open.aside(async () => (await request.confirm?.(target.name)) ?? true),
      });
      const outcome = outcomeOf(prepared, reconciled, allowed, { ...open.connection.requests });
      if (part === null || reconciled.dialect === null) return outcome;
      const made = alreadyMade(reconciled.plan, desired, part, redact);
      return { ...outcome, warnings: [...outcome.warnings, ...made] };
    });
  } catch (thrown) {
    return failed(prepared, asSetpointError(thrown));
  }
}

function outcomeOf(
  prepared: Prepared,
  reconciled: Reconciled,
  allowed: readonly Rule[],
  requests: EnvironmentOutcome['requests'],
): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: originOf(prepared),
    dialect: reconciled.dialect,
    status: reconciled.status,
    allowed,
    changes: changesOf(reconciled.plan).map((change) => ({
      ...maskedChange(change),
      result: reconciled.results.get(change) ?? 'not-sent',
      ...startedAs(reconciled.started.get(change)),
    })),
    remaining: reconciled.remaining,
    unknown: reconciled.unknown,
    warnings: [...prepared.warnings, ...reconciled.warnings],
    refusals: reconciled.refusals,
    requests,
    error: reconciled.error === null ? null : errorReport(reconciled.error),
  };
}

/** The id of a sandbox that was started; nothing for other changes. */
function startedAs(sandbox: string | undefined): { readonly sandbox?: string } {
  return sandbox === undefined ? {} : { sandbox };
}

function failed(prepared: Prepared, error: SetpointError): EnvironmentOutcome {
  return {
    name: prepared.target.name,
    origin: originOf(prepared),
    dialect: null,
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
    new SetpointError('skipped', 'Not begun: a target before it did not end well.');
  return failed(prepared, why);
}
