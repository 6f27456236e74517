import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { EnvironmentOutcome } from '../model/outcome.ts';
import { formatPath } from '../model/path.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Clock } from '../model/ports.ts';
import type { JournalEvent, JournalRecord } from '../model/watch.ts';
import type { Target } from '../desired/target.ts';
import type { PlanRequest } from '../operations/options.ts';
import { approvalOf, applyLoaded, planLoaded, type Sharing } from '../operations/session.ts';
import { digestOf, type Environment } from './environment.ts';
import { competing, mayHeal } from './healing.ts';
import type { Lock } from './locks.ts';

/** What the turn of an environment works with. */
export interface TurnTools {
  readonly request: PlanRequest;
  readonly networks: Sharing['networks'];
  readonly clock: Clock;
  /** The plan that healing must not go beyond. */
  readonly approved: PlanDocument | undefined;
  /** Aborts when the controller stops: a write in flight is finished. */
  readonly signal: AbortSignal;
  /** Aborts when the controller must not even wait for a write in flight. */
  readonly abandon: AbortSignal;
  /** Keeps an event; resolves once it is on the disk. Throws if it cannot be. */
  readonly keep: (environment: Environment, event: JournalEvent) => Promise<JournalRecord>;
}

/** An environment as the files declare it, and what they declared when it was last in sync, if that is something else. */
export interface Declared {
  readonly target: Target;
  readonly earlier: Target | undefined;
  readonly commit: string | null;
}

/** The shortest time between two reads that count as two, in milliseconds. */
export const APART = 5_000;

/** Reads an environment as it is now. Errors are in the plan. */
export async function readEnvironment(
  { target, earlier }: Declared,
  { request, networks, signal }: TurnTools,
): Promise<EnvironmentPlan> {
  return planLoaded(target, { ...request, digests: false, signal }, { networks, earlier });
}

/** What became of an environment that may be healed. `again`: it should be read again soon. */
export type Healed =
  | { readonly kind: 'not-healed'; readonly reason: string; readonly again: boolean }
  | { readonly kind: 'healed'; readonly outcome: EnvironmentOutcome };

/** Heals what the last read found, if that may be done now. `repeated` is whether the read before had found the same. */
export async function heal(
  environment: Environment,
  declared: Declared,
  lock: Lock,
  repeated: boolean,
  tools: TurnTools,
): Promise<Healed> {
  const now = tools.clock.now();
  const not = mayHeal(environment, repeated, now);
  if (not !== null) return { kind: 'not-healed', ...not };
  const other = competing(environment, now);
  if (other !== null) {
    environment.stopped = { at: new Date(now).toISOString(), ...other };
    await tools.keep(environment, {
      kind: 'healing-stopped',
      environment: environment.name,
      ...other,
    });
    return { kind: 'not-healed', reason: other.reason, again: false };
  }
  const outcome = await write(environment, declared, lock, environment.digest, tools);
  return { kind: 'healed', outcome };
}

/**
 * Applies what the file declares, if the plan right before the write is the one of this digest, and the lock is still held. It is kept that
 * a write begins before it does, and how it ended.
 */
export async function write(
  environment: Environment,
  declared: Declared,
  lock: Lock,
  digest: string,
  tools: TurnTools,
): Promise<EnvironmentOutcome> {
  const { name } = environment;
  const { commit } = declared;
  const { request, networks, clock, approved } = tools;
  let planned: EnvironmentPlan | null = null;
  let begun = false;
  let problem: SetpointError | null = null;
  const begin = async (): Promise<boolean> => {
    if (planned === null || digestOf(planned) !== digest) return false;
    if (environment.suspended !== null) return false;
    const paths = planned.changes.map(({ path }) => formatPath(path));
    try {
      await tools.keep(environment, { kind: 'writing', environment: name, paths, commit });
    } catch (thrown) {
      problem = asSetpointError(thrown);
      return false;
    }
    environment.wrote(paths, clock.now());
    begun = true;
    return lock.stillHeld();
  };
  const outcome = await applyLoaded(
    declared.target,
    {
      ...request,
      approved: approvalOf(approved, name),
      onPlan: async (plan) => {
        planned = plan;
      },
      confirm: begin,
      signal: AbortSignal.any([tools.signal, lock.lost]),
      abandon: AbortSignal.any([tools.abandon, lock.lost]),
    },
    { networks, earlier: declared.earlier },
  );
  if (begun) {
    await tools.keep(environment, {
      kind: 'write',
      environment: name,
      by: 'watch',
      commit,
      actor: null,
      url: null,
      outcome,
    });
  }
  if (problem !== null) throw problem;
  return outcome;
}
