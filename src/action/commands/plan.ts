import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commentsOf, failureComment } from '../../github/comments-of.ts';
import { checkWritable, writeAside } from '../../host/write-aside.ts';
import { exitCodeOf, worstExitCode } from '../../model/exit-code.ts';
import { plan } from '../../operations/plan.ts';
import { planAnnotations } from '../../render/github/plan-annotations.ts';
import { json } from '../../render/json.ts';
import type { Inputs } from '../inputs.ts';
import { planLog } from '../log.ts';
import type { Result, Setting } from '../result.ts';
import { saveSnapshot } from '../save-snapshot.ts';
import { optionsFor } from '../target-options.ts';
import { planAtRoot } from '../workspace-paths.ts';

/** Plans, and saves the plan: for an apply it is what was approved. */
export async function planStep(inputs: Inputs, setting: Setting): Promise<Result> {
  const path = inputs.plan ?? (await pathOfOwn(setting.env));
  checkWritable(path);
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const document = await plan({
    ...options,
    snapshot: inputs.snapshot ?? undefined,
    maxAge: inputs.maxAge,
  });
  await saveSnapshot(inputs, options);
  await writeAside(path, json(document));
  const comments = commentsOf(document, setting.commit);
  return {
    code: worstExitCode(document.environments.map(({ error }) => exitCodeOf(error))),
    text: planLog(document, 'plan'),
    annotations: planAnnotations(planAtRoot(document)),
    sections: comments,
    comments: [...comments, failureComment(null, inputs.environments ?? [], setting.commit)],
    changes: document.environments.flatMap(({ changes }) => changes).length,
    planPath: path,
    drift: null,
  };
}

/** A folder of its own, because a job may plan more than once. */
async function pathOfOwn(env: Setting['env']): Promise<string> {
  const folder = await mkdtemp(join(env['RUNNER_TEMP'] ?? tmpdir(), 'setpoint-'));
  return join(folder, 'plan.json');
}
