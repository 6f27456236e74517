import type { PlanDocument } from '../model/plan.ts';
import { FORMAT_VERSION, type EnvironmentPlan } from '../model/plan.ts';
import { planSummary } from '../model/summary.ts';
import { TOOL } from '../model/version.ts';
import type { WatchState } from '../model/watch.ts';
import type { GitHub } from './client.ts';
import { writeDriftIssues } from './drift-issue.ts';

/**
 * Keeps the issues about drift as a controller sees it, in the form in which `drift` in a pipeline keeps them: one that is open for each of
 * `open`, none for each of `closed`. `at` is in milliseconds since 1970.
 */
export async function keepWatchIssues(
  github: GitHub,
  open: readonly WatchState[],
  closed: readonly WatchState[],
  at: number,
): Promise<void> {
  const drifted = new Set(open.map(({ name }) => name));
  const environments = [...open, ...closed].map(planOf);
  const document: PlanDocument = {
    format_version: FORMAT_VERSION,
    kind: 'plan',
    tool: TOOL,
    created_at: new Date(at).toISOString(),
    shard: null,
    salt: null,
    environments,
    run: { actor: null, commit: open[0]?.commit ?? closed[0]?.commit ?? null, url: null },
    summary: planSummary(environments),
  };
  await writeDriftIssues(github, document, ({ name }) => drifted.has(name));
}

/** What is resolved has nothing to show. */
function planOf({ name, plan, origin, release }: WatchState): EnvironmentPlan {
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
