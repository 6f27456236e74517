import { usageError } from '../model/error.ts';
import type {
  EnvironmentOutcome,
  OutcomeDocument,
  OutcomeHead,
  OutcomeTail,
} from '../model/outcome.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { outcomeTally } from '../model/summary.ts';
import { TOOL } from '../model/version.ts';
import type { Target } from '../desired/target.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import type { Approved } from '../plan/approval.ts';
import { applyTarget, failedOutcome } from './apply-target.ts';
import { approvedParts } from './approved.ts';
import type { ApplyRequest } from './options.ts';
import { chooseTargets } from './select.ts';
import { eachTarget, FailureLimit, parallelWrites } from './parallel.ts';
import { planningFor } from './plan-target.ts';
import { checkPolicy } from './policy.ts';
import { judgeTargets, preparedOf, whyNotApplied } from './prepare.ts';
import { redactingParts, wholeDocument, type Parts, type Running } from './redacting.ts';

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
  if (request.policy !== undefined) await checkPolicy(run.judged, request.policy);
  const judged = judgeTargets(run, request);
  const problem = whyNotApplied(preparedOf(judged));
  if (problem !== null) throw problem;
  const planning = planningFor(request, () => preparedOf(judged));
  const approved =
    request.approved === undefined
      ? NONE
      : await approvedParts(request.approved, preparedOf(judged), request.resolved);
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
  await eachTarget('apply', { targets, parallel }, request, applyOne, parts.environment);
  return { finished_at: new Date(clock.now()).toISOString() };
}

const NONE: ReadonlyMap<string, Approved> = new Map();

function maxFailuresOf({ maxFailures, keepGoing }: ApplyRequest): number | string {
  if (keepGoing !== true) return maxFailures ?? 0;
  if (maxFailures === undefined) return '100%';
  throw usageError(
    '--keep-going and --max-failures exclude each other.',
    '--keep-going is the same as --max-failures 100%.',
  );
}
