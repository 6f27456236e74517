import { relative } from 'node:path';
import { notice, warning } from '@actions/core';
import { gitHub } from '../github/client.ts';
import { writeDriftIssues } from '../github/drift-issue.ts';
import { contentDigest } from '../github/marker.ts';
import { readJobAccess, type PullRequest } from '../github/job.ts';
import { writeComments, type StickyComment } from '../github/sticky-comment.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Inputs } from './inputs.ts';
import { hasDrifted, type FoundDrift } from './report.ts';
import type { Variables } from '../../reconciler/model/ports.ts';

/**
 * Writes the comments on the pull request. The step is not there for them: if they cannot be written, the summary has the same,
 * and the step ends as it would have. A token that may only read is a notice, anything else a warning.
 */
export async function publishComments(
  comments: readonly StickyComment[],
  pull: PullRequest,
  { 'github-token': token = '' }: Inputs,
  env: Variables,
): Promise<void> {
  try {
    const client = gitHub(readJobAccess(env, token), SYSTEM_CLOCK);
    const done = await writeComments(client, pull, comments);
    if (done.includes('outdated'))
      notice('The pull request has a newer commit than this run. See the summary of this job.', {
        title: 'The comments were left unchanged',
      });
  } catch (thrown) {
    const error = asSetpointError(thrown);
    const refused = error.code === 'unauthorized';
    const annotate = refused || token === '' ? notice : warning;
    const why =
      refused && pull.fork
        ? 'This pull request comes from a fork, whose token can only read.'
        : error.hint;
    annotate(`${error.message} ${why} See the summary of this job instead.`, {
      title: 'No comment was written',
    });
  }
}

/**
 * Updates the issues about drift of the job and its settings files; those of other jobs are left to them. Returns the reason if it could
 * not: drift is only reported by the issue, so that fails the step.
 */
export async function publishDrift(
  { document, declared }: FoundDrift,
  { files = [], 'github-token': token = '' }: Inputs,
  env: Variables,
): Promise<SetpointError | null> {
  try {
    const [workflow = ''] = (env['GITHUB_WORKFLOW_REF'] ?? '').split('@');
    const folder = relative(env['GITHUB_WORKSPACE'] ?? '', process.cwd());
    const keeper = contentDigest([workflow, env['GITHUB_JOB'] ?? '', folder, files]);
    const keeping = workflow === '' ? null : { keeper, declared };
    const client = gitHub(readJobAccess(env, token), SYSTEM_CLOCK);
    await writeDriftIssues(client, document, hasDrifted, undefined, keeping);
    return null;
  } catch (thrown) {
    return asSetpointError(thrown);
  }
}
