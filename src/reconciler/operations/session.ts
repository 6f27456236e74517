import type { EnvironmentOutcome } from '../model/outcome.ts';
import type { EnvironmentPlan } from '../model/plan.ts';
import { redactDocument } from '../model/redacted.ts';
import type { SharedValues } from '../model/redactor.ts';
import { readDeclaredOrigin } from '../desired/blocks/server.ts';
import type { Target } from '../desired/target.ts';
import type { Digests, SecretPath } from '../model/ports.ts';
import type { AgreementWith } from '../model/agreement.ts';
import { agreementAfter, declaredDigest, sinceAgreement } from '../plan/agreement.ts';
import { createFailedEnvironment } from '../plan/plan-environment.ts';
import { Networks, type OnExchange } from '../service/network.ts';
import { applyTarget } from './apply.ts';
import { matchApprovedParts } from './approved.ts';
import { addressDigest, digestsFor } from './digests.ts';
import { filesRead } from './load.ts';
import { parseRules } from './flag-values.ts';
import type { ApplyRequest, PlanRequest } from './options.ts';
import { planTarget, type Planning, type Remembering } from './plan-target.ts';
import { checkPolicy } from './policy.ts';
import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import { askSecrets, judgeTargets, whyNotApplied, type PreparedTarget } from './prepare.ts';
import { lookUpAll } from '../desired/lookup.ts';
import {
  running,
  createMaskingSource,
  withoutFiles,
  type Running,
  type SharedSecretSource,
  type Sharing,
} from './redacting.ts';
import { selectRun } from './select.ts';

/** The environments of a session, and the values of the references of all that its files declare. */
export interface LoadedSession {
  readonly targets: readonly Target[];
  /** The names of all that the files declare, also of what is not chosen, or of other shards. */
  readonly declared: ReadonlySet<string>;
  readonly values: SharedValues;
}

/** The options for reading the environments of a controller. */
export interface SessionRequest extends PlanRequest, Remembering {
  /**
   * Reports files whose disk does not answer before they are read: a reference to one has no value then. Default: they are read at once.
   */
  readonly unanswered?: ((paths: Iterable<string>) => Promise<ReadonlySet<string>>) | undefined;
  /** The values of secret commands, or of Secrets of a cluster. Default: each run asks secret commands for itself. */
  readonly sharedSecrets?: SharedSecretSource | undefined;
}

/**
 * Reads the files of a session and judges all environments of them: names, keys, policy. Throws a SetpointError if they cannot be used;
 * nothing is sent.
 */
export function loadSession(request: SessionRequest): Promise<LoadedSession> {
  return running(request, async (run) => {
    const selected = selectRun(run);
    if (run.policy !== undefined) await checkPolicy(selected.targets, run.policy);
    await judgeTargets(selected, await readingOnly(selected.declared, run));
    return {
      targets: selected.targets,
      declared: new Set(selected.declared.map(({ name }) => name)),
      values: run.resolved.shared,
    };
  });
}

/** The networks that the runs of a session share. `onExchange` receives every request to a service. */
export function sessionNetworks(onExchange?: OnExchange): Networks {
  return new Networks(onExchange);
}

/**
 * The shared state of the runs of a session. `agreement` is that of the file and the service where they were last the same, under the salt
 * of the digests; null if nothing is known.
 */
export interface SessionSharing extends Sharing {
  readonly agreement: AgreementWith | null;
  readonly digests: Digests;
}

/** A plan, and what file and service agree on after it; null if nothing was observed. */
export interface LoadedPlan {
  readonly plan: EnvironmentPlan;
  readonly agreed: (() => AgreementWith) | null;
  /** A digest of all that the file declares; null if nothing was observed. */
  readonly declared: (() => string) | null;
}

/**
 * Plans one environment that was loaded and checked before. Failures before planning are also in the plan, such as a secret store that does
 * not answer.
 */
export async function planLoaded(
  target: Target,
  request: SessionRequest,
  sharing: SessionSharing,
): Promise<LoadedPlan> {
  try {
    return await runPreparedTarget(target, request, sharing, (one, run) =>
      planSessionTarget(one, run, sharing),
    );
  } catch (thrown) {
    const about = { name: target.name, origin: readDeclaredOrigin(target), observed_at: null };
    const error = errorReport(asSetpointError(thrown));
    return { plan: createFailedEnvironment(about, error, []), agreed: null, declared: null };
  }
}

async function planSessionTarget(
  one: PreparedTarget,
  run: Running<SessionRequest>,
  sharing: SessionSharing,
): Promise<LoadedPlan> {
  const { agreement, digests } = sharing;
  const { name } = one.target;
  const address = await addressDigest(one, digests);
  let agreed: LoadedPlan['agreed'] = null;
  let declared: LoadedPlan['declared'] = null;
  const looking = { ...run, differences: true };
  const plan = await run.tracer.environment('plan', name, () =>
    planTarget(one, looking, planningAfter(sharing, run), null, (found) => {
      const compared = { ...found, desired: one.desired, address };
      agreed = () => ({ address, agreement: agreementAfter(compared, agreement, digests) });
      declared = () => declaredDigest(compared, digests);
    }),
  );
  return { plan: redactDocument(plan, run.resolved.of(name)), agreed, declared };
}

/** Applies one environment that was loaded and judged before, within a saved plan if there is one. */
export function applyLoaded(
  target: Target,
  request: SessionRequest & ApplyRequest,
  sharing: SessionSharing,
): Promise<EnvironmentOutcome> {
  return runPreparedTarget(target, request, sharing, async (one, run) => {
    const problem = whyNotApplied([one], request);
    if (problem !== null)
      throw new SetpointError(problem.code, problem.message.replaceAll('\n', ' '), problem);
    const approved =
      request.approved === undefined
        ? null
        : await matchApprovedParts(request.approved, [one], run.resolved);
    const part = approved?.get(target.name) ?? null;
    const outcome = await run.tracer.environment('apply', target.name, () =>
      applyTarget(one, run, planningAfter(sharing, run), part),
    );
    return redactDocument(outcome, run.resolved.of(target.name));
  });
}

/**
 * Resolves to a digest of what the references of a server come to, by which a key that was changed is noticed; null if none of them can change while this
 * process runs. It is of this process alone. Nothing is sent to the server.
 */
export function serverKeyDigest(
  target: Target,
  request: SessionRequest,
  sharing: Sharing,
): Promise<string | null> {
  return running(
    request,
    async (started) => {
      const run = await readingOnly([target], started);
      await askSecrets([], [target], run);
      const source = createMaskingSource([target.name], run);
      const { requested } = source;
      const read: unknown[] = [];
      const noted = <T>(found: T): T => {
        read.push(found);
        return found;
      };
      const noting = {
        ...source,
        file: (path: string) => noted(source.file(path)),
        secret: (one: SecretPath) => noted(source.secret?.(one)),
        ...(requested === undefined
          ? {}
          : {
              requested: (text: string) => {
                const found = requested(text);
                return found === null ? null : noted(found);
              },
            }),
      };
      lookUpAll(target.server, noting, undefined);
      ownDigests ??= digestsFor();
      return read.length === 0 ? null : (await ownDigests).quick(JSON.stringify(read));
    },
    sharing,
  );
}

/** Under a salt of this process. */
let ownDigests: Promise<Digests> | null = null;

/** Prepares a target for some work; its errors are masked. */
function runPreparedTarget<R extends SessionRequest, T>(
  target: Target,
  request: R,
  sharing: Sharing,
  work: (prepared: PreparedTarget, run: Running<R>) => Promise<T>,
): Promise<T> {
  return running(
    request,
    async (started) => {
      const alone = [target];
      const run = await readingOnly(alone, started);
      const judged = await judgeTargets({ targets: alone, judged: alone, declared: alone }, run);
      return work(judged.prepare(target), run);
    },
    sharing,
  );
}

/** Attributes changes by the last agreement, if that is with the service at the address that is declared now. */
function planningAfter({ agreement, digests }: SessionSharing, { allow }: PlanRequest): Planning {
  return {
    rotation: [],
    allowed: allow === undefined ? [] : parseRules(allow),
    baseOf: async ({ server }) =>
      agreement === null || server === undefined
        ? null
        : sinceAgreement(agreement, await addressDigest({ server }, digests), digests),
  };
}

/** Returns the same run without reading files of the targets on a disk that does not answer. */
async function readingOnly<R extends SessionRequest>(
  targets: readonly Target[],
  run: Running<R>,
): Promise<Running<R>> {
  const silent = await run.unanswered?.(filesRead(targets, run));
  return silent === undefined ? run : withoutFiles(run, silent);
}
