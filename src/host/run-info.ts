import type { Run } from '../model/plan.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Who ran this, on which commit, and where it can be read up, as the pipeline's variables say. */
export function runInfo(env: Env): Run {
  const github = env['GITHUB_ACTIONS'] === 'true';
  const url = github
    ? join(env['GITHUB_SERVER_URL'], env['GITHUB_REPOSITORY'], 'actions/runs', env['GITHUB_RUN_ID'])
    : env['CI_JOB_URL'];
  return {
    actor: env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? null,
    commit: env['GITHUB_SHA'] ?? env['CI_COMMIT_SHA'] ?? null,
    url: url ?? null,
  };
}

function join(...parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join('/');
}
