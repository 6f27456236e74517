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
  errorLog,
  inert,
  LOG,
  LONGEST_SUMMARY,
  hasDrifted,
  type StepResult,
  type StepContext,
} from './report.ts';
import { readForPulls } from './pull-drift.ts';
import { outcomeAtRoot, planAtRoot, validationAtRoot } from './workspace-paths.ts';

/** Runs the command that the inputs name. Throws what keeps it from beginning. */
export function perform(inputs: Inputs, setting: StepContext): StepResult | Promise<StepResult> {
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

/** Checks the files, offline. */
function validateStep(inputs: Inputs, { env, commit }: StepContext): StepResult {
  const { targets, diagnostics: found } = checkTargets({ file: inputs.files, env });
  const diagnostics = problemsInInputs(found);
  const document = validationDocument(diagnostics);
  const comments = createStickyComments(document, commit);
  const names = namesListed(targets.map(({ name }) => name));
  return {
    code: document.valid ? 0 : 3,
    text: `${diagnosticsText(diagnostics, PLAIN)}${document.valid ? `Valid: ${names}.\n` : ''}`,
    annotations: validationAnnotations(validationAtRoot(document)),
    summary: validationMarkdown(document),
    comments,
    changes: 0,
    unknown: 0,
    planPath: null,
    drift: null,
    readForPulls: null,
  };
}

/** Plans, and saves the plan: for an apply it is what was approved. */
async function planStep(inputs: Inputs, setting: StepContext): Promise<StepResult> {
  const path = inputs.plan ?? (await temporaryPlanPath(setting.env));
  checkWritable(path);
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const saved = await plan({
    ...options,
    snapshot: inputs.snapshot ?? undefined,
    maxAge: inputs.maxAge,
  });
  await saveSnapshot(inputs, options);
  await writeAside(path, renderJson(saved));
  const document = hintsInInputs(saved);
  const { environments } = document;
  const comments = createStickyComments(document, setting.commit);
  return {
    code: worstExitCode([
      ...environments.map(({ error }) => computeErrorExitCode(error)),
      ...environments.map(({ proofs = [] }) =>
        proofs.some(({ status }) => status === 'fails') ? ERRORS['check-failed'].exit : 0,
      ),
    ]),
    text: planText(document, LOG) + errorLog(environments),
    annotations: planAnnotations(planAtRoot(document)),
    summary: planMarkdown(document, LONGEST_SUMMARY),
    comments: [...comments, failureComment(null, inputs.environments ?? [], setting.commit)],
    changes: environments.flatMap(({ changes }) => changes).length,
    unknown: document.summary.unknown,
    planPath: path,
    drift: null,
    readForPulls: null,
  };
}

/** Makes the service equal to the file. There is no question: a saved plan is the approval, or else the step itself. */
async function applyStep(inputs: Inputs, setting: StepContext): Promise<StepResult> {
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const outcome = await apply({
    ...options,
    approved: inputs.plan === null ? undefined : await readSaved(inputs.plan, ['plan']),
    all: inputs.all,
    allow: inputs.allow,
    abandon: setting.abandon,
    // In the log before anything is written.
    onPlan: async (environment) => {
      process.stdout.write(inert(previewText(environment, LOG)));
    },
  });
  if (!setting.signal.aborted) await saveSnapshot(inputs, options);
  const document = hintsInInputs(outcome);
  const { environments } = document;
  const comments = createStickyComments(document, setting.commit);
  const sent = environments.flatMap(({ changes }) =>
    changes.filter(({ result }) => result !== 'not-sent'),
  );
  return {
    code: worstExitCode(environments.map(({ error }) => computeErrorExitCode(error))),
    text: outcomeText(document, LOG) + errorLog(environments),
    annotations: outcomeAnnotations(outcomeAtRoot(document)),
    summary: outcomeMarkdown(document, LONGEST_SUMMARY),
    comments,
    changes: sent.length,
    unknown: document.summary.unknown,
    planPath: inputs.plan,
    drift: null,
    readForPulls: null,
  };
}

/** Finds whether another client has changed a service since the file was applied. */
async function driftStep(inputs: Inputs, setting: StepContext): Promise<StepResult> {
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const document = hintsInInputs(await drift(options));
  await saveSnapshot(inputs, options);
  const { environments } = document;
  return {
    code: worstExitCode(
      environments.map((one) =>
        hasDrifted(one) || (inputs.strict && one.unknown.length > 0)
          ? 2
          : computeErrorExitCode(one.error),
      ),
    ),
    text: planText(document, LOG, 'drift') + errorLog(environments),
    annotations: driftAnnotations(planAtRoot(document)),
    summary: driftMarkdown(document, LONGEST_SUMMARY),
    comments: [],
    changes: environments.flatMap(({ changes }) => changes).length,
    unknown: document.summary.unknown,
    planPath: null,
    drift: { document, declared: listDeclaredNames(options) },
    readForPulls: inputs.openPullRequest === false ? null : () => readForPulls(document, options),
  };
}

function listDeclaredNames(options: Options): readonly string[] {
  return selectRun({ ...options, onSelected: undefined }).declared.map(({ name }) => name);
}

/** The inputs as operations take them. */
function optionsFor(inputs: Inputs, { env, signal }: StepContext): PlanRequest {
  const { files, environments, selector, shard, base, policy, rotate, without, only, strict } =
    inputs;
  return {
    file: files,
    env,
    targets: environments,
    targetsFrom: 'the input environments',
    selector: selector ?? undefined,
    selectorFrom: 'the input selector',
    shard,
    onSelected: (own, chosen) => {
      if (shard !== undefined) process.stdout.write(shardText(shard, own, chosen));
    },
    base: base ?? undefined,
    policy: policy ?? undefined,
    rotate,
    without,
    only,
    strict,
    check: inputs.check,
    onChecks: (target, costs) => {
      process.stdout.write(inert(`${target}: ${costsText(costs)}\n`));
    },
    signal,
  };
}

/** In a folder of its own, because a job may plan more than once. */
async function temporaryPlanPath(env: StepContext['env']): Promise<string> {
  const folder = await mkdtemp(join(env['RUNNER_TEMP'] ?? tmpdir(), 'setpoint-'));
  return join(folder, 'plan.json');
}

/** Saves the state of the services, masked, for plans against it. If none could be read, the existing snapshot stays. */
async function saveSnapshot({ snapshotOut }: Inputs, selected: Options): Promise<void> {
  if (snapshotOut === null) return;
  const options = { ...selected, onSelected: undefined };
  const targets = selectTargets(options);
  const document = await get({ ...options, resources: ['settings', ...listsFor(targets)] });
  if (document.environments.every(({ status }) => status === 'error')) return;
  await writeAside(snapshotOut, renderJson(document));
}
