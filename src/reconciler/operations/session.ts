import type { EnvironmentOutcome } from '../model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import { SharedValues } from '../model/redactor.ts';
import type { Target } from '../desired/target.ts';
import type { Digests } from '../model/ports.ts';
import { agreementAfter } from '../plan/agreement.ts';
import type { AgreementWith } from '../model/agreement.ts';
import { Networks, type OnExchange } from '../service/networks.ts';
import { apply, type ApplyRequest } from './apply.ts';
import { filesRead } from './files-read.ts';
import type { Options, PlanRequest, Session } from './options.ts';
import { plan } from './plan.ts';
import { checkPolicy } from './policy.ts';
import { judgeTargets } from './prepare.ts';
import { redacting, withoutFiles } from './redacting.ts';
import { selectRun } from './select.ts';

/** The environments of a session, and the values of the references of all that its files declare. */
export interface LoadedSession {
  readonly targets: readonly Target[];
  /** The names of all that the files declare, also of what is not chosen, or of other shards. */
  readonly declared: ReadonlySet<string>;
  readonly values: SharedValues;
}

/**
 * Reads the files of a session and judges all environments of them: names, keys, policy. Throws a SetpointError if they cannot be used;
 * nothing is sent.
 */
export async function loadSession(request: Options): Promise<LoadedSession> {
  let targets: readonly Target[] = [];
  let declared: ReadonlySet<string> = new Set();
  let values = new SharedValues();
  await redacting(request, async (run) => {
    const selected = selectRun(run);
    await checkPolicy(selected.targets, run);
    const silent = await silentOf(selected.declared, request);
    judgeTargets(selected, silent === undefined ? run : withoutFiles(run, silent));
    ({ targets } = selected);
    declared = new Set(selected.declared.map(({ name }) => name));
    values = run.resolved.shared;
    return {};
  });
  return { targets, declared, values };
}

/** The networks that the runs of a session share. `onExchange` is told of every request to a service. */
export function sessionNetworks(onExchange?: OnExchange): Networks {
  return new Networks(onExchange);
}

/**
 * What the runs of a session share. `agreement` is that of the file and the service where they were last the same, under the salt of the
 * digests; null if nothing is known.
 */
export interface Sharing {
  readonly networks: Networks;
  readonly values: SharedValues;
  readonly agreement: AgreementWith | null;
  readonly digests: Digests;
}

/** A plan, and what file and service agree on after it; null if nothing was observed. */
export interface LoadedPlan {
  readonly plan: EnvironmentPlan;
  readonly agreed: (() => AgreementWith) | null;
}

/** Plans one environment that was loaded and judged before. */
export async function planLoaded(
  target: Target,
  request: PlanRequest,
  sharing: Sharing,
): Promise<LoadedPlan> {
  let agreed: LoadedPlan['agreed'] = null;
  const onCompared: Session['onCompared'] = (compared) => {
    const { agreement, digests } = sharing;
    agreed = () => ({
      address: compared.address,
      agreement: agreementAfter(compared, agreement, digests),
    });
  };
  const silent = await silentOf([target], request);
  const { environments } = await plan({
    ...request,
    ...ofOne(target, sharing, silent, onCompared),
  });
  return { plan: only(environments), agreed };
}

/** Applies one environment that was loaded and judged before. */
export async function applyLoaded(
  target: Target,
  request: ApplyRequest,
  sharing: Sharing,
): Promise<EnvironmentOutcome> {
  const silent = await silentOf([target], request);
  const { environments } = await apply({ ...request, ...ofOne(target, sharing, silent) });
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
function ofOne(
  target: Target,
  { networks, values, agreement, digests }: Sharing,
  silent: ReadonlySet<string> | undefined,
  onCompared?: Session['onCompared'],
): Partial<Options> {
  const loaded = { files: [], targets: [target], diagnostics: [] };
  const session: Session = { loaded, networks, values, agreement, digests, silent, onCompared };
  return { session, targets: undefined, selector: undefined, shard: undefined, policy: undefined };
}

/** Files of targets whose disk does not answer; undefined if nobody is asked. */
async function silentOf(
  targets: readonly Target[],
  options: Options,
): Promise<ReadonlySet<string> | undefined> {
  return options.unanswered?.(filesRead(targets, options));
}

function only<T>([one]: readonly T[]): T {
  if (one === undefined) throw new TypeError('a document of one environment has none');
  return one;
}
