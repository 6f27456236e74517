import type { EnvironmentOutcome } from '../model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Target } from '../desired/target.ts';
import { Networks } from '../service/networks.ts';
import { apply, type ApplyRequest } from './apply.ts';
import type { Options, PlanRequest, Session } from './options.ts';
import { plan } from './plan.ts';
import { checkPolicy } from './policy.ts';
import { judgeTargets } from './prepare.ts';
import { redacting } from './redacting.ts';
import { selectTargets } from './select.ts';

/**
 * Reads the files of a session and judges all environments of them: names, keys, policy. Throws a SetpointError if they cannot be used;
 * nothing is sent.
 */
export async function loadSession(request: Options): Promise<readonly Target[]> {
  let targets: readonly Target[] = [];
  await redacting(request, async (run) => {
    targets = selectTargets(run);
    await checkPolicy(targets, run);
    judgeTargets(targets, run);
    return {};
  });
  return targets;
}

/** The networks that the runs of a session share. */
export function sessionNetworks(): Networks {
  return new Networks();
}

/** What the runs of a session share. `earlier` is what the target declared when it was last in sync, if it declares something else now. */
export interface Sharing {
  readonly networks: Networks;
  readonly earlier?: Target | undefined;
}

/** Plans one environment that was loaded and judged before. */
export async function planLoaded(
  target: Target,
  request: PlanRequest,
  sharing: Sharing,
): Promise<EnvironmentPlan> {
  const { environments } = await plan({ ...request, ...ofOne(target, sharing) });
  return only(environments);
}

/** Applies one environment that was loaded and judged before. */
export async function applyLoaded(
  target: Target,
  request: ApplyRequest,
  sharing: Sharing,
): Promise<EnvironmentOutcome> {
  const { environments } = await apply({ ...request, ...ofOne(target, sharing) });
  return only(environments);
}

/** The part of a saved plan that is about one environment; undefined without a saved plan. */
export function approvalOf(
  approved: PlanDocument | undefined,
  name: string,
): PlanDocument | undefined {
  if (approved === undefined) return undefined;
  return { ...approved, environments: approved.environments.filter((one) => one.name === name) };
}

/** What was chosen is not chosen again, and the policy was checked when the files were loaded. */
function ofOne(target: Target, { networks, earlier }: Sharing): Partial<Options> {
  const session: Session = {
    loaded: { files: [], targets: [target], diagnostics: [] },
    base: earlier === undefined ? new Map() : new Map([[target.name, earlier]]),
    networks,
  };
  return { session, targets: undefined, selector: undefined, shard: undefined, policy: undefined };
}

function only<T>([one]: readonly T[]): T {
  if (one === undefined) throw new TypeError('a document of one environment has none');
  return one;
}
