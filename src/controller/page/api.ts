import type { EnvironmentWatched, WatchedDocument } from '../../reconciler/model/documents.gen.ts';
import { FORMAT_VERSION } from '../../reconciler/model/plan.ts';
import { TOOL } from '../../reconciler/model/version.ts';
import type { Condition, JournalRecord, WatchState } from '../../reconciler/model/watch.ts';
import { isFlapping } from '../watch/flapping.ts';
import { whatDiffers, whyNotHealed } from '../watch/healing.ts';
import type { Watching } from '../watch/watching.ts';
import { countStateChanges } from './listing.ts';

/** A document of some environments. Without a controller it is of a data folder. */
export function createWatchedDocument(
  watching: Pick<Watching, 'health' | 'conditions'> | null,
  environments: readonly EnvironmentWatched[],
  now: number,
): WatchedDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'watched',
    tool: TOOL,
    created_at: new Date(now).toISOString(),
    controller: watching === null ? null : controllerReport(watching),
    environments,
  };
}

function controllerReport({
  health,
  conditions,
}: Pick<Watching, 'health' | 'conditions'>): WatchedDocument['controller'] {
  return {
    started_at: new Date(health.startedAt).toISOString(),
    turned_at: new Date(health.turnedAt).toISOString(),
    ready: health.ready,
    queued: health.queued,
    late: health.late,
    hanging: health.hanging,
    commit: health.commit,
    files_problem: health.filesProblem,
    problems: conditions.list(),
    shard: health.shard,
  };
}

/** An environment in short. `problems` are those of the controller. */
export function createWatchedReport(
  state: WatchState,
  problems: readonly Condition[],
  now: number,
): EnvironmentWatched {
  const { name, labels, origin, dialect, release, settings, plan, stopped, healFailed } = state;
  return {
    name,
    labels,
    origin,
    dialect,
    release,
    mode: settings.mode,
    interval_seconds: settings.interval === null ? null : settings.interval / 1000,
    status: state.status,
    found: state.found,
    since: state.since,
    what: whatDiffers(state),
    not_healed: whyNotHealed(state, problems, now),
    after: state.after,
    digest: state.digest,
    changes: countStateChanges(state),
    unknown: plan?.unknown.length ?? 0,
    refusals: plan?.refusals.length ?? 0,
    error: plan?.error ?? null,
    last_read: state.lastRead,
    last_in_sync: state.lastInSync,
    last_apply: state.lastApply,
    next_read: state.nextRead,
    failures: state.failures,
    suspended: state.suspended,
    healing_stopped:
      stopped === null
        ? null
        : {
            at: stopped.at,
            path: stopped.path,
            reason: stopped.reason,
            cause: stopped.cause ?? 'other-writer',
          },
    healing_failed:
      healFailed === null
        ? null
        : {
            since: healFailed.at,
            times: healFailed.count,
            refused: healFailed.isRefused,
            code: healFailed.code,
            message: healFailed.message,
          },
    held_by: state.heldBy,
    flapping: isFlapping(state, now),
    commit: state.commit,
  };
}

/** An environment with all that is known of it, from its short report. */
export function wholeReport(
  report: EnvironmentWatched,
  state: WatchState,
  history: readonly JournalRecord[],
): EnvironmentWatched {
  return {
    ...report,
    plan: state.plan,
    reads: [...state.reads],
    heals: state.heals.map(({ at, paths }) => ({ at, paths })),
    history,
  };
}

/** An environment as a data folder remembers it: how it is watched is in the settings files. */
export function createRememberedReport(state: WatchState, now: number): EnvironmentWatched {
  const { stopped, suspended, healFailed } = state;
  const isHeld = stopped !== null || suspended !== null || healFailed !== null;
  // Its controller knows the other reasons.
  const not = isHeld || state.found === 'refused' ? whyNotHealed(healing(state), [], now) : null;
  return {
    ...createWatchedReport(state, [], now),
    mode: null,
    interval_seconds: null,
    not_healed: not,
  };
}

function healing(state: WatchState): WatchState {
  return { ...state, settings: { ...state.settings, mode: 'heal', removes: true } };
}
