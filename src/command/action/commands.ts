import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStickyComments, failureComment } from '../github/comments-of.ts';
import { checkWritable, writeAside } from '../../reconciler/host/write-aside.ts';
import { ERRORS, computeErrorExitCode, worstExitCode } from '../../reconciler/model/error.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { apply } from '../../reconciler/operations/apply.ts';
import { get, listsFor } from '../../reconciler/operations/get.ts';
import type { Options, PlanRequest } from '../../reconciler/operations/options.ts';
import { drift, plan } from '../../reconciler/operations/plan.ts';
import { readSaved } from '../../reconciler/operations/saved-document.ts';
import { selectRun, selectTargets } from '../../reconciler/operations/select.ts';
import { checkTargets, validationDocument } from '../../reconciler/operations/validate.ts';
import { diagnosticsText } from '../../reconciler/render/error-text.ts';
import {
  driftAnnotations,
  outcomeAnnotations,
  planAnnotations,
  validationAnnotations,
} from '../../reconciler/render/github/annotations.ts';
import { renderJson } from '../../reconciler/render/json.ts';
import {
  driftMarkdown,
  outcomeMarkdown,
  planMarkdown,
  validationMarkdown,
} from '../../reconciler/render/markdown/comments.ts';
import { shardText } from '../../reconciler/render/shard-text.ts';
import {
  costsText,
  outcomeText,
  planText,
  previewText,
} from '../../reconciler/render/section-text.ts';
import { PLAIN } from '../../reconciler/render/text.ts';
import { hintsInInputs, problemsInInputs, type Inputs } from './inputs.ts';
import {
  createStepResult,
  errorLog,
  inert,
  LOG,
  LONGEST_SUMMARY,
  hasDrifted,
  type StepResult,
  type StepContext,
} from './step-result.ts';
import { readForPulls } from './publish.ts';
import { changesAtRoot, validationAtRoot } from './workspace-paths.ts';

/** Runs the command that the inputs name. Throws what keeps it from beginning. */
export async function perform(inputs: Inputs, context: StepContext): Promise<StepResult> {
  if (inputs.command === 'validate') return validateStep(inputs, context);
  const snapshot = inputs['snapshot-out'];
  const request = createRequest(inputs, context);
  if (snapshot !== undefined) checkWritable(snapshot);
  const result = await STEPS[inputs.command](inputs, request, context);
  if (snapshot !== undefined && !context.signal.aborted) await saveSnapshot(snapshot, request);
  return result;
}

/** Checks the files, offline. */
function validateStep(inputs: Inputs, { env, commit }: StepContext): StepResult {
  const { targets, diagnostics: found } = checkTargets({ file: inputs.files, env });
  const diagnostics = problemsInInputs(found);
  const document = validationDocument(diagnostics);
  const names = namesListed(targets.map(({ name }) => name));
  return createStepResult({
    code: document.valid ? 0 : 3,
    text: `${diagnosticsText(diagnostics, PLAIN)}${document.valid ? `Valid: ${names}.\n` : ''}`,
    annotations: validationAnnotations(validationAtRoot(document)),
    summary: validationMarkdown(document),
    comments: createStickyComments(document, commit),
  });
}

type Step = (inputs: Inputs, request: PlanRequest, context: StepContext) => Promise<StepResult>;

const STEPS: Readonly<Record<'plan' | 'apply' | 'drift', Step>> = {
  plan: planStep,
  apply: applyStep,
  drift: driftStep,
};

/** Plans, and saves the plan: for an apply it is what was approved. */
async function planStep(
  inputs: Inputs,
  request: PlanRequest,
  { env, commit }: StepContext,
): Promise<StepResult> {
  const path = inputs.plan ?? (await createPlanPath(env));
  checkWritable(path);
  const { snapshot, 'max-age': maxAge } = inputs;
  const saved = await plan({ ...request, snapshot, maxAge });
  await writeAside(path, renderJson(saved));
  const document = hintsInInputs(saved);
  const { environments } = document;
  const fails = environments.flatMap(({ proofs = [] }) =>
    proofs.filter(({ status }) => status === 'fails').map(() => ERRORS['check-failed'].exit),
  );
  return createStepResult({
    code: worstExitCode([
      ...environments.map(({ error }) => computeErrorExitCode(error)),
      ...fails,
    ]),
    text: planText(document, LOG) + errorLog(environments),
    annotations: planAnnotations(changesAtRoot(document)),
    summary: planMarkdown(document, LONGEST_SUMMARY),
    comments: [
      ...createStickyComments(document, commit),
      failureComment(null, inputs.environments ?? [], commit),
    ],
    changes: environments.flatMap(({ changes }) => changes).length,
    unknown: document.summary.unknown,
    planPath: path,
  });
}

/** Makes the service equal to the file. There is no question: a saved plan is the approval, or else the step itself. */
async function applyStep(
  { plan: path, all, allow }: Inputs,
  request: PlanRequest,
  { abandon, commit }: StepContext,
): Promise<StepResult> {
  const outcome = await apply({
    ...request,
    approved: path === undefined ? undefined : await readSaved(path, ['plan']),
    all,
    allow,
    abandon,
    // In the log before anything is written.
    onPlan: async (environment) => {
      process.stdout.write(inert(previewText(environment, LOG)));
    },
  });
  const document = hintsInInputs(outcome);
  const { environments } = document;
  const changes = environments.flatMap((one) => one.changes);
  return createStepResult({
    code: worstExitCode(environments.map(({ error }) => computeErrorExitCode(error))),
    text: outcomeText(document, LOG) + errorLog(environments),
    annotations: outcomeAnnotations(changesAtRoot(document)),
    summary: outcomeMarkdown(document, LONGEST_SUMMARY),
    comments: createStickyComments(document, commit),
    changes: changes.filter(({ result }) => result !== 'not-sent').length,
    unknown: document.summary.unknown,
    planPath: path ?? null,
  });
}

/** Finds whether another client has changed a service since the file was applied. */
async function driftStep(inputs: Inputs, request: PlanRequest): Promise<StepResult> {
  const document = hintsInInputs(await drift(request));
  const { environments } = document;
  const { declared } = selectRun({ ...request, onSelected: undefined });
  return createStepResult({
    code: worstExitCode(
      environments.map((one) =>
        hasDrifted(one) || (inputs.strict && one.unknown.length > 0)
          ? 2
          : computeErrorExitCode(one.error),
      ),
    ),
    text: planText(document, LOG, 'drift') + errorLog(environments),
    annotations: driftAnnotations(changesAtRoot(document)),
    summary: driftMarkdown(document, LONGEST_SUMMARY),
    changes: environments.flatMap(({ changes }) => changes).length,
    unknown: document.summary.unknown,
    drift: { document, declared: declared.map(({ name }) => name) },
    readForPulls:
      inputs['open-pull-request'] === false ? null : () => readForPulls(document, request),
  });
}

/** The inputs as operations take them. */
function createRequest(inputs: Inputs, { env, signal }: StepContext): PlanRequest {
  const { shard, selector, base, policy, rotate, without, only, strict, check } = inputs;
  return {
    file: inputs.files,
    env,
    targets: inputs.environments,
    targetsFrom: 'the input environments',
    selector,
    selectorFrom: 'the input selector',
    shard,
    onSelected: (own, chosen) => {
      if (shard !== undefined) process.stdout.write(shardText(shard, own, chosen));
    },
    base,
    policy,
    rotate,
    without,
    only,
    strict,
    check,
    onChecks: (target, costs) => {
      process.stdout.write(inert(`${target}: ${costsText(costs)}\n`));
    },
    signal,
  };
}

/** In a folder of its own, because a job may plan more than once. */
async function createPlanPath(env: StepContext['env']): Promise<string> {
  const folder = await mkdtemp(join(env['RUNNER_TEMP'] ?? tmpdir(), 'setpoint-'));
  return join(folder, 'plan.json');
}

/** Saves the state of the services, masked, for plans against it. If none could be read, the existing snapshot stays. */
async function saveSnapshot(path: string, request: Options): Promise<void> {
  const options = { ...request, onSelected: undefined };
  const targets = selectTargets(options);
  const document = await get({ ...options, resources: ['settings', ...listsFor(targets)] });
  if (document.environments.every(({ status }) => status === 'error')) return;
  await writeAside(path, renderJson(document));
}
