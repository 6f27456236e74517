import { SetpointError } from '../model/error.ts';
import type { Rule } from '../model/guard.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { Target } from '../desired/target.ts';
import { runInfo } from '../host/run-info.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { planDocument } from '../plan/plan-document.ts';
import { planSettings } from '../plan/plan-settings.ts';
import type { Rotation } from '../plan/plan-secrets.ts';
import { planOfSandboxes } from '../reconcile/look-at-sandboxes.ts';
import { settingsObserver } from '../service/settings.ts';
import { allowedRules } from './allowed-rules.ts';
import { classifierFor } from './base.ts';
import { addressDigest, digestsFor } from './digests.ts';
import { failedEnvironment, plannedEnvironment } from './environment-plan.ts';
import { fingerprintsOf } from './fingerprints.ts';
import { lookAt, originOf } from './look-at.ts';
import { SIDE_BY_SIDE, type PlanRequest } from './options.ts';
import { checkPolicy } from './policy.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { parseRotation } from './parse-rotation.ts';
import { selectTargets } from './select.ts';
import { sandboxObserverOf } from './sandbox-observer.ts';
import { sideBySide } from '../reconcile/side-by-side.ts';

/**
 * Looks at every target and plans, reading only. A target that cannot be looked at has status `error` in the document.
 * Throws a SetpointError where nothing could be looked at because the files, names or flags are not right.
 */
export function plan(request: PlanRequest): Promise<PlanDocument> {
  return redacting(request, planned);
}

async function planned(request: Running<PlanRequest>): Promise<PlanDocument> {
  const { clock = SYSTEM_CLOCK, env, snapshot } = request;
  const at = clock.now();
  const targets = selectTargets(request);
  await checkPolicy(targets, request);
  if (snapshot === undefined && request.maxAge !== undefined) {
    throw new SetpointError('usage', '--max-age is for a saved snapshot.', {
      hint: 'Name one with --snapshot, or leave --max-age out.',
    });
  }
  const digests = request.digests === false ? null : await digestsFor();
  const made = { at, run: runInfo(env), salt: digests?.salt ?? null };
  if (snapshot === undefined)
    return planDocument(await planTargets(targets, request, digests), made);
  const { planAgainstSnapshot } = await import('./plan-against-snapshot.ts');
  return planDocument(await planAgainstSnapshot(targets, snapshot, request, digests), made);
}

function planTargets(
  targets: readonly Target[],
  request: Running<PlanRequest>,
  digests: Digests | null,
): Promise<readonly EnvironmentPlan[]> {
  const prepared = prepareTargets(targets, request);
  const rotation = parseRotation(
    request.rotate,
    prepared.map(({ desired }) => desired),
  );
  const classifier = classifierFor(request, prepared);
  const allowed = allowedRules(request);
  return sideBySide(prepared, request.parallel ?? SIDE_BY_SIDE, (target) =>
    planTarget(target, request, { rotation, classifier, allowed, digests }),
  );
}

interface Approach {
  readonly rotation: Rotation;
  readonly classifier: ReturnType<typeof classifierFor>;
  readonly allowed: readonly Rule[];
  readonly digests: Digests | null;
}

async function planTarget(
  prepared: Prepared,
  request: PlanRequest,
  { rotation, classifier, allowed, digests }: Approach,
): Promise<EnvironmentPlan> {
  const { target, desired, warnings } = prepared;
  const where = { name: target.name, origin: originOf(prepared), observed_at: null };
  const sealing =
    digests === null ? null : { digests, address: await addressDigest(prepared, digests) };
  return lookAt<EnvironmentPlan>(prepared, request, {
    open: async (target) => {
      const { signal } = request;
      const observed = await settingsObserver(target.connection, target.limits).observe(signal);
      const planning = { rotation, fingerprints: await fingerprintsOf(prepared, request) };
      const whole = classifier(prepared, planning)(
        {
          settings: planSettings(desired, observed, planning),
          sandboxes: await planOfSandboxes(sandboxObserverOf(target), desired.sandboxes, signal),
        },
        observed,
      );
      const terms = { warnings, allowed, sealing };
      return plannedEnvironment(whole, observed, desired, where, terms);
    },
    failed: (error) => failedEnvironment(where, error, warnings),
  });
}
