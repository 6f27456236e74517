import { readFileSync } from 'node:fs';
import { error as errorLine, setOutput, summary } from '@actions/core';
import { parseEventPullRequest, type PullRequest } from '../github/job.ts';
import { findTracer } from '../../reconciler/host/this-process.ts';
import {
  SetpointError,
  worstExitCode,
  type FailureDocument,
  asSetpointError,
  nextCommand,
} from '../../reconciler/model/error.ts';
import { perform } from './commands.ts';
import { readInputs, type Inputs, inInputs, problemsInInputs } from './inputs.ts';
import { publishComments, publishDrift, publishPulls } from './publish.ts';
import {
  inert,
  hasDrifted,
  type StepResult,
  type StepContext,
  createStepResult,
} from './step-result.ts';
import { createStepVariables } from './variables.ts';
import { failureComment } from '../github/comments-of.ts';
import { toReportedDiagnostic } from '../../reconciler/model/diagnostic.ts';
import { InvalidSettings } from '../../reconciler/operations/invalid-settings.ts';
import { diagnosticsText, errorText } from '../../reconciler/render/error-text.ts';
import { failureAnnotations } from '../../reconciler/render/github/annotations.ts';
import { failureMarkdown } from '../../reconciler/render/markdown/comments.ts';
import { PLAIN } from '../../reconciler/render/text.ts';
import { failureAtRoot } from './workspace-paths.ts';

type Signals = Pick<StepContext, 'signal' | 'abandon'>;

/** One step of a job: runs the command that the inputs name, and publishes its result. Returns whether it succeeded. */
export async function runStep(signals: Signals): Promise<boolean> {
  const pull = readPullRequest(process.env['GITHUB_EVENT_PATH']);
  const commit = pull?.headSha ?? process.env['GITHUB_SHA'] ?? null;
  let inputs: Inputs | null = null;
  let result: StepResult;
  try {
    inputs = readInputs();
    enter(inputs['working-directory']);
    const env = createStepVariables(process.env, inputs.secrets ?? null, pull?.headSha ?? null);
    const read = inputs;
    const performing = async () => perform(read, { env, commit, ...signals });
    const tracer = await findTracer();
    result = await tracer.command(inputs.command, process.env, performing, ({ code }) => code);
  } catch (thrown) {
    result = failureResult(thrown, inputs, commit);
  }
  process.stdout.write(inert(result.text));
  process.stdout.write(result.annotations);
  await summarize(result);
  const published = await publish(result, inputs, pull);
  const pulls = await publishPulls(result, inputs, pull, process.env);
  const code = worstExitCode([result.code, published, pulls.code]);
  const drifted = result.drift?.document.environments.some(hasDrifted) === true;
  setOutput('changes', result.changes);
  setOutput('unknown', result.unknown);
  setOutput('exit_code', code);
  setOutput('plan_path', result.planPath ?? '');
  setOutput('drift', drifted);
  setOutput('pull_requests', pulls.numbers.join(','));
  if ((drifted || code === 2) && inputs?.['fail-on-drift'] === true) {
    const what = drifted ? 'Drift found.' : 'Some values could not be compared.';
    errorLine(what, { title: 'setpoint' });
  }
  return code === 0 || (code === 2 && inputs?.['fail-on-drift'] === false);
}

/** On the pull request or in issues. Returns the exit code of what should have been published and could not be. */
async function publish(
  result: StepResult,
  inputs: Inputs | null,
  pull: PullRequest | null,
): Promise<number> {
  if (inputs?.comment !== true) return 0;
  if (result.drift !== null) {
    const problem = await publishDrift(result.drift, inputs, process.env);
    if (problem === null) return 0;
    errorLine(`${problem.message} ${problem.hint}`, {
      title: 'The drift issues could not be updated',
    });
    return problem.exitCode;
  }
  if (pull !== null) await publishComments(result.comments, pull, inputs, process.env);
  return 0;
}

async function summarize({ summary: markdown }: StepResult): Promise<void> {
  if ((process.env['GITHUB_STEP_SUMMARY'] ?? '') === '') return;
  await summary.addRaw(markdown).write();
}

function enter(folder: string | undefined): void {
  if (folder === undefined) return;
  try {
    process.chdir(folder);
  } catch (thrown) {
    throw new SetpointError('usage', 'The working directory is not a folder.', {
      hint: 'Name a folder of the checkout, by its path from the root of the repository.',
      cause: thrown,
    });
  }
}

function readPullRequest(path: string | undefined): PullRequest | null {
  try {
    return parseEventPullRequest(readFileSync(path ?? '', 'utf8'));
  } catch {
    return null;
  }
}

/** The result of a command that could not begin. That of a plan is also a comment: the other comments are outdated then. */
function failureResult(
  thrown: unknown,
  inputs: Inputs | null,
  commit: StepContext['commit'],
): StepResult {
  const error = inWordsOfInputs(asSetpointError(thrown));
  const document = failureDocument(error);
  const planning = inputs?.command === 'plan';
  return createStepResult({
    code: error.exitCode,
    text: `${formatDiagnosticLines(error)}${errorText(error, PLAIN)}`,
    annotations: failureAnnotations(failureAtRoot(document)),
    summary: failureMarkdown(document),
    comments: planning ? [failureComment(document, inputs.environments ?? [], commit)] : [],
  });
}

/** An error of an operation names flags; a step has inputs. */
function inWordsOfInputs(error: SetpointError): SetpointError {
  const { message, hint } = error;
  Object.assign(error, { message: inInputs(message), hint: inInputs(hint) });
  if (error instanceof InvalidSettings)
    Object.assign(error, { diagnostics: problemsInInputs(error.diagnostics) });
  return error;
}

function failureDocument(error: SetpointError): FailureDocument {
  const { code, message, hint } = error;
  const listed =
    error instanceof InvalidSettings
      ? { diagnostics: error.diagnostics.map(toReportedDiagnostic) }
      : {};
  return { error: { code, message, hint, ...nextCommand(code), ...listed } };
}

function formatDiagnosticLines(error: SetpointError): string {
  return error instanceof InvalidSettings ? `${diagnosticsText(error.diagnostics, PLAIN)}\n` : '';
}
