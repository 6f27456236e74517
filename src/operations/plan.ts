import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import { environmentPlan, planDocument } from '../plan/plan-document.ts';
import { planSettings } from '../plan/plan-settings.ts';
import { lookAt, originOf } from './look-at.ts';
import { NO_FINGERPRINTS } from './no-fingerprints.ts';
import type { Options } from './options.ts';
import { prepareTargets, type Prepared } from './prepare.ts';
import { parseRotation } from './parse-rotation.ts';
import { selectTargets } from './select.ts';
import { sideBySide } from './side-by-side.ts';

export interface PlanRequest extends Options {
  /** Secrets to plan a write for though nothing tells that they differ: paths, or 'all'. */
  readonly rotate?: 'all' | readonly string[] | undefined;
}

const SIDE_BY_SIDE = 8;

/**
 * Looks at every target and plans, reading only. A target that cannot be looked at has status `error` in the document.
 * Throws a SetpointError where nothing could be looked at because the files, names or flags are not right.
 */
export async function plan(request: PlanRequest): Promise<PlanDocument> {
  const prepared = prepareTargets(await selectTargets(request), request);
  return planDocument(
    await sideBySide(prepared, request.parallel ?? SIDE_BY_SIDE, (target) =>
      planTarget(target, request),
    ),
  );
}

async function planTarget(prepared: Prepared, request: PlanRequest): Promise<EnvironmentPlan> {
  const { target, desired, warnings } = prepared;
  const where = { name: target.name, origin: originOf(prepared) };
  const rotation = parseRotation(request.rotate, [desired]);
  return lookAt<EnvironmentPlan>(prepared, request, {
    seen: (observed) => {
      const settings = planSettings(desired, observed, { rotation, fingerprints: NO_FINGERPRINTS });
      const planned = environmentPlan(settings, { ...where, dialect: observed.dialect });
      return { ...planned, warnings: [...warnings, ...planned.warnings] };
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
