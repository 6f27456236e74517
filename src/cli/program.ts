import { Command, CommanderError, Option } from 'commander';
import { asSetpointError } from '../model/error.ts';
import { VERSION } from '../model/version.ts';
import { usage, type Flags } from './flags.ts';
import type { Io } from './io.ts';
import { EXIT_CODES } from './exit-codes-help.ts';

/** A command's work: returns its exit code. Loaded when the command is run, so that help stays quick. */
type Run = (flags: Flags, io: Io, argument?: string) => Promise<number>;

type FlagName = keyof typeof FLAGS;

const FLAGS = {
  file: () => repeatable('-f, --file <path>', 'settings file, repeatable (default: settings.yaml)'),
  env: () => repeatable('-e, --env <name>', 'target or environment, repeatable'),
  all: () => new Option('--all', 'all targets'),
  output: () =>
    repeatable('-o, --output <format[=file]>', 'text or json, to stdout or to a file; repeatable'),
  out: () => new Option('--out <file>', 'the same as -o json=FILE'),
  server: () => new Option('--server <url>', "an address in place of the file's"),
  timeout: () => new Option('--timeout <time>', 'for one request (default: 30s)'),
  parallel: () => new Option('--parallel <n>', 'targets side by side'),
  keepGoing: () =>
    new Option('--keep-going', 'go on with the next target where one did not end well'),
  rotate: () => repeatable('--rotate <path>', 'write a secret anew: its path, or all; repeatable'),
  allow: () =>
    repeatable(
      '--allow <rule>',
      'lift a guard for this run: max-changes, lose-unreadable; repeatable',
    ),
  exitCode: () => new Option('--exit-code', 'exit 2 where there are differences'),
  detailedExitcode: () => new Option('--detailed-exitcode', 'the same as --exit-code').hideHelp(),
  strict: () => new Option('--strict', 'count what could not be compared as drift'),
  dryRun: () => new Option('--dry-run', 'show the plan and stop; sends only GET'),
  yes: () => new Option('-y, --yes', 'apply without asking'),
  maxFileSize: () =>
    new Option('--max-file-size <size>', 'for a settings file (default: 1MiB, at most 16MiB)'),
  color: () => new Option('--no-color', 'no colour (NO_COLOR and FORCE_COLOR work too)'),
  quiet: () => new Option('-q, --quiet', 'no text, only errors'),
  verbose: () => new Option('-v, --verbose', 'long values whole, and how many requests were sent'),
} as const;

const COMMON = [
  'file',
  'output',
  'maxFileSize',
  'color',
  'quiet',
  'verbose',
] as const satisfies FlagName[];
const READING = [
  ...COMMON,
  'env',
  'all',
  'out',
  'server',
  'timeout',
  'parallel',
] as const satisfies FlagName[];

/** The command line. `end` receives the exit code of the command that ran. */
export function buildProgram(io: Io, end: (code: number) => void): Command {
  const program = new Command('setpoint');
  program
    .description(
      "Keeps the settings of an agent platform's service equal to a committed settings.yaml.",
    )
    .version(`setpoint ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} })
    .addHelpText(
      'after',
      `\nExamples:\n  $ setpoint validate\n  $ setpoint plan -e staging\n  $ setpoint apply -e production --yes\n  $ setpoint drift -o json\n\n${EXIT_CODES}`,
    );
  const add = (
    spec: string,
    summary: string,
    flags: readonly FlagName[],
    example: string,
    load: () => Promise<Run>,
  ): Command => {
    const command = program
      .command(spec)
      .summary(summary)
      .description(`${summary}.`)
      .copyInheritedSettings(program)
      .helpCommand(false);
    for (const flag of flags) command.addOption(FLAGS[flag]());
    command.addHelpText('after', `\nExample:\n  $ ${example}\n\n${EXIT_CODES}`);
    command.action(async (...args: unknown[]) => {
      const run = await load();
      const [first] = command.processedArgs as (string | undefined)[];
      void args;
      end(await run(command.opts<Flags>(), io, first));
    });
    return command;
  };
  add(
    'validate',
    'Check settings.yaml, offline: schema, form of references, rules across fields',
    [...COMMON, 'out'],
    'setpoint validate -f settings.yaml',
    async () => (await import('./commands/validate.ts')).validateCommand,
  );
  add(
    'plan',
    'Show what an apply would change; sends only GET',
    [...READING, 'rotate', 'exitCode', 'detailedExitcode'],
    'setpoint plan -e staging --exit-code',
    async () => (await import('./commands/plan.ts')).planCommand,
  );
  add(
    'apply',
    'Make the service equal to the file, and verify that it is',
    [
      ...COMMON,
      'env',
      'all',
      'out',
      'server',
      'timeout',
      'parallel',
      'keepGoing',
      'rotate',
      'allow',
      'yes',
      'dryRun',
    ],
    'setpoint apply -e production --yes',
    async () => (await import('./commands/apply.ts')).applyCommand,
  );
  add(
    'drift',
    'Tell whether the service was changed behind the file: exit 2 where it was; sends only GET',
    [...READING, 'strict'],
    'setpoint drift --all -o json',
    async () => (await import('./commands/drift.ts')).driftCommand,
  );
  add(
    'get <what>',
    'Show what the service has, masked: get settings',
    READING,
    'setpoint get settings -e staging',
    async () => (await import('./commands/get.ts')).getCommand,
  );
  add(
    'serve',
    'Run the embedded service, for a laptop or a test; it runs no agents',
    [],
    'setpoint serve --port 3000 --data dev-store.json',
    async () => (await import('./commands/serve.ts')).serveCommand,
  )
    .option('--port <n>', 'port; 0 takes a free one', '3000')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <file>', 'keep the store in a file; in memory without it')
    .option('--api-key <key>', 'ask for this key (also SESSION_API_KEY)')
    .option('--server-mcp <file>', 'JSON with mcp entries that the server owns')
    .addOption(repeatable('--allow-host <name>', 'answer to this Host too; repeatable'));
  add(
    'schema [name]',
    'Print a JSON Schema: settings, plan, outcome, validation or observed',
    [],
    'setpoint schema > settings.schema.json',
    async () => (await import('./commands/schema.ts')).schemaCommand,
  );
  add(
    'version',
    'Print the version',
    ['output'],
    'setpoint version',
    async () => (await import('./commands/version.ts')).versionCommand,
  );
  return program;
}

/** commander's refusal as a sentence of ours. What a person typed after a flag's = is not repeated: it may be a secret. */
export function usageError(thrown: unknown): ReturnType<typeof asSetpointError> {
  if (!(thrown instanceof CommanderError)) return asSetpointError(thrown);
  const [sentence = '', suggestion = ''] = thrown.message.replace(/^error: /, '').split('\n');
  const message = sentence.replace(/(--?[A-Za-z-]+)=.*(?=')/, '$1');
  return usage(
    `${message.charAt(0).toUpperCase()}${message.slice(1)}.`.replace(/\.\.$/, '.'),
    suggestion.replace(/^\((.*)\)$/, '$1') || undefined,
  );
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser(
    (value: string, before: readonly string[] | undefined) => [...(before ?? []), value],
  );
}
