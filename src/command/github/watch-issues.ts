import type { PlanDocument } from '../../reconciler/model/plan.ts';
import { FORMAT_VERSION, type EnvironmentPlan } from '../../reconciler/model/plan.ts';
import { planSummary } from '../../reconciler/model/summary.ts';
import { visible } from '../../reconciler/render/text.ts';
import { TOOL } from '../../reconciler/model/version.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import type { GitHub } from './client.ts';
import { writeDriftIssues } from './drift-issue.ts';

/** States that there is no drift any more, and in which words. */
export interface IssueEnd {
  readonly state: WatchState;
  /** The words that follow the name of the environment. */
  readonly words: string;
}

/**
 * Keeps the issues about drift as a controller sees it, in the form in which `drift` in a pipeline keeps them: one that is open for each of
 * `open`, none for each of `closed`. `at` is in milliseconds since 1970.
 */
export async function keepWatchIssues(
  github: GitHub,
  open: readonly WatchState[],
  closed: readonly IssueEnd[],
  at: number,
): Promise<void> {
  const drifted = new Set(open.map(({ name }) => name));
  const ends = new Map(closed.map((end) => [end.state.name, end]));
  const environments = [...open, ...closed.map(({ state }) => state)].map(createIssuePlan);
  const document: PlanDocument = {
    format_version: FORMAT_VERSION,
    kind: 'plan',
    tool: TOOL,
    created_at: new Date(at).toISOString(),
    shard: null,
    salt: null,
    environments,
    run: { actor: null, commit: open[0]?.commit ?? closed[0]?.state.commit ?? null, url: null },
    summary: planSummary(environments),
  };
  await writeDriftIssues(
    github,
    document,
    ({ name }) => drifted.has(name),
    ({ name }, time) => {
      const end = ends.get(name);
      const isInSync = end === undefined || end.state.found === 'in-sync';
      return isInSync ? `Back in sync at ${time}.` : `At ${time}: ${visible(name)} ${end.words}.`;
    },
  );
}

/** Returns the plan to show. A resolved environment has nothing to show. */
function createIssuePlan({ name, plan, origin, release }: WatchState): EnvironmentPlan {
  if (plan !== null && plan.error === null) return plan;
  return {
    name,
    origin,
    dialect: null,
    release,
    observed_at: null,
    status: 'in-sync',
    complete: true,
    changes: [],
    unknown: [],
    warnings: [],
    refusals: [],
    unmanaged: [],
    digests: null,
    error: null,
  };
}
