import { CommanderError } from 'commander';
import { asSetpointError, type SetpointError, usageError } from '../../reconciler/model/error.ts';
import { choicesHint, didYouMean } from '../../reconciler/model/wording.ts';
import { COMMAND_NAMES, commandEntry, isCommand } from './command-table.ts';
import type { choices } from './completion/choices.ts';
import { flagSpec, type FlagName } from './flag-table.ts';
import type { Io } from './io.ts';
import { buildProgram, type TakeLine } from './program.ts';
import { reportFailure } from './reporter.ts';
import { startCommand } from './start-command.ts';

/** Parses a command line and runs its command. A command line that is not valid is a usage error, and nothing is sent. */
export async function runCommand(argv: readonly string[], given: Io): Promise<number> {
  const [command] = argv;
  const io = isCommand(command) ? { ...given, command } : given;
  let code = 0;
  const take: TakeLine = async (name, flags, args) => {
    try {
      code = await startCommand(name, flags, args, io);
    } catch (thrown) {
      code = await reportFailure(asSetpointError(thrown), flags, io);
    }
  };
  try {
    await buildProgram(io.stdout, take, command).parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    return reportFailure(commandLineError(thrown, argv), { output: outputsIn(argv) }, io);
  }
}

/** Loads the words for completion that take more than the table of commands. */
export async function loadChoices(): Promise<typeof choices> {
  return (await import('./completion/choices.ts')).choices;
}

/** The -o flags of a command line that may not be valid as a whole. */
function outputsIn(argv: readonly string[]): readonly string[] {
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

/** The names of commands in other tools, and words that a person might try. */
const COMMANDS_ELSEWHERE: Readonly<Record<string, string>> = {
  lint: 'validate',
  check: 'validate',
  test: 'validate',
  preview: 'plan',
  diff: 'plan',
  up: 'apply',
  deploy: 'apply',
  sync: 'apply',
  refresh: 'drift',
  status: 'drift',
  import: 'pull',
  show: 'get',
  list: 'get',
};

/** The names of flags in other tools, and what does the same here. */
const FLAGS_ELSEWHERE: Readonly<Record<string, string>> = {
  '--auto-approve': '--yes',
  '--approve': '--yes',
  '--force': '--yes',
  '--json': '-o json',
  '--format': '-o FORMAT',
  '--environment': '--env',
  '--target': '--env',
  '-t': '--env',
  '--label': '--selector',
  '--labels': '--selector',
  '--config': '--file',
  '--url': '--server',
  '--detailed-exit-code': '--exit-code',
};

/** Node reads `--env-file` anywhere on its command line, before setpoint does: it loads the file, NODE_OPTIONS included. */
const TAKEN_BY_NODE =
  'Use --dotenv FILE: Node reads --env-file for itself, before setpoint starts.';

function commandMeant(word: string): string | null {
  const meant = Object.hasOwn(COMMANDS_ELSEWHERE, word) ? COMMANDS_ELSEWHERE[word] : undefined;
  return meant === undefined ? null : `Did you mean ${meant}?`;
}

function flagMeant(flag: string, flags: readonly FlagName[]): string | null {
  if (flag.startsWith('--env-file')) return TAKEN_BY_NODE;
  const elsewhere = Object.hasOwn(FLAGS_ELSEWHERE, flag) ? (FLAGS_ELSEWHERE[flag] ?? '') : '';
  const name = elsewhere.replace(/^-o .*/, '--output');
  return flags.some((one) => one === name)
    ? `Did you mean ${elsewhere}?`
    : didYouMean(flag, flags) || null;
}
