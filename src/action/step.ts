import { readFileSync } from 'node:fs';
import { error as errorLine, getInput, setOutput, summary } from '@actions/core';
import { pullRequestIn, type PullRequest } from '../github/pull-request.ts';
import { SetpointError } from '../model/error.ts';
import { worstExitCode } from '../model/exit-code.ts';
import { applyStep } from './commands/apply.ts';
import { driftStep } from './commands/drift.ts';
import { planStep } from './commands/plan.ts';
import { validateStep } from './commands/validate.ts';
import { failed } from './failed.ts';
import { hasDrifted } from './has-drifted.ts';
import { readInputs, type Inputs } from './inputs.ts';
import { inert } from './log.ts';
import type { Result, Setting } from './result.ts';
import { comment, keepIssues } from './speak.ts';
import { summaryOf } from './summary.ts';
import { variablesFor } from './variables.ts';

type Signals = Pick<Setting, 'signal' | 'abandon'>;

/** One step of a job: does what the inputs say, and says what came of it. Tells whether it went well. */
export async function step(signals: Signals): Promise<boolean> {
  const pull = pullRequestOf(process.env['GITHUB_EVENT_PATH']);
  const commit = pull?.headSha ?? process.env['GITHUB_SHA'] ?? null;
  let inputs: Inputs | null = null;
  let result: Result;
  try {
    inputs = readInputs();
    enter(getInput('working-directory'));
    const env = variablesFor(process.env, inputs.secrets, pull?.headSha ?? null);
    result = await perform(inputs, { env, commit, ...signals });
  } catch (thrown) {
    result = failed(thrown, inputs, commit);
  }
  process.stdout.write(inert(result.text));
  process.stdout.write(result.annotations);
  await summarize(result);
  const code = worstExitCode([result.code, await speak(result, inputs, pull)]);
  const drifted = result.drift?.environments.some(hasDrifted) === true;
  setOutput('changes', result.changes);
  setOutput('exit_code', code);
  setOutput('plan_path', result.planPath ?? '');
  setOutput('drift', drifted);
  const well = code === 0 || (code === 2 && inputs?.failOnDrift === false);
  if (drifted && inputs?.failOnDrift === true) errorLine('There is drift.', { title: 'setpoint' });
  return well;
}

function perform(inputs: Inputs, setting: Setting): Result | Promise<Result> {
  switch (inputs.command) {
    case 'validate':
      return validateStep(inputs, setting);
    case 'plan':
      return planStep(inputs, setting);
    case 'apply':
      return applyStep(inputs, setting);
    case 'drift':
      return driftStep(inputs, setting);
  }
}

/** On the pull request or in issues. The exit code of what could not be said and should have been. */
async function speak(
  result: Result,
  inputs: Inputs | null,
  pull: PullRequest | null,
): Promise<number> {
  if (inputs?.comment !== true) return 0;
  if (result.drift !== null) {
    const problem = await keepIssues(result.drift, inputs.token, process.env);
    if (problem === null) return 0;
    errorLine(`${problem.message} ${problem.hint}`, { title: 'The issues could not be kept' });
    return problem.exitCode;
  }
  if (pull !== null) await comment(result.comments, pull, inputs.token, process.env);
  return 0;
}

async function summarize({ sections }: Result): Promise<void> {
  if ((process.env['GITHUB_STEP_SUMMARY'] ?? '') === '') return;
  await summary.addRaw(summaryOf(sections)).write();
}

function enter(folder: string): void {
  if (folder === '') return;
  try {
    process.chdir(folder);
  } catch (thrown) {
    throw new SetpointError('usage', 'The working directory is no folder.', {
      hint: 'Name one that the checkout has, by its path from the root of the repository.',
      cause: thrown,
    });
  }
}

function pullRequestOf(path: string | undefined): PullRequest | null {
  try {
    return pullRequestIn(readFileSync(path ?? '', 'utf8'));
  } catch {
    return null;
  }
}
