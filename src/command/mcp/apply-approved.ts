import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { applyRecorder } from '../../controller/watch/journal/journal.ts';
import { readApproval, useApproval } from '../../reconciler/host/approvals.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import { render } from '../../reconciler/library/render.ts';
import {
  asSetpointError,
  computeErrorExitCode,
  worstExitCode,
  type SetpointError,
} from '../../reconciler/model/error.ts';
import type {
  EnvironmentOutcome,
  OutcomeDocument,
  OutcomeHead,
  OutcomeTail,
} from '../../reconciler/model/outcome.ts';
import type { PlanDocument } from '../../reconciler/model/plan.ts';
import { formatPath } from '../../reconciler/model/path.ts';
import { applyInParts } from '../../reconciler/operations/apply.ts';
import { errorText } from '../../reconciler/render/error-text.ts';
import { wholeDocument } from '../../reconciler/operations/redacting.ts';
import type { Arguments } from './arguments.ts';
import { toolOptions, type ToolContext } from './context.ts';
import { createResult } from './run-tool.ts';

const STYLE = { color: false, width: null, verbose: true };

/** The secrets that a plan writes again: without the same request a run leaves them alone. */
function listRotated({ environments }: PlanDocument): readonly string[] {
  const changes = environments.flatMap((one) => one.changes);
  const rotated = changes.filter(({ action }) => action === 'rotate');
  return [...new Set(rotated.map(({ path }) => formatPath(path)))];
}

/**
 * Applies the plan of an approval: what `setpoint apply PLAN.json` does, with the same refusals. The approval is used up before the first
 * write, and the journal records each write with the approval, who gave it, and which client used it.
 */
export async function applyApproval(
  args: Arguments,
  context: ToolContext,
): Promise<CallToolResult> {
  const { io, data, client } = context;
  const now = (): number => SYSTEM_CLOCK.now();
  const name = args.text('approval') ?? '';
  const approval = readApproval(data, name, { now: now(), env: io.env });
  const { plan, approved_by: person } = approval;
  const env = plan.environments.map((environment) => environment.name);
  const options = toolOptions(context);
  const by = client();
  const actor = `${person}, by approval ${name}, used by ${by}`;
  const record = applyRecorder(data, now);
  let used: Promise<SetpointError | null> | null = null;
  const use = (): Promise<SetpointError | null> =>
    useApproval(data, name, { now: now(), by }).then(() => null, asSetpointError);
  const document: OutcomeDocument = await wholeDocument<
    OutcomeHead,
    EnvironmentOutcome,
    OutcomeTail
  >((parts) =>
    applyInParts(
      {
        ...options,
        targets: env,
        approved: plan,
        rotate: listRotated(plan),
        beforeWrite: () => (used ??= use()),
        abandon: io.abandon,
      },
      {
        begin: parts.begin,
        environment: async (part, run) => {
          await record(part, { commit: null, url: null, ...run, actor });
          await parts.environment(part, run);
        },
      },
    ),
  );
  const code = worstExitCode(
    document.environments.map(({ error }) => (error === null ? 0 : computeErrorExitCode(error))),
  );
  const errors = document.environments.flatMap(({ name: environment, error }) =>
    error === null ? [] : errorText(error, STYLE, environment),
  );
  const result = createResult(
    { ...document },
    [await render(document, { format: 'text' }), ...errors].join('\n'),
    code,
  );
  return code === 0 ? result : { ...result, isError: true };
}
