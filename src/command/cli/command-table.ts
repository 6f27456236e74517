import { OBSERVABLE, PROFILES } from '../../reconciler/model/observed.ts';
import {
  ABOUT_SMOKE,
  ALL_FORMATS,
  APPLYING,
  BASIC_FORMATS,
  CONNECTED,
  CONNECTION,
  ENVIRONMENTS,
  IN_FULL,
  LIMITED,
  LOCAL,
  NOT_VERBOSE,
  PLANNING,
  REPORTING,
  SELECTION,
  STARTED,
  VERDICT,
  type CommandEntry,
} from './command-entry.ts';
import { WATCH_COMMANDS } from './watch-commands.ts';
import { flagSpec, type FlagName, type FlagValues } from './flag-table.ts';
import { SCHEMAS, SHELLS, type Format } from './words.ts';

/** Every command, in the order of the help. */
export const COMMANDS = {
  validate: {
    summary: 'Check settings.yaml, offline: schema, form of references, rules across fields',
    example: 'setpoint validate -f settings.yaml',
    flags: [...SELECTION, '--max-file-size', ...REPORTING],
    about: NOT_VERBOSE,
    formats: [...ALL_FORMATS, 'sarif'],
    exits: { 0: 'valid', 1: 'failed', 3: 'usage or settings not valid' },
  },
  plan: {
    argument: { form: '[plan.json]', completion: 'files' },
    summary:
      'Show what an apply would change; only reads, unless --check is given; with a saved plan, show that',
    example: 'setpoint plan -e staging --exit-code',
    flags: [...LIMITED, '--snapshot', '--max-age', ...PLANNING, ...VERDICT, ...REPORTING],
    about: { '--verbose': IN_FULL },
    formats: [...ALL_FORMATS, 'prometheus'],
    exits: {
      ...CONNECTED,
      1: 'failed, or something does not work (with --check)',
      2: 'differences (with --exit-code)',
      5: 'the policy refuses the plan, or a guard would (with --exit-code)',
      6: 'the snapshot does not cover this',
    },
  },
  apply: {
    argument: { form: '[plan.json]', completion: 'files' },
    summary:
      'Write the file to the service, and verify the result; with a saved plan, only what it approves',
    example: 'setpoint apply -e production --yes',
    flags: [
      ...LIMITED,
      '--yes',
      '--dry-run',
      '--if-empty',
      '--wait',
      '--journal',
      ...PLANNING,
      ...REPORTING,
    ],
    about: {
      '--check':
        'before the write, have the service try changed models, mcp servers and agent profiles, and write nothing if one does not work; refused on pull requests',
      '--parallel': 'environments in parallel (default: 1)',
      '--verbose': `${IN_FULL}, and the number of requests`,
    },
    formats: ALL_FORMATS,
    exits: {
      ...CONNECTED,
      0: 'applied, in sync, or not empty (with --if-empty)',
      1: 'failed, or not confirmed',
      3: 'usage, settings or references not valid; nothing written',
      ...APPLYING,
    },
  },
  drift: {
    summary: 'Check whether the service was changed behind the file: exit 2 if it was; only reads',
    example: 'setpoint drift --all -o json',
    flags: [...LIMITED, '--base', '--policy', '--only', '--fail-on', '--strict', ...REPORTING],
    about: { '--verbose': IN_FULL },
    formats: [...ALL_FORMATS, 'prometheus'],
    exits: {
      ...CONNECTED,
      0: 'in sync',
      2: 'the service differs from the file',
      5: 'the policy refuses the settings',
    },
  },
  pull: {
    summary:
      "Bring the service's values into the file: comments, order and references stay; only reads",
    example: 'setpoint pull -e staging --check',
    flags: [
      ...ENVIRONMENTS,
      '--adopt',
      '--check',
      '--force',
      '--namespace',
      '--secret',
      ...REPORTING,
    ],
    about: {
      '--check': 'show the patch and write nothing; exit 2 if there is one',
      '--namespace': "with -o kubernetes: the namespace of the objects (default: the client's)",
      '--secret':
        'with -o kubernetes: the Secret that has the values of all references that the file does not place',
    },
    formats: [...BASIC_FORMATS, 'kubernetes'],
    exits: { ...CONNECTED, 2: 'the service has values to pull (with --check)' },
  },
  init: {
    summary:
      'Write a first settings.yaml from a service or files, or add an environment; only reads',
    example: 'setpoint init --from ~/.openhands --from .env',
    flags: ['--file', '--env', '--from', '--dialect', ...CONNECTION, ...REPORTING],
    about: {
      ...NOT_VERBOSE,
      '--file': 'the file to write (default: settings.yaml)',
      '--env': 'the environment to add',
      '--server':
        'the address of the service; with that of its automation service if it has its own, url=url; with --from it is only written into the file',
      '--dialect': 'with --from, the kind of service (default: what services of all kinds take)',
    },
    formats: BASIC_FORMATS,
    exits: CONNECTED,
  },
  get: {
    argument: { form: '<what>', completion: { words: [...OBSERVABLE, PROFILES], list: true } },
    summary: `Show what the service is and has, masked: ${OBSERVABLE.join(', ')}; ${PROFILES} are those of each kind`,
    example: 'setpoint get sandboxes,conversations -e staging',
    flags: [...STARTED, ...REPORTING],
    about: NOT_VERBOSE,
    formats: BASIC_FORMATS,
    exits: CONNECTED,
  },
  explain: {
    argument: { form: '[path]', completion: 'paths' },
    summary:
      'Show what a field is, where its value comes from and what apply would do; without a path, the effective file',
    example: 'setpoint explain llm_api_key -e production',
    flags: [...ENVIRONMENTS, '--offline', ...REPORTING],
    formats: BASIC_FORMATS,
    exits: CONNECTED,
  },
  doctor: {
    summary:
      'Check this machine, the files and, per environment, the connection, key, API version and clock; only reads, unless --check is given',
    example: 'setpoint doctor -e production',
    flags: [...ENVIRONMENTS, '--check', ...REPORTING],
    about: {
      ...NOT_VERBOSE,
      '--check':
        'have each service try the models, mcp servers and agent profiles that the file declares, as stored: it calls the models and starts the programs; refused on pull requests',
    },
    formats: BASIC_FORMATS,
    exits: { ...CONNECTED, 0: 'no check failed' },
  },
  smoke: {
    summary:
      'Start a conversation, follow it until it is ready, and remove it; costs a call to the model',
    example: 'setpoint smoke -e staging',
    flags: [...STARTED, '--yes', '--wait', ...REPORTING],
    about: ABOUT_SMOKE,
    formats: BASIC_FORMATS,
    exits: { ...CONNECTED, 1: 'failed, or not confirmed' },
  },
  report: {
    argument: { form: '<saved.json...>', completion: 'files' },
    summary:
      'Merge the saved plans or outcomes of shards into one report; missing shards are named',
    example: 'setpoint report shard-*.json --fail-on any -o html=drift.html',
    flags: ['--fail-on', '--exit-code', ...REPORTING],
    about: {
      '--fail-on':
        'the documents are of drift: report in its words, and exit 2 for drift, pending or any difference',
      '--verbose': IN_FULL,
    },
    formats: ALL_FORMATS,
    exits: {
      ...CONNECTED,
      1: 'failed, or the report is incomplete',
      2: 'differences (with --exit-code or --fail-on)',
      3: 'usage, settings or documents not valid',
      ...APPLYING,
    },
  },
  comment: {
    argument: { form: '<saved.json...>', completion: 'files' },
    summary:
      'Post saved plans as comments on a GitHub pull request: one for each environment, kept up to date',
    example: 'setpoint comment plan.json --pr 42',
    flags: ['--pr', '--quiet'],
    exits: {
      0: 'done',
      1: 'failed',
      3: 'usage or saved plans not valid',
      4: 'GitHub refused the token',
      9: 'timed out',
    },
  },
  approve: {
    argument: { form: '<plan.json>', completion: 'files' },
    summary:
      'Show a saved plan, and approve it for one apply by an agent: asks on a terminal, prints the name of the approval',
    example: 'setpoint approve change-model.plan.json --until 2h',
    flags: ['--until', '--data', '--no-color', '--verbose'],
    takes: { '--data': 'folder' },
    about: {
      '--until': 'when the approval expires: 30m, 2h, or a time (default: 1h, at most 7d)',
      '--data': 'folder of approvals and of the journal (default: .setpoint/watch)',
      '--verbose': IN_FULL,
    },
    exits: { 0: 'approved', 1: 'declined', 3: 'usage or saved plan not valid' },
  },
  mcp: {
    summary:
      'Serve agents over stdin and stdout by the Model Context Protocol: they read, plan and edit the file; a write needs an approved plan',
    example: 'setpoint mcp -f settings.yaml --allow-apply',
    flags: ['--file', '--timeout', '--data', '--allow-apply'],
    takes: { '--data': 'folder' },
    about: { '--data': 'folder of approvals and of the journal (default: .setpoint/watch)' },
    exits: { 0: 'the client is gone', 3: 'usage not valid', 130: 'interrupted' },
  },
  render: {
    argument: { form: '[crd|krm]', completion: { words: ['crd', 'krm'] } },
    summary:
      'Print the settings as objects of Kubernetes, offline: SettingsTargets, and a Role for the Secrets that they name; crd: the definitions alone; krm: as a KRM function for kustomize and kpt, from stdin to stdout',
    example: 'setpoint render -e production --secret agents --namespace agents',
    flags: [
      ...SELECTION,
      '--namespace',
      '--secret',
      '--max-file-size',
      '--output',
      '--no-color',
      '--quiet',
    ],
    formats: ['kubernetes', 'json'],
    exits: { 0: 'done', 1: 'failed', 3: 'usage or settings not valid' },
  },
  ...WATCH_COMMANDS,
  serve: {
    summary: 'Run the embedded service, for a laptop or a test; it runs no agents',
    example: 'setpoint serve --port 3000 --data dev-store.json --dialect app-server',
    flags: ['--port', '--data', '--api-key', '--dialect'],
    exits: { 0: 'stopped by a signal', 3: 'usage not valid, or the service could not start' },
  },
  schema: {
    argument: { form: '[name]', completion: { words: [...SCHEMAS, 'pulled'] } },
    summary:
      'Print a JSON Schema: settings, plan and others; pull: lock the fields that newer servers add',
    example: 'setpoint schema > settings.schema.json',
    flags: [...SELECTION, ...CONNECTION, '--no-color', '--quiet'],
    about: { '--file': 'with pull: the settings file that gets a lock (default: settings.yaml)' },
    exits: CONNECTED,
  },
  completion: {
    argument: { form: '[shell]', completion: { words: SHELLS } },
    summary: 'Print a script that completes commands, flags and names, for bash, zsh or fish',
    example: 'source <(setpoint completion bash)',
    flags: [],
    exits: LOCAL,
  },
  version: {
    summary: 'Print the version, how it was installed, and how to upgrade',
    example: 'setpoint version -o json',
    flags: ['--output'],
    formats: BASIC_FORMATS,
    exits: { ...LOCAL, 1: 'failed' },
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** A command as the table has it, for code that treats all alike. */
export function commandEntry(name: CommandName): CommandEntry {
  return COMMANDS[name];
}

export function isCommand(name: string | undefined): name is CommandName {
  return name !== undefined && Object.hasOwn(COMMANDS, name);
}

/** The flags of a command, as its function takes them. */
export type Flags<Name extends CommandName> = FlagValues<(typeof COMMANDS)[Name]['flags'][number]>;

/** The formats of a command that has -o. */
export type OutputFormat<Name extends CommandName> = (typeof COMMANDS)[Name] extends {
  readonly formats: readonly (infer F extends Format)[];
}
  ? F
  : never;

/** Returns how the help of a command explains one of its flags; null for a flag that the help leaves out. */
export function aboutFlag(command: CommandName, flag: FlagName): string | null {
  const { about = {}, formats } = commandEntry(command);
  if (flag === '--output' && formats !== undefined)
    return `${formats.slice(0, -1).join(', ')} or ${formats.at(-1)}, to stdout or to a file; repeatable`;
  const own = about[flag];
  return own === undefined ? flagSpec(flag).about : own;
}
