import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { usageError } from '../../reconciler/model/error.ts';
import { render } from '../../reconciler/library/render.ts';
import { proposeChange } from '../../reconciler/operations/propose.ts';
import { plan } from '../../reconciler/operations/plan.ts';
import { diagnosticsText, errorText } from '../../reconciler/render/error-text.ts';
import { patchText } from '../../reconciler/render/pulled-text.ts';
import { visible } from '../../reconciler/render/text.ts';
import type { Arguments } from './arguments.ts';
import { toolOptions, type ToolContext } from './context.ts';
import { createErrorText, createResult } from './run-tool.ts';

const STYLE = { color: false, width: null, verbose: true };

/** Writes a value into a settings file, and returns the edit and the plan of the environments that it is for. */
export async function proposeAndPlan(
  args: Arguments,
  context: ToolContext,
): Promise<CallToolResult> {
  const value = args.json('value');
  if ((value === undefined) !== args.isTrue('remove'))
    throw usageError('A proposal needs a value, or remove: true, and not both.');
  const environment = args.text('environment');
  const options = toolOptions(context);
  const proposal = await proposeChange({
    ...options,
    path: args.text('path') ?? '',
    value,
    environment,
    in: args.text('file'),
  });
  const { edit, ...shown } = proposal;
  const diff = proposal.status === 'unchanged' ? '' : patchText(edit, STYLE);
  const problems = diagnosticsText(
    proposal.diagnostics.map((one) => ({ ...one, excerpt: null })),
    STYLE,
  );
  if (proposal.status === 'invalid')
    return createErrorText(
      `Nothing was written: the edited file would not be valid.\n\n${problems}\n\n${diff}`,
      3,
    );
  const targets = environment === undefined ? undefined : [environment];
  const planned = await plan({ ...options, targets });
  const did =
    proposal.status === 'written'
      ? `${visible(proposal.file)} was edited. Nothing was sent to a server.`
      : `${visible(proposal.file)} has this value already.`;
  const errors = planned.environments.map(({ name, error }) =>
    error === null ? '' : errorText(error, STYLE, name),
  );
  const text = [did, problems, diff, await render(planned, { format: 'text' }), ...errors]
    .filter((part) => part !== '')
    .join('\n\n');
  return createResult({ proposal: { ...shown, diff }, plan: planned }, text);
}
