import { hasDrifted } from '../has-drifted.ts';
import { checkWritable } from '../../host/write-aside.ts';
import { exitCodeOf, worstExitCode } from '../../model/exit-code.ts';
import { partOf } from '../../model/plan.ts';
import { drift } from '../../operations/plan.ts';
import { driftAnnotations } from '../../render/github/plan-annotations.ts';
import { driftMarkdown } from '../../render/markdown/plan-markdown.ts';
import type { Inputs } from '../inputs.ts';
import { planLog } from '../log.ts';
import type { Result, Setting } from '../result.ts';
import { saveSnapshot } from '../save-snapshot.ts';
import { optionsFor } from '../target-options.ts';
import { planAtRoot } from '../workspace-paths.ts';

/** Looks whether somebody has changed a service behind its file's back. */
export async function driftStep(inputs: Inputs, setting: Setting): Promise<Result> {
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const document = await drift(options);
  await saveSnapshot(inputs, options);
  const { environments } = document;
  return {
    code: worstExitCode(environments.map((one) => (hasDrifted(one) ? 2 : exitCodeOf(one.error)))),
    text: planLog(document, 'drift'),
    annotations: driftAnnotations(planAtRoot(document)),
    sections: environments.map((one) => ({
      target: one.name,
      markdown: driftMarkdown(partOf(document, [one])),
    })),
    comments: [],
    changes: environments.flatMap(({ changes }) => changes).length,
    planPath: null,
    drift: document,
  };
}
