import { notice, warning } from '@actions/core';
import { accessFrom } from '../github/access.ts';
import { gitHub } from '../github/client.ts';
import { writeDriftIssues } from '../github/drift-issue.ts';
import type { PullRequest } from '../github/pull-request.ts';
import { writeComments, type StickyComment } from '../github/sticky-comment.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { PlanDocument } from '../model/plan.ts';
import { hasDrifted } from './has-drifted.ts';
import type { Variables } from './variables.ts';

/**
 * Comments on the pull request. It is what people read, but not what the step is for: where it cannot be done the plan is in
 * the summary, and the step ends as it would have. A token that only reads is a notice, anything else a warning.
 */
export async function comment(
  comments: readonly StickyComment[],
  pull: PullRequest,
  token: string,
  env: Variables,
): Promise<void> {
  try {
    await writeComments(gitHub(accessFrom(env, token), SYSTEM_CLOCK), pull.number, comments);
  } catch (thrown) {
    const error = asSetpointError(thrown);
    const refused = error.code === 'unauthorized';
    const say = refused || token === '' ? notice : warning;
    const why =
      refused && pull.fork
        ? 'This pull request comes from a fork, whose token only reads.'
        : error.hint;
    say(`${error.message} ${why} What it would have said is in the summary of this job.`, {
      title: 'No comment was written',
    });
  }
}

/** Keeps the issues about drift; what kept it from that, because an issue is how anybody hears of drift. */
export async function keepIssues(
  document: PlanDocument,
  token: string,
  env: Variables,
): Promise<SetpointError | null> {
  try {
    await writeDriftIssues(gitHub(accessFrom(env, token), SYSTEM_CLOCK), document, hasDrifted);
    return null;
  } catch (thrown) {
    return asSetpointError(thrown);
  }
}
