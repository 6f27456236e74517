import { relative } from 'node:path';
import { notice, warning, error as errorLine } from '@actions/core';
import { gitHub } from '../github/client.ts';
import { writeDriftIssues } from '../github/drift-issue.ts';
import { contentDigest } from '../github/marker.ts';
import { readJobAccess, type PullRequest } from '../github/job.ts';
import { writeComments, type StickyComment } from '../github/sticky-comment.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import { asSetpointError, type SetpointError, usageError } from '../../reconciler/model/error.ts';
import type { Inputs } from './inputs.ts';
import { hasDrifted, type FoundDrift, inert, type StepResult } from './step-result.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import { createBranchesClient } from '../github/branches.ts';
import { PREFIX } from '../github/drift-branch.ts';
import { writeDriftPulls, type ReadEnvironment } from '../github/drift-pull.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import { pullEach, type PulledFileChange } from '../../reconciler/operations/pull-each.ts';
import type { Options } from '../../reconciler/operations/options.ts';
import { patchText, formatPulled } from '../../reconciler/render/pulled-text.ts';
import { PLAIN } from '../../reconciler/render/text.ts';
import { pathInRepository } from './workspace-paths.ts';

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

/**
 * The environments that were read, and what a pull would write for those that have drifted: what is not applied yet stays. The log
 * has the same, masked.
 */
export async function readForPulls(
  document: PlanDocument,
  options: Options,
): Promise<readonly ReadEnvironment[]> {
  const plans = document.environments.filter(({ status }) => status !== 'error');
  const drifted = plans.filter(hasDrifted);
  if (drifted.length === 0) return plans.map((plan) => ({ plan, pull: null }));
  const files = new Map<string, readonly PulledFileChange[]>();
  const pulled = await pullEach({
    ...options,
    onSelected: undefined,
    plans,
    pulled: new Map(drifted.map((plan) => [plan.name, listPendingPaths(plan)])),
    onFiles: (name, changes) => files.set(name, changes),
  });
  const patches = [...files.values()].flat().map(({ shown }) => patchText(shown, PLAIN));
  process.stdout.write(inert([formatPulled(pulled, PLAIN), ...patches].join('\n')));
  return pulled.plans.map((plan) => {
    const report = pulled.environments.find(({ name }) => name === plan.name);
    if (report === undefined) return { plan, pull: null };
    const edited = (files.get(plan.name) ?? []).map(({ path, before, text }) => ({
      path: pathInRepository(path),
      name: path,
      before: before ?? '',
      text,
    }));
    return { plan, pull: { report, files: edited } };
  });
}

function listPendingPaths({ changes }: EnvironmentPlan) {
  return changes.filter((change) => change.class === 'pending').map(({ path }) => path);
}

/** The pull requests that are open now, and the exit code: people rely on them, so it is an error if they cannot be opened. */
interface PublishedPulls {
  readonly numbers: readonly number[];
  readonly code: number;
}

/** Opens, updates and closes the pull requests about drift. */
export async function publishPulls(
  { drift, readForPulls: read }: StepResult,
  inputs: Inputs | null,
  pull: PullRequest | null,
  env: Variables,
): Promise<PublishedPulls> {
  const numbers: number[] = [];
  if (drift === null || read === null || inputs === null) return { numbers, code: 0 };
  if (pull !== null) {
    if (!drift.document.environments.some(hasDrifted)) return { numbers, code: 0 };
    const why = pull.fork ? ' It comes from a fork, whose token can only read.' : '';
    notice(
      `No drift pull request was opened: this run is for a pull request itself.${why} Runs on a schedule and on pushes to that branch open pull requests.`,
      { title: 'No pull request was opened' },
    );
    return { numbers, code: 0 };
  }
  try {
    const base = findRunBranch(env);
    const environments = await read();
    if (inputs['open-pull-request'] === 'dry-run') {
      notice('See the log for what they would write.', {
        title: 'Dry run: no pull request was opened',
      });
      return { numbers, code: 0 };
    }
    const access = readJobAccess(env, inputs['github-token'] ?? '');
    const github = gitHub(access, SYSTEM_CLOCK);
    const branches = createBranchesClient(access, SYSTEM_CLOCK);
    for await (const done of writeDriftPulls(
      github,
      branches,
      drift.document,
      base,
      environments,
    )) {
      if (done.number !== null) {
        numbers.push(done.number);
        process.stdout.write(inert(`Pull request #${done.number}: ${done.environment}\n`));
      }
      if (done.note === null) continue;
      const annotate = done.note.level === 'notice' ? notice : warning;
      annotate(done.note.text, { title: `Pull request for ${done.environment}` });
    }
    return { numbers, code: 0 };
  } catch (thrown) {
    const { message, hint, exitCode } = asSetpointError(thrown);
    errorLine(`${message} ${hint}`, {
      title: 'The pull requests about drift could not be updated',
    });
    return { numbers, code: exitCode };
  }
}

/** The branch that the run is on. One that a merge queue makes, and one of ours, are none to merge into. */
function findRunBranch(env: Variables): string {
  const branch = /^refs\/heads\/(.+)$/.exec(env['GITHUB_REF'] ?? '')?.[1];
  if (
    branch !== undefined &&
    ![PREFIX, 'gh-readonly-queue/'].some((made) => branch.startsWith(made))
  )
    return branch;
  throw usageError(
    'GITHUB_REF does not name a branch that pull requests can be merged into.',
    'Run drift with open-pull-request on a schedule, or on that branch.',
  );
}
