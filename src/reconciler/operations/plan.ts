import { errorReport, SetpointError, usageError } from '../model/error.ts';
import type { EnvironmentPlan, PlanDocument, PlanHead, PlanTail } from '../model/plan.ts';
import { planTally } from '../model/summary.ts';
import type { Digests } from '../model/ports.ts';
import type { Target } from '../desired/target.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { createFailedEnvironment, planHead } from '../plan/plan-environment.ts';
import { refusePullRequest, describeTarget, planningFor, planTarget } from './plan-target.ts';
import { digestsFor } from './digests.ts';
import type { DriftRequest, PlanRequest } from './options.ts';
import { eachTarget, FailureLimit, parallelReads } from './parallel.ts';
import { checkPolicy } from './policy.ts';
import { judgeTargets, prepareEachTarget, refuseSharedKeys } from './prepare.ts';
import { redactingParts, wholeDocument, type Parts, type Running } from './redacting.ts';
import { selectRun, type RunTargets } from './select.ts';

/**
 * Plans every environment, reading only. One that cannot be observed has status `error` in the document. Throws a SetpointError
 * if nothing could be observed because files, names or flags are wrong.
 */
export function plan(request: PlanRequest): Promise<PlanDocument> {
  return wholeDocument<PlanHead, EnvironmentPlan, PlanTail>((parts) => planInParts(request, parts));
}

/** A plan whose changes are read as drift: differences that another client made without the file, or edits not applied yet. */
export async function drift(options: DriftRequest): Promise<PlanDocument> {
  return plan({ ...options, differences: true });
}

/** Plans in parts, each environment as soon as it and those before it are planned. */
export function planInParts(
  request: PlanRequest,
  parts: Parts<PlanHead, EnvironmentPlan>,
): Promise<PlanTail> {
  return redactingParts(request, parts, planTally(request.strict), planAll);
}

async function planAll(
  request: Running<PlanRequest>,
  parts: Parts<PlanHead, EnvironmentPlan>,
): Promise<object> {
  const { clock = SYSTEM_CLOCK, snapshot } = request;
  const at = clock.now();
  if (request.check === true) refusePullRequest(request.env, '--check');
  const run = selectRun(request);
  const { targets } = run;
  if (request.policy !== undefined) await checkPolicy(run.judged, request.policy);
  if (snapshot === undefined && request.maxAge !== undefined) {
    throw new SetpointError('usage', '--max-age is for a snapshot.', {
      hint: 'Name one with --snapshot, or leave --max-age out.',
    });
  }
  if (snapshot !== undefined && request.check === true) throw notForSnapshot('--check');
  if (snapshot !== undefined && request.waitReady !== undefined)
    throw notForSnapshot('--wait-ready');
  if (snapshot !== undefined && request.maxFailures !== undefined)
    throw notForSnapshot('--max-failures');
  if (snapshot !== undefined) refuseSharedKeys(run.declared);
  const digests = request.digests === false ? null : await digestsFor();
  const planOne =
    snapshot === undefined
      ? await servicePlanner(run, request, digests)
      : await (await import('./snapshot.ts')).snapshotPlanner(targets, snapshot, request, digests);
  await parts.begin(
    planHead(at, {
      shard: request.shard ?? null,
      strict: request.strict === true ? true : undefined,
      salt: digests?.salt ?? null,
    }),
    targets.length,
  );
  const parallel = parallelReads(request, targets.length);
  await eachTarget('plan', { targets, parallel }, request, planOne, parts.environment);
  return {};
}

/** The environments of which a run lists what the file does not declare: each costs some requests more. */
const MOST_LISTING = 10;

/** A function that plans a target by what its service has. Where all keys travel is judged before. */
async function servicePlanner(
  run: RunTargets,
  request: Running<PlanRequest>,
  digests: Digests | null,
): Promise<(target: Target) => Promise<EnvironmentPlan>> {
  const judged = await judgeTargets(run, request);
  const planning = {
    ...(await planningFor(request, () => prepareEachTarget(judged))),
    listsUndeclared: run.targets.length <= MOST_LISTING,
  };
  const limit = new FailureLimit(request.maxFailures ?? '100%', run.targets.length);
  return (target) => {
    const prepared = judged.prepare(target);
    return limit.start(
      request.signal,
      () => planTarget(prepared, request, planning, digests),
      (why) =>
        createFailedEnvironment(describeTarget(prepared), errorReport(why), prepared.warnings),
    );
  };
}

function notForSnapshot(flag: string): SetpointError {
  return usageError(
    `${flag} is for a service, and a snapshot takes its place.`,
    `Leave ${flag} or --snapshot out.`,
  );
}
