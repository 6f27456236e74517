import type { Variables } from '../model/ports.ts';
import type { Run } from '../model/plan.ts';

/** The version of the Node that runs this. */
export const THIS_NODE = process.versions.node;

/** Who started this run, on which commit, and its address, from the variables of the pipeline. */
export function runInfo(env: Variables): Run {
  const github = env['GITHUB_ACTIONS'] === 'true';
  const url = github
    ? urlOf(
        env['GITHUB_SERVER_URL'],
        env['GITHUB_REPOSITORY'],
        'actions/runs',
        env['GITHUB_RUN_ID'],
      )
    : env['CI_JOB_URL'];
  return {
    actor: env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? null,
    commit: env['GITHUB_SHA'] ?? env['CI_COMMIT_SHA'] ?? null,
    url: url ?? null,
  };
}

function urlOf(...parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join('/');
}
