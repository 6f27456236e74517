import { Option } from 'commander';
import { RULES } from '../model/guard.ts';
import type { Flags } from './flags.ts';
import { formatsFor } from './formats.ts';
import type { Io } from './io.ts';

/** A command's work: returns its exit code. Loaded when the command is run, so that nothing else is. */
export type Run = (flags: Flags, io: Io, ...args: readonly string[]) => Promise<number>;

export interface CommandEntry {
  /** The name, and the argument it takes. */
  readonly spec: string;
  readonly summary: string;
  readonly example: string;
  readonly flags: readonly (() => Option)[];
  readonly load: () => Promise<Run>;
}

const FILE = () =>
  repeatable('-f, --file <path>', 'settings file, repeatable (default: settings.yaml)');
const ENV = () => repeatable('-e, --env <name>', 'environment, repeatable or comma-separated');
const ALL = () => new Option('--all', 'all environments');
const OUTPUT = (command: string) => () => {
  const formats = formatsFor(command);
  const listed = `${formats.slice(0, -1).join(', ')} or ${formats.at(-1)}`;
  return repeatable(
    '-o, --output <format[=file]>',
    `${listed}, to stdout or to a file; repeatable`,
  );
};
const OUT = () => repeatable('--out <file>', 'the same as -o json=FILE');
const SERVER = () => new Option('--server <url>', "an address in place of the file's");
const TIMEOUT = () => new Option('--timeout <time>', 'for one request (default: 30s)');
const WAIT = () =>
  new Option('--wait <time>', 'for sandboxes to run, or a conversation to start (default: 300s)');
const NO_WAIT = () => new Option('--no-wait', 'do not wait for sandboxes');
const MESSAGE = () => new Option('--message <text>', 'the first message of the conversation');
const PARALLEL = () =>
  new Option('--parallel <n>', 'environments in parallel (default: 8; apply: 1)');
const KEEP_GOING = () => new Option('--keep-going', 'go on with the next environment if one fails');
const ROTATE = () =>
  repeatable('--rotate <path>', 'write a secret again: its path, or all; repeatable');
const ALLOW = () =>
  repeatable('--allow <rule>', `lift a guard for this run: ${RULES.join(', ')}; repeatable`);
const EXIT_CODE = () =>
  new Option('--exit-code', 'exit 2 if there are differences, 5 if a guard would refuse them');
const DETAILED = () => new Option('--detailed-exitcode', 'the same as --exit-code').hideHelp();
const STRICT = () => new Option('--strict', 'count what could not be compared as drift');
const BASE = () =>
  new Option('--base <file>', 'the file as last applied, to tell drift from edits');
const OBSERVED = () =>
  new Option('--snapshot <snapshot.json>', 'plan against a saved snapshot, without a key');
const MAX_AGE = () => new Option('--max-age <age>', 'refuse an older snapshot');
const DOTENV = () =>
  new Option('--dotenv <file>', 'read variables from FILE (existing ones win); refused in CI');
const OFFLINE = () => new Option('--offline', 'read no service: only the files and the schema');
const POLICY = () =>
  new Option('--policy <file>', 'JSON Schema that the declared settings must fit');
const FAIL_ON = () =>
  new Option('--fail-on <what>', 'exit 2 for drift, pending or any difference (default: any)');
const DRY_RUN = () => new Option('--dry-run', 'show the plan and stop; sends only GET');
const YES = () => new Option('-y, --yes', 'do not ask');
const FILE_SIZE = () =>
  new Option('--max-file-size <size>', 'for a settings file (default: 1MiB, at most 16MiB)');
const NO_COLOR = () => new Option('--no-color', 'no colour (NO_COLOR and FORCE_COLOR work too)');
const QUIET = () => new Option('-q, --quiet', 'no text, only errors');
const VERBOSE = () => new Option('-v, --verbose', 'long values and unmanaged paths in full');

const shownBy = (command: string) => [OUTPUT(command), OUT, NO_COLOR, QUIET, VERBOSE];
const PLANNED = [BASE, POLICY, ROTATE, ALLOW];
const TARGETS = [FILE, ENV, ALL, SERVER, TIMEOUT, PARALLEL, FILE_SIZE, DOTENV];

export const COMMANDS: readonly CommandEntry[] = [
  {
    spec: 'validate',
    summary: 'Check settings.yaml, offline: schema, form of references, rules across fields',
    example: 'setpoint validate -f settings.yaml',
    flags: [FILE, ENV, FILE_SIZE, ...shownBy('validate')],
    load: async () => (await import('./commands/validate.ts')).validateCommand,
  },
  {
    spec: 'plan [plan.json]',
    summary: 'Show what an apply would change; sends only GET; with a saved plan, show that',
    example: 'setpoint plan -e staging --exit-code',
    flags: [...TARGETS, OBSERVED, MAX_AGE, ...PLANNED, EXIT_CODE, DETAILED, ...shownBy('plan')],
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    spec: 'apply [plan.json]',
    summary:
      'Make the service equal to the file, and verify that it is; with a saved plan, only what it approves',
    example: 'setpoint apply -e production --yes',
    flags: [...TARGETS, YES, DRY_RUN, KEEP_GOING, WAIT, NO_WAIT, ...PLANNED, ...shownBy('apply')],
    load: async () => (await import('./commands/apply.ts')).applyCommand,
  },
  {
    spec: 'drift',
    summary:
      'Check whether the service was changed behind the file: exit 2 if it was; sends only GET',
    example: 'setpoint drift --all -o json',
    flags: [...TARGETS, BASE, POLICY, FAIL_ON, STRICT, ...shownBy('drift')],
    load: async () => (await import('./commands/drift.ts')).driftCommand,
  },
  {
    spec: 'pull',
    summary:
      "Bring the service's values into the file: comments, order and references stay; sends only GET",
    example: 'setpoint pull -e staging --check',
    flags: [
      ...TARGETS,
      () =>
        repeatable('--adopt <path>', 'import what is not managed: its path, or all; repeatable'),
      () => new Option('--check', 'show the patch and write nothing; exit 2 if there is one'),
      () => new Option('--force', 'edit a file that has changes git has not committed'),
      ...shownBy('pull'),
    ],
    load: async () => (await import('./commands/pull.ts')).pullCommand,
  },
  {
    spec: 'init',
    summary:
      'Write a first settings.yaml from a service, or add an environment to one; sends only GET',
    example: 'SETPOINT_API_KEY=... setpoint init --server https://agents.example.com',
    flags: [FILE, ENV, SERVER, TIMEOUT, FILE_SIZE, DOTENV, ...shownBy('init')],
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    spec: 'get <what>',
    summary: 'Show what the service has, masked: settings, sandboxes, specs, conversations',
    example: 'setpoint get sandboxes,conversations -e staging',
    flags: [...TARGETS, ...shownBy('get')],
    load: async () => (await import('./commands/get.ts')).getCommand,
  },
  {
    spec: 'explain [path]',
    summary:
      'Show what a field is, where its value comes from and what apply would do; without a path, the effective file',
    example: 'setpoint explain llm_api_key -e production',
    flags: [...TARGETS, OFFLINE, ...shownBy('explain')],
    load: async () => (await import('./commands/explain.ts')).explainCommand,
  },
  {
    spec: 'doctor',
    summary:
      'Check this machine, the files and, per environment, reach, key and clock; sends only GET',
    example: 'setpoint doctor -e production',
    flags: [...TARGETS, ...shownBy('doctor')],
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    spec: 'smoke',
    summary: 'Start a conversation and follow it until it is ready; costs a call to the model',
    example: 'setpoint smoke -e staging --message "Say hello."',
    flags: [...TARGETS, MESSAGE, YES, WAIT, ...shownBy('smoke')],
    load: async () => (await import('./commands/smoke.ts')).smokeCommand,
  },
  {
    spec: 'comment <saved.json...>',
    summary:
      'Post saved plans as comments on a GitHub pull request: one for each environment, kept up to date',
    example: 'setpoint comment plan.json --pr 42',
    flags: [
      () => new Option('--pr <number>', 'the pull request (default: that of GITHUB_EVENT_PATH)'),
      QUIET,
    ],
    load: async () => (await import('./commands/comment.ts')).commentCommand,
  },
  {
    spec: 'serve',
    summary: 'Run the embedded service, for a laptop or a test; it runs no agents',
    example: 'setpoint serve --port 3000 --data dev-store.json',
    flags: [
      () => new Option('--port <n>', 'port; 0 takes a free one').default('3000'),
      () => new Option('--host <address>', 'address to listen on').default('127.0.0.1'),
      () => new Option('--data <file>', 'keep the store in a file; in memory without it'),
      () => new Option('--api-key <key>', 'require this key (also SESSION_API_KEY)'),
      () => new Option('--server-mcp <file>', 'JSON with mcp entries that the server owns'),
      () => repeatable('--allow-host <name>', 'answer to this Host too; repeatable'),
      () => new Option('--start-ms <n>', 'milliseconds that a sandbox is STARTING (default: 500)'),
      () =>
        new Option(
          '--becomes <state>',
          'the state that a started sandbox reaches: running, flapping, starting, error or missing (default: running)',
        ),
      () =>
        new Option(
          '--max-running <n>',
          'pause the oldest sandboxes if more would run (default: none)',
        ),
      () =>
        new Option(
          '--empty-lists <n>',
          'answer the first n lists of sandboxes as empty (default: 0)',
        ),
      () => new Option('--page-size <n>', 'the most items on a page (default: 100)'),
      () => new Option('--require-ids', 'list conversations only by their ids, as real servers do'),
      () => new Option('--run-ms <n>', 'milliseconds that an initial message runs (default: 2000)'),
      () => repeatable('--spec <id>', 'a sandbox spec, the first is the default; repeatable'),
    ],
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    spec: 'schema [name]',
    summary: 'Print a JSON Schema: settings, plan, outcome, validation, observed and others',
    example: 'setpoint schema > settings.schema.json',
    flags: [],
    load: async () => (await import('./commands/schema.ts')).schemaCommand,
  },
  {
    spec: 'completion [shell]',
    summary: 'Print a script that completes commands, flags and names, for bash, zsh or fish',
    example: 'source <(setpoint completion bash)',
    flags: [
      () => new Option('--list <what>', 'what a script asks for').hideHelp(),
      () => FILE().hideHelp(),
    ],
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
  {
    spec: 'version',
    summary: 'Print the version',
    example: 'setpoint version -o json',
    flags: [OUTPUT('version')],
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
];

function repeatable(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}
