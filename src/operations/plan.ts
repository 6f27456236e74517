import type { EnvironmentPlan, PlanDocument, Warning } from '../model/plan.ts';
import { environmentPlan, planDocument } from '../plan/plan-document.ts';
import { guardPlan, guardWarnings, type Guarded } from '../plan/guard.ts';
import { planSettings } from '../plan/plan-settings.ts';
import type { Rotation } from '../plan/rotation.ts';
import { planOfSandboxes } from '../reconcile/look-at-sandboxes.ts';
import { settingsObserver } from '../service/observe.ts';
import { classifierFor } from './base.ts';
import { fingerprintsOf } from './fingerprints.ts';
import { lookAt, originOf } from './look-at.ts';
import { SIDE_BY_SIDE, type Options } from './options.ts';
import { checkPolicy } from './policy.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { parseRotation } from './parse-rotation.ts';
import { selectTargets } from './select.ts';
import { sandboxObserverOf } from './sandbox-observer.ts';
import { sideBySide } from '../reconcile/side-by-side.ts';

export interface PlanRequest extends Options {
  /** Secrets to plan a write for though nothing tells that they differ: paths, or 'all'. */
  readonly rotate?: 'all' | readonly string[] | undefined;
}

/**
 * Looks at every target and plans, reading only. A target that cannot be looked at has status `error` in the document.
 * Throws a SetpointError where nothing could be looked at because the files, names or flags are not right.
 */
export async function plan(request: PlanRequest): Promise<PlanDocument> {
  const targets = selectTargets(request);
  await checkPolicy(targets, request);
  const prepared = prepareTargets(targets, request);
  const rotation = parseRotation(
    request.rotate,
    prepared.map(({ desired }) => desired),
  );
  const classifier = classifierFor(request);
  return planDocument(
    await sideBySide(prepared, request.parallel ?? SIDE_BY_SIDE, (target) =>
      planTarget(target, request, rotation, classifier),
    ),
  );
}

function planTarget(
  prepared: Prepared,
  request: PlanRequest,
  rotation: Rotation,
  classifier: ReturnType<typeof classifierFor>,
): Promise<EnvironmentPlan> {
  const { target, desired, warnings } = prepared;
  const where = { name: target.name, origin: originOf(prepared) };
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
      const planned = environmentPlan(whole, { ...where, dialect: observed.dialect });
      return {
        ...planned,
        warnings: [
          ...warnings,
          ...planned.warnings,
          ...guarded({ plan: whole, observed, guards: desired.guards }),
        ],
      };
    },
    failed: (error) => ({
      ...where,
      dialect: null,
      status: 'error',
      complete: false,
      changes: [],
      unknown: [],
      warnings,
      unmanaged: [],
      error,
    }),
  });
}

/** What a guard would say of an apply; what would be lost is among the plan's own warnings. */
function guarded(plan: Guarded): Warning[] {
  const refused = guardPlan(plan, ['lose-unreadable']);
  return [
    ...refused.map(({ message, hint }): Warning => ({
      code: 'would-be-refused',
      message: `${message} ${hint}`,
      path: [],
    })),
    ...guardWarnings(plan),
  ];
}
