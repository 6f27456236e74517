import { CommanderError, Command, Option } from 'commander';
import { asSetpointError, type SetpointError, usageError } from '../../reconciler/model/error.ts';
import { choicesHint } from '../../reconciler/model/wording.ts';
import {
  COMMAND_NAMES,
  commandEntry,
  isCommand,
  type CommandName,
  type Flags,
  aboutFlag,
} from './command-table.ts';
import type { listWordChoices } from './completion/choices.ts';
import { flagSpec, type FlagName } from './flag-table.ts';
import { commandMeant, findFormerVariable, flagMeant } from './words-elsewhere.ts';
import type { Io } from './io.ts';
import { reportFailure } from './reporter.ts';
import { endQuickly, findTracer } from '../../reconciler/host/this-process.ts';
import { VERSION } from '../../reconciler/model/version.ts';

/** Parses a command line and runs its command. A command line that is not valid is a usage error, and nothing is sent. */
export async function runCommand(argv: readonly string[], given: Io): Promise<number> {
  const [command] = argv;
  const io = isCommand(command) ? withCommand(given, command) : given;
  let code = 0;
  const take: TakeLine = async (name, flags, args) => {
    try {
      code = await startCommand(name, flags, args, io);
    } catch (thrown) {
      code = await reportFailure(asSetpointError(thrown), flags, io);
    }
  };
  try {
    const print = (text: string): void => void io.stdout.write(text);
    await buildProgram(print, take, argv).parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    return reportFailure(commandLineError(thrown, argv), { output: scanOutputFlags(argv) }, io);
  }
}

/** Returns the io with the command's name. A copy would open each stream too early; streams open at the first write. */
function withCommand(io: Io, command: CommandName): Io {
  return Object.create(io, { command: { value: command } }) as Io;
}

/** Loads the words for completion that take more than the table of commands. */
export async function loadChoices(): Promise<typeof listWordChoices> {
  return (await import('./completion/choices.ts')).listWordChoices;
}

/** The -o flags of a command line that may not be valid as a whole. */
function scanOutputFlags(argv: readonly string[]): readonly string[] {
  return argv.flatMap((argument, index) => {
    if (argument === '-o' || argument === '--output') return argv[index + 1] ?? [];
    return /^--output=(.*)$/.exec(argument)?.[1] ?? /^-o=?(.+)$/.exec(argument)?.[1] ?? [];
  });
}

/** commander's refusal in our words. A value that was typed after a flag's `=` is not repeated: it may be a secret. */
function commandLineError(thrown: unknown, argv: readonly string[]): SetpointError {
  if (!(thrown instanceof CommanderError)) return asSetpointError(thrown);
  if (thrown.code === 'commander.help') {
    const word = argv[1] ?? '';
    return usageError(
      'No command of that name.',
      commandMeant(word) ?? choicesHint(word, COMMAND_NAMES),
    );
  }
  const [sentence = '', suggestion = ''] = thrown.message.replace(/^error: /, '').split('\n');
  const message = sentence
    .replace(/(--?[A-Za-z-]+)=.*(?=')/, '$1')
    .replace(/argument missing$/, 'needs a value')
    .replace(/\.$/, '');
  const [name] = argv;
  const flags = isCommand(name) ? commandEntry(name).flags : [];
  const flag = /^unknown option '(--?[A-Za-z-]+)/.exec(message)?.[1] ?? null;
  const known = flags.find((one) => flag === one || flag === flagSpec(one).short);
  // commander calls a flag unknown that was given a value and takes none.
  if (known !== undefined)
    return usageError(`${flag} takes no value.`, `Write ${flag}, or leave it out.`);
  const unknown = message.startsWith('unknown command');
  const hint =
    (unknown ? commandMeant(name ?? '') : null) ??
    (flag === null ? null : flagMeant(flag, flags)) ??
    suggestion.replace(/^\((.*)\)$/, '$1');
  const help = isCommand(name)
    ? `Run setpoint ${name} --help for its flags.`
    : 'Run setpoint --help for the commands.';
  return usageError(
    `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    hint === '' ? help : hint,
  );
}

/** A command's work; resolves to its exit code. */
type RunCommand<Name extends CommandName> = (
  flags: Flags<Name>,
  io: Io,
  ...args: readonly string[]
) => Promise<number>;

/** Each command's function, loaded when it runs. */
const RUN: { readonly [Name in CommandName]: () => Promise<RunCommand<Name>> } = {
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  apply: async () => (await import('./commands/apply.ts')).applyCommand,
  drift: async () => (await import('./commands/drift.ts')).driftCommand,
  pull: async () => (await import('./commands/pull.ts')).pullCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  render: async () => (await import('./commands/render.ts')).renderCommand,
  get: async () => (await import('./commands/get.ts')).getCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  smoke: async () => (await import('./commands/smoke.ts')).smokeCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  comment: async () => (await import('./commands/comment.ts')).commentCommand,
  controller: async () => (await import('./commands/controller.ts')).controllerCommand,
  watch: async () => (await import('./commands/watch.ts')).watchCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  history: async () => (await import('./commands/history.ts')).historyCommand,
  suspend: async () => (await import('./commands/suspend.ts')).suspendCommand,
  resume: async () => (await import('./commands/suspend.ts')).resumeCommand,
  approve: async () => (await import('./commands/approve.ts')).approveCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  schema: async () => (await import('./commands/schema.ts')).schemaCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

/** Runs a command with flags and arguments that are its own; resolves to its exit code. */
async function startCommand(
  name: CommandName,
  flags: never,
  args: readonly string[],
  given: Io,
): Promise<number> {
  const former = findFormerVariable(given.env, commandEntry(name).flags);
  if (former !== null)
    throw usageError(
      `${former.name} is set, and setpoint reads it no more.`,
      `Unset it, and give ${former.flag} if the command needs it.`,
    );
  const run: (flags: never, io: Io, ...args: readonly string[]) => Promise<number> =
    await RUN[name]();
  const { file = [] } = flags as { readonly file?: readonly string[] | string };
  const io = [file].flat().includes('-')
    ? await (await import('./input.ts')).withSettings(name, flags, given)
    : given;
  // A command that sends requests has a time limit for them. V8 refuses the compiled form of what is loaded after this.
  if (!commandEntry(name).flags.includes('--timeout')) return run(flags, io, ...args);
  endQuickly();
  const tracer = await findTracer();
  try {
    const work = (): Promise<number> => run(flags, io, ...args);
    return await tracer.command(name, io.env, work, (code) => code);
  } finally {
    await tracer.flush(io.abandon);
  }
}

const EXAMPLES = `Examples:
  $ setpoint validate
  $ setpoint plan -e staging
  $ setpoint apply -e production --yes
  $ setpoint drift -o json`;

/** Takes a command line that is valid: the flags are those of the command, by their names and defaults in the table. */
type TakeLine = (name: CommandName, flags: never, args: readonly string[]) => Promise<void>;

/** The command line, made from the table of commands. If `line` names a command, what that line does not need is left out. */
export function buildProgram(
  print: (text: string) => void,
  take: TakeLine,
  line: readonly string[] = [],
): Command {
  const [only] = line;
  const program = new Command('setpoint')
    .description(
      'Keeps the settings, named items and sandboxes of an OpenHands server the same as a settings.yaml in git.',
    )
    .version(`setpoint ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command')
    .commandsGroup('Other:')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .addHelpText(
      'after',
      `\n${EXAMPLES}\n\nsetpoint COMMAND --help lists the flags and the exit codes of a command.`,
    );
  for (const { name, heading } of groupCommands(isCommand(only) ? [only] : COMMAND_NAMES))
    addCommand(program, name, heading, take, line);
  return program;
}

function addCommand(
  program: Command,
  name: CommandName,
  heading: string,
  take: TakeLine,
  line: readonly string[],
): void {
  const { argument, summary, example, exits } = commandEntry(name);
  const command = program
    .command(argument === undefined ? name : `${name} ${argument.form}`)
    .summary(summary)
    .description(`${summary}.`)
    .helpCommand(false)
    .helpGroup(heading)
    .addHelpText('after', `\nExample:\n  $ ${example}\n\n${exitCodesText(exits)}`)
    .action(() => take(name, command.opts<never>(), command.args));
  for (const { name: flag, heading: above } of groupFlags(selectNeededFlags(name, line)))
    command.addOption(createOption(name, flag, above));
}

/**
 * The flags of a command that a line needs: those that it has, and those that have a value without being given. A line with a word
 * that may be anything else needs all of them, for its help or for the message that refuses it.
 */
function selectNeededFlags(name: CommandName, line: readonly string[]): readonly FlagName[] {
  const { flags } = commandEntry(name);
  const [command, ...words] = line;
  if (command !== name) return flags;
  const given = words.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0]);
  const isGiven = (flag: FlagName): boolean =>
    given.some((word) => word === flag || word === flagSpec(flag).short);
  const found = flags.filter(isGiven);
  if (new Set(given).size > found.length) return flags;
  const hasValue = (flag: FlagName): boolean =>
    flagSpec(flag).default !== undefined ||
    flag.startsWith('--no-') ||
    flags.some((one) => one === `--no-${flag.slice(2)}`);
  return flags.filter((flag) => found.includes(flag) || hasValue(flag));
}

function createOption(command: CommandName, flag: FlagName, heading: string): Option {
  const { short, value, repeatable, default: byDefault } = flagSpec(flag);
  const forms = short === undefined ? flag : `${short}, ${flag}`;
  const about = aboutFlag(command, flag);
  const noun = commandEntry(command).takes?.[flag] ?? value;
  const option = new Option(noun === undefined ? forms : `${forms} <${noun}>`, about ?? '');
  option.helpGroup(heading);
  if (about === null) option.hideHelp();
  if (byDefault !== undefined) option.default(byDefault);
  if (repeatable === true)
    option.argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      text,
    ]);
  return option;
}

function exitCodesText(exits: Readonly<Record<number, string>>): string {
  const lines = Object.entries(exits).map(
    ([code, meaning]) => `  ${code === '130' ? '130, 143' : code} ${meaning}`,
  );
  return `Exit codes:\n${lines.join('\n')}`;
}

/* Under which headings the help lists commands and flags, in the order of the headings. */

const COMMAND_GROUPS: Groups<CommandName> = [
  ['Every day:', ['validate', 'plan', 'apply', 'drift', 'pull', 'init']],
  ['Look:', ['get', 'explain', 'doctor']],
  ['Controller:', ['watch', 'controller', 'status', 'history', 'suspend', 'resume']],
];

/** The flags that many commands have in common. What only a few take is between these, under `Options:`. */
const FLAG_GROUPS: Groups<FlagName> = [
  ['Which environments:', ['--file', '--env', '--selector', '--all', '--shard']],
  ['The service:', ['--server', '--dotenv', '--timeout', '--wait-ready']],
  [
    'Safety:',
    [
      '--yes',
      '--dry-run',
      '--if-empty',
      '--check',
      '--base',
      '--policy',
      '--without',
      '--only',
      '--allow',
    ],
  ],
];
const LAST_FLAGS: Groups<FlagName> = [
  ['Result:', ['--exit-code', '--fail-on', '--strict', '--output', '--out']],
  ['Text:', ['--no-color', '--quiet', '--verbose']],
  ['Limits:', ['--max-failures', '--parallel', '--max-file-size']],
];

type Groups<Name> = readonly (readonly [heading: string, names: readonly Name[]])[];

/** A name with its heading. */
interface NameWithHeading<Name> {
  readonly name: Name;
  readonly heading: string;
}

function groupCommands(names: readonly CommandName[]): readonly NameWithHeading<CommandName>[] {
  return groupNames(names, COMMAND_GROUPS, 'Other:', []);
}

function groupFlags(names: readonly FlagName[]): readonly NameWithHeading<FlagName>[] {
  return groupNames(names, FLAG_GROUPS, 'Options:', LAST_FLAGS);
}

/** Names in the order of their headings: under one heading they keep theirs. */
function groupNames<Name>(
  names: readonly Name[],
  first: Groups<Name>,
  rest: string,
  last: Groups<Name>,
): readonly NameWithHeading<Name>[] {
  const named = new Set([...first, ...last].flatMap(([, group]) => group));
  const others = names.filter((name) => !named.has(name));
  return [...first, [rest, others] as const, ...last].flatMap(([heading, group]) =>
    names.filter((name) => group.includes(name)).map((name) => ({ name, heading })),
  );
}
