import { commentsOf } from '../../github/comments-of.ts';
import { checkWritable } from '../../host/write-aside.ts';
import { exitCodeOf, worstExitCode } from '../../model/exit-code.ts';
import { apply } from '../../operations/apply.ts';
import { readSaved } from '../../operations/saved-document.ts';
import { outcomeAnnotations } from '../../render/github/outcome-annotations.ts';
import { outcomeText } from '../../render/outcome-text.ts';
import { environmentText } from '../../render/plan-text.ts';
import type { Inputs } from '../inputs.ts';
import { errorLog, inert, PLAIN } from '../log.ts';
import type { Result, Setting } from '../result.ts';
import { saveSnapshot } from '../save-snapshot.ts';
import { optionsFor } from '../target-options.ts';
import { outcomeAtRoot } from '../workspace-paths.ts';

/** Makes the service equal to the file. Nobody is asked: a saved plan is the approval, or else that the step is there. */
export async function applyStep(inputs: Inputs, setting: Setting): Promise<Result> {
  if (inputs.snapshotOut !== null) checkWritable(inputs.snapshotOut);
  const options = optionsFor(inputs, setting);
  const document = await apply({
    ...options,
    approved: inputs.plan === null ? undefined : await readSaved(inputs.plan, ['plan']),
    all: inputs.all,
    allow: inputs.allow,
    abandon: setting.abandon,
    // In the log before anything is written; what refuses it is the error that follows.
    onPlan: async (plan) => {
      process.stdout.write(inert(environmentText({ ...plan, refusals: [] }, PLAIN)));
    },
  });
  if (!setting.signal.aborted) await saveSnapshot(inputs, options);
  const { environments } = document;
  const comments = commentsOf(document, setting.commit);
  const made = environments.flatMap(({ changes }) =>
    changes.filter(({ result }) => result !== 'not-sent'),
  );
  return {
    code: worstExitCode(environments.map(({ error }) => exitCodeOf(error))),
    text: `${outcomeText(document, PLAIN)}${errorLog(environments)}`,
    annotations: outcomeAnnotations(outcomeAtRoot(document)),
    sections: comments,
    comments,
    changes: made.length,
    planPath: inputs.plan,
    drift: null,
  };
}
