import { FORMAT_VERSION, type EnvironmentPlan, type Tool } from '../../reconciler/model/plan.ts';
import type { Condition } from '../../reconciler/model/condition.ts';
import { TOOL } from '../../reconciler/model/version.ts';
import type { JournalRecord, ReadMark, WatchState } from '../../reconciler/model/watch.ts';
import type { Watching } from '../watch/watching.ts';
import { changesIn } from './listing.ts';

/** What /api/environments answers: schemas/watched.schema.json is its schema. Times are ISO 8601, UTC. */
interface WatchedDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'watched';
  readonly tool: Tool;
  readonly created_at: string;
  readonly controller: {
    readonly started_at: string;
    readonly turned_at: string;
    readonly ready: boolean;
    readonly queued: number;
    readonly commit: string | null;
    readonly files_problem: string | null;
    readonly problems: readonly Condition[];
    readonly shard: Watching['health']['shard'];
  };
  readonly environments: readonly object[];
}

export function watchedDocument(
  { health, conditions }: Watching,
  environments: readonly object[],
  now: number,
): WatchedDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'watched',
    tool: TOOL,
    created_at: new Date(now).toISOString(),
    controller: {
      started_at: new Date(health.startedAt).toISOString(),
      turned_at: new Date(health.turnedAt).toISOString(),
      ready: health.ready,
      queued: health.queued,
      commit: health.commit,
      files_problem: health.filesProblem,
      problems: conditions.list(),
      shard: health.shard,
    },
    environments,
  };
}

/** An environment in short. */
export function watchedReport(state: WatchState): object {
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
    after: state.after,
    digest: state.digest,
    changes: changesIn(state),
    unknown: plan?.unknown.length ?? 0,
    refusals: plan?.refusals.length ?? 0,
    error: plan?.error ?? null,
    last_read: state.lastRead,
    last_in_sync: state.lastInSync,
    last_apply: state.lastApply,
    next_read: state.nextRead,
    failures: state.failures,
    suspended: state.suspended,
    healing_stopped: stopped,
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
    commit: state.commit,
  };
}

/** The same with all that is known of it. */
export function wholeReport(state: WatchState, history: readonly JournalRecord[]): object {
  const whole: {
    readonly plan: EnvironmentPlan | null;
    readonly reads: readonly ReadMark[];
    readonly heals: WatchState['heals'];
    readonly history: readonly JournalRecord[];
  } = {
    plan: state.plan,
    reads: [...state.reads],
    heals: state.heals.map(({ at, paths }) => ({ at, paths })),
    history,
  };
  return { ...watchedReport(state), ...whole };
}
