import { SetpointError } from '../model/error.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { Target } from '../desired/target.ts';
import { runInfo } from '../host/run-info.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { failedEnvironment, planDocument } from '../plan/plan-document.ts';
import { inParallel } from '../reconcile/in-parallel.ts';
import { addressDigest, digestsFor } from './digests.ts';
import { observeTarget } from './open-target.ts';
import { PARALLEL_READS, type PlanRequest } from './options.ts';
import { planInput, plannedEnvironment, planningFor, type Planning } from './planning.ts';
import { checkPolicy } from './policy.ts';
import { prepareTargets, shownOrigin, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { selectTargets } from './select.ts';

/**
 * Plans every environment, reading only. One that cannot be observed has status `error` in the document. Throws a SetpointError
 * if nothing could be observed because files, names or flags are wrong.
 */
export function plan(request: PlanRequest): Promise<PlanDocument> {
  return redacting(request, planAll);
}

/** A plan whose changes are read as drift: differences that somebody made behind the file's back, or edits not applied yet. */
export async function drift(
  options: Omit<PlanRequest, 'snapshot' | 'rotate' | 'allow'>,
): Promise<PlanDocument> {
  return plan(options);
}

async function planAll(request: Running<PlanRequest>): Promise<PlanDocument> {
  const { clock = SYSTEM_CLOCK, env, snapshot } = request;
  const at = clock.now();
  const targets = selectTargets(request);
  await checkPolicy(targets, request);
  if (snapshot === undefined && request.maxAge !== undefined) {
    throw new SetpointError('usage', '--max-age is for a snapshot.', {
      hint: 'Name one with --snapshot, or leave --max-age out.',
    });
  }
  if (snapshot !== undefined && request.waitReady !== undefined) {
    throw new SetpointError(
      'usage',
      '--wait-ready is for a service, and a snapshot takes its place.',
      {
        hint: 'Leave --wait-ready or --snapshot out.',
      },
    );
  }
  const digests = request.digests === false ? null : await digestsFor();
  const environments =
    snapshot === undefined
      ? await planServices(targets, request, digests)
      : await (await import('./snapshot.ts')).planSnapshot(targets, snapshot, request, digests);
  return planDocument(environments, { at, run: runInfo(env), salt: digests?.salt ?? null });
}

function planServices(
  targets: readonly Target[],
  request: Running<PlanRequest>,
  digests: Digests | null,
): Promise<readonly EnvironmentPlan[]> {
  const prepared = prepareTargets(targets, request);
  const planning = planningFor(request, prepared);
  return inParallel(prepared, request.parallel ?? PARALLEL_READS, (one) =>
    planService(one, request, planning, digests),
  );
}

async function planService(
  prepared: Prepared,
  request: Running<PlanRequest>,
  planning: Planning,
  digests: Digests | null,
): Promise<EnvironmentPlan> {
  const { target, warnings } = prepared;
  const about = { name: target.name, origin: shownOrigin(prepared), observed_at: null };
  const sealing =
    digests === null ? null : { digests, address: await addressDigest(prepared, digests) };
  return observeTarget<EnvironmentPlan>(prepared, request, {
    open: async (open) => {
      const input = await planInput(prepared, open, request, planning);
      return plannedEnvironment(input, about, warnings, sealing);
    },
    failed: (error) => failedEnvironment(about, error, warnings),
  });
}
