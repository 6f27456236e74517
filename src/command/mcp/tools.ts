import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { pathExists, readPackageFile } from '../../reconciler/host/read-text.ts';
import { render, type RenderedDocument } from '../../reconciler/library/render.ts';
import { OBSERVABLE, PROFILES } from '../../reconciler/model/observed.ts';
import { historyText } from '../../reconciler/render/history-text.ts';
import { statusText } from '../../reconciler/render/status-text.ts';
import { doctorCommand } from '../cli/commands/doctor.ts';
import { driftCommand } from '../cli/commands/drift.ts';
import { explainCommand } from '../cli/commands/explain.ts';
import { getCommand } from '../cli/commands/get.ts';
import { historyCommand } from '../cli/commands/history.ts';
import { planCommand } from '../cli/commands/plan.ts';
import { statusCommand } from '../cli/commands/status.ts';
import { validateCommand } from '../cli/commands/validate.ts';
import type { Flags } from '../cli/command-table.ts';
import type { Io } from '../cli/io.ts';
import { SCHEMAS } from '../cli/words.ts';
import { applyApproval } from './apply-approved.ts';
import { Arguments, type ArgumentsSchema } from './arguments.ts';
import { sharedFlags, type ToolContext } from './context.ts';
import { readOutputSchema } from './output-schema.ts';
import { proposeAndPlan } from './propose-tool.ts';
import {
  captureCommand,
  createErrorText,
  createFailure,
  createResult,
  EXIT_CODE,
  maskText,
} from './run-tool.ts';

/**
 * One tool.
 *
 * 1. `run` must not send a request that changes a server, unless `needs` is `--allow-apply`.
 * 2. The result's document must fit `output`, the name of a published schema.
 * 3. No text of an argument may be in a result, except where a command prints it masked.
 */
interface SetpointTool {
  readonly title: string;
  readonly about: string;
  readonly takes: ArgumentsSchema;
  readonly output?: (typeof SCHEMAS)[number];
  /** The flag that the server was started with; without it the tool is not listed and cannot be called. */
  readonly needs?: 'allowApply';
  readonly annotations: Tool['annotations'];
  readonly run: (args: Arguments, context: ToolContext) => Promise<CallToolResult>;
}

const ENVIRONMENTS = {
  type: 'array',
  items: { type: 'string' },
  description: 'the names of the environments, or patterns such as prod-*; all without it',
} as const;

const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: true } as const;
const OFFLINE = { ...READS, openWorldHint: false } as const;

/** Exit codes of a result that has a document: in sync, differences, refused by a guard or a policy, settings not valid. */
const WITH_DOCUMENT: ReadonlySet<number> = new Set([0, 2, 3, 5]);

function takes(
  properties: ArgumentsSchema['properties'],
  ...required: readonly string[]
): ArgumentsSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

export const TOOLS: Readonly<Record<string, SetpointTool>> = {
  validate: {
    title: 'Check the settings files',
    about: 'Checks the settings files offline: schema, form of references, rules across fields.',
    takes: takes({ environments: ENVIRONMENTS }),
    output: 'validation',
    annotations: OFFLINE,
    run: (args, context) =>
      runCommand(context, (io) => validateCommand({ ...common(context, args), color: false }, io)),
  },
  plan: {
    title: 'Plan an apply',
    about:
      'Shows what an apply would change on each server. Reads only. A person approves a saved plan with setpoint approve; save_as writes it into this folder.',
    takes: takes({
      environments: ENVIRONMENTS,
      rotate: {
        type: 'array',
        items: { type: 'string' },
        description: 'paths of secrets to write again, such as llm_api_key',
      },
      save_as: {
        type: 'string',
        description:
          'a new name such as change-model.plan.json: the plan is saved under it in the folder, for setpoint approve',
      },
    }),
    output: 'plan',
    annotations: READS,
    run: (args, context) => runPlanTool(args, context),
  },
  drift: {
    title: 'Detect drift',
    about: 'Compares each server with the file: what was changed behind it. Reads only.',
    takes: takes({ environments: ENVIRONMENTS }),
    output: 'plan',
    annotations: READS,
    run: (args, context) =>
      runCommand(context, (io) => driftCommand({ ...common(context, args) }, io), true),
  },
  explain: {
    title: 'Explain a path',
    about:
      'Says what a path of the settings means, where its value comes from in each environment, and what an apply would do about it.',
    takes: takes(
      {
        path: { type: 'string', description: 'such as llm_model or llm_profiles.fast.model' },
        environments: ENVIRONMENTS,
        offline: { type: 'boolean', description: 'reads no server' },
      },
      'path',
    ),
    output: 'explain',
    annotations: READS,
    run: (args, context) =>
      runCommand(context, (io) =>
        explainCommand(
          { ...common(context, args), offline: args.isTrue('offline') },
          io,
          args.text('path') ?? '',
        ),
      ),
  },
  get: {
    title: 'Show what a server has',
    about: `Shows what each server has, masked: ${[...OBSERVABLE, PROFILES].join(', ')}.`,
    takes: takes(
      {
        what: {
          type: 'string',
          description: `one or several, separated by commas: ${OBSERVABLE.join(', ')}`,
        },
        environments: ENVIRONMENTS,
      },
      'what',
    ),
    output: 'observed',
    annotations: READS,
    run: (args, context) =>
      runCommand(context, (io) => getCommand(common(context, args), io, args.text('what') ?? '')),
  },
  doctor: {
    title: 'Check machine, files and connections',
    about:
      'Checks this machine, the files, and the connection, key and version of each server. Reads only.',
    takes: takes({ environments: ENVIRONMENTS }),
    output: 'doctor',
    annotations: READS,
    run: (args, context) => runCommand(context, (io) => doctorCommand(common(context, args), io)),
  },
  status: {
    title: 'Show the state of a controller',
    about:
      'Lists what setpoint watch knows of each environment, the worst first, from its data folder.',
    takes: takes({ environments: ENVIRONMENTS }),
    output: 'watched',
    annotations: OFFLINE,
    run: (args, context) =>
      runCommand(context, (io) =>
        statusCommand(
          { ...report(args), data: context.data, noColor: true } as Flags<'status'>,
          io,
        ),
      ),
  },
  history: {
    title: 'Show what was changed, and when',
    about: 'Shows what controllers and applies recorded, the latest first.',
    takes: takes({
      environments: ENVIRONMENTS,
      path: { type: 'string', description: 'only the changes of this path' },
      all: { type: 'boolean', description: 'all records, not the latest 50 alone' },
    }),
    output: 'history',
    annotations: OFFLINE,
    run: (args, context) => {
      const flags: Flags<'history'> = {
        ...report(args),
        data: context.data,
        verbose: args.isTrue('all'),
      };
      return runCommand(context, (io) => historyCommand(flags, io, args.text('path')));
    },
  },
  schema: {
    title: 'Show a JSON Schema',
    about: 'Returns a published JSON Schema: that of the settings file, or of a document.',
    takes: takes({ name: { enum: SCHEMAS, description: 'the schema (default: settings)' } }),
    annotations: OFFLINE,
    run: async (args) => {
      const name = args.text('name') ?? 'settings';
      const schema = JSON.parse(readPackageFile(`schemas/${name}.schema.json`)) as object;
      return createResult({ ...schema }, `The schema ${name} is in structuredContent.`);
    },
  },
  propose_change: {
    title: 'Edit one value of a settings file',
    about:
      'Writes one value into a settings file, everything else byte for byte the same, and returns the edit and the plan of it. Nothing is sent to a server but reads. A secret is a reference such as ${env:NAME}, never the secret itself.',
    takes: takes(
      {
        path: { type: 'string', description: 'such as llm_model or llm_profiles.fast.model' },
        value: { description: 'the value as JSON; null clears the field on the server' },
        remove: {
          type: 'boolean',
          description: 'removes the path from the file instead, so that it is not managed any more',
        },
        environment: {
          type: 'string',
          description: 'the environment that has the value alone (default: all of the file)',
        },
        file: { type: 'string', description: 'the settings file, if there are several' },
      },
      'path',
    ),
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: true,
    },
    run: proposeAndPlan,
  },
  apply: {
    title: 'Apply an approved plan',
    about:
      'Applies the plan that a person approved with setpoint approve, once, and nothing beyond it. Takes the name of the approval alone.',
    takes: takes(
      { approval: { type: 'string', description: 'the name that setpoint approve printed' } },
      'approval',
    ),
    output: 'outcome',
    needs: 'allowApply',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    run: applyApproval,
  },
};

/** The tools that a server with these flags has. */
export function listTools(flags: Flags<'mcp'>): readonly (readonly [string, SetpointTool])[] {
  return Object.entries(TOOLS).filter(
    ([, { needs }]) => needs === undefined || flags[needs] === true,
  );
}

/** A tool as the protocol lists it. */
export function describeTool(name: string, tool: SetpointTool): Tool {
  const { title, about, takes: inputSchema, output, annotations } = tool;
  return {
    name,
    title,
    description: about,
    inputSchema: { ...inputSchema, required: [...(inputSchema.required ?? [])] },
    ...(output === undefined ? {} : { outputSchema: readOutputSchema(output) }),
    annotations: { title, ...annotations },
  };
}

/** Calls a tool by its name. Never throws: an agent reads what happened, and what to do. */
export async function callTool(
  name: string,
  values: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<CallToolResult> {
  const tool = listTools(context.flags).find(([known]) => known === name)?.[1];
  if (tool === undefined) return createErrorText('This server has no tool of that name.', 3);
  const work = async (): Promise<CallToolResult> =>
    tool.run(new Arguments(values, tool.takes), context);
  const result = await work().catch(createFailure);
  return maskText(result, context.io.env);
}

/** The flags of a command that a tool runs: those of the server, and the environments of the call. */
function common(
  { flags }: Pick<ToolContext, 'flags'>,
  args: Arguments,
): ReturnType<typeof sharedFlags> & ReturnType<typeof report> {
  return { ...sharedFlags(flags), ...report(args) };
}

function report(args: Arguments): {
  readonly env?: readonly string[];
  readonly output: readonly string[];
} {
  const env = args.texts('environments');
  return { ...(env === undefined ? {} : { env }), output: ['json'] };
}

async function runPlanTool(args: Arguments, context: ToolContext): Promise<CallToolResult> {
  const name = args.text('save_as');
  if (name !== undefined && !/^[A-Za-z0-9][\w-]{0,80}\.plan\.json$/.test(name))
    return createErrorText(
      'save_as is a name such as change-model.plan.json, without a folder.',
      3,
    );
  if (name !== undefined && pathExists(name))
    return createErrorText('A file of that name exists already. Choose another name.', 3);
  const rotate = args.texts('rotate');
  const flags = { ...common(context, args), ...(rotate === undefined ? {} : { rotate }) };
  const output = name === undefined ? flags.output : [...flags.output, `json=${name}`];
  const result = await runCommand(context, (io) => planCommand({ ...flags, output }, io));
  if (name === undefined || result.isError === true) return result;
  const isWhole = result['_meta']?.[EXIT_CODE] === 0;
  const saved = isWhole
    ? `The plan is saved as ${name}. A person approves it with: setpoint approve ${name}`
    : `The plan is saved as ${name}, and cannot be approved. Fix what it names, and plan again under another name.`;
  return { ...result, content: [...result.content, { type: 'text', text: saved }] };
}

/** Runs a command and returns its document, with the text that people read. */
async function runCommand(
  { io }: ToolContext,
  work: (io: Io) => Promise<number>,
  drift = false,
): Promise<CallToolResult> {
  const { code, stdout, stderr } = await captureCommand(io, work);
  const document = parseDocument(stdout);
  if (document === null || 'error' in document)
    return createErrorText(stderr === '' ? 'No result.' : stderr, code, document?.['error']);
  const text = (await documentText(document, drift)) || 'No problems.\n';
  const whole = stderr === '' ? text : `${text}\n${stderr}`;
  const result = createResult(document, whole, code);
  return WITH_DOCUMENT.has(code) || result.isError === true ? result : { ...result, isError: true };
}

function parseDocument(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return null; // No document was printed: the reason is on stderr.
  }
}

const STYLE = { color: false, width: null, verbose: false };

async function documentText(
  document: Readonly<Record<string, unknown>>,
  drift: boolean,
): Promise<string> {
  if ('records' in document)
    return historyText(document as unknown as Parameters<typeof historyText>[0], STYLE, 50);
  if (!('kind' in document))
    return statusText(document as unknown as Parameters<typeof statusText>[0], false, STYLE);
  return render(document as unknown as RenderedDocument, { format: 'text', drift });
}
