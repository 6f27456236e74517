import { Command, CommanderError, type Option } from 'commander';
import { asSetpointError, type SetpointError } from '../model/error.ts';
import { VERSION } from '../model/version.ts';
import { choicesHint, didYouMean } from '../model/suggest.ts';
import { COMMANDS, type CommandEntry } from './command-table.ts';
import { EXIT_CODES } from './exit-codes-help.ts';
import { usage, type Flags } from './flags.ts';
import type { Io } from './io.ts';

const EXAMPLES = `Examples:
  $ setpoint validate
  $ setpoint plan -e staging
  $ setpoint apply -e production --yes
  $ setpoint drift -o json`;

/** The command line. `end` receives the exit code of the command that ran. Where `only` names a command, it alone is there. */
export function buildProgram(io: Io, end: (code: number) => void, only?: string): Command {
  const program = new Command('setpoint')
    .description(
      "Keeps the settings and sandboxes of an agent platform's service equal to a committed settings.yaml.",
    )
    .version(`setpoint ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} })
    .addHelpText('after', `\n${EXAMPLES}\n\n${EXIT_CODES}`);
  const named = COMMANDS.filter((entry) => nameOf(entry) === only);
  for (const entry of named.length > 0 ? named : COMMANDS) addCommand(program, entry, io, end);
  return program;
}

function addCommand(
  program: Command,
  entry: CommandEntry,
  io: Io,
  end: (code: number) => void,
): void {
  const command = program
    .command(entry.spec)
    .summary(entry.summary)
    .description(`${entry.summary}.`)
    .helpCommand(false)
    .addHelpText('after', `\nExample:\n  $ ${entry.example}\n\n${EXIT_CODES}`)
    .action(async () => {
      const run = await entry.load();
      end(await run(command.opts<Flags>(), io, ...command.args));
    });
  for (const flag of entry.flags) command.addOption(flag());
}

/** commander's refusal as a sentence of ours. What a person typed after a flag's = is not repeated: it may be a secret. */
export function usageError(thrown: unknown, argv: readonly string[]): SetpointError {
  if (!(thrown instanceof CommanderError)) return asSetpointError(thrown);
  const names = COMMANDS.map(nameOf);
  if (thrown.code === 'commander.help') {
    const word = argv[1] ?? '';
    return usage('No command of that name.', meantCommand(word) ?? choicesHint(word, names));
  }
  const [sentence = '', suggestion = ''] = thrown.message.replace(/^error: /, '').split('\n');
  const message = sentence.replace(/(--?[A-Za-z-]+)=.*(?=')/, '$1').replace(/\.$/, '');
  const entry = COMMANDS.find((known) => nameOf(known) === argv[0]);
  const flags = (entry?.flags ?? []).map((option) => option());
  const flag = /^unknown option '(--?[A-Za-z-]+)/.exec(message)?.[1] ?? null;
  const given = flags.find(({ long, short }) => flag !== null && (flag === long || flag === short));
  // A flag that is known and takes no value was given one.
  if (given !== undefined && flag !== null)
    return usage(`${flag} takes no value.`, `Write ${flag}, or leave it out.`);
  const unknown = message.startsWith('unknown command');
  const hint =
    (unknown ? meantCommand(argv[0] ?? '') : null) ??
    (flag === null ? null : meantFlag(flag, flags)) ??
    suggestion.replace(/^\((.*)\)$/, '$1');
  const help = `Run setpoint ${entry === undefined ? '' : `${nameOf(entry)} `}--help for ${entry === undefined ? 'the commands' : 'its flags'}.`;
  return usage(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`, hint === '' ? help : hint);
}

/** What other tools call a command, or a person might. */
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

/** What other tools call a flag, and what does the same here. */
const FLAGS_ELSEWHERE: Readonly<Record<string, string>> = {
  '--auto-approve': '--yes',
  '--approve': '--yes',
  '--force': '--yes',
  '--json': '-o json',
  '--format': '-o FORMAT',
  '--environment': '--env',
  '--target': '--env',
  '-t': '--env',
  '--config': '--file',
  '--url': '--server',
  '--detailed-exit-code': '--exit-code',
};

function meantCommand(word: string): string | null {
  const meant = Object.hasOwn(COMMANDS_ELSEWHERE, word) ? COMMANDS_ELSEWHERE[word] : undefined;
  return meant === undefined ? null : `Did you mean ${meant}?`;
}

/** Node reads `--env-file` anywhere on its command line, before setpoint does: it loads the file, NODE_OPTIONS included. */
const TAKEN_BY_NODE =
  'Use --dotenv FILE: Node reads --env-file for itself, before setpoint starts.';

function meantFlag(flag: string, flags: readonly Option[]): string | null {
  const long = flags.flatMap((option) => option.long ?? []);
  if (flag.startsWith('--env-file')) return TAKEN_BY_NODE;
  const elsewhere = Object.hasOwn(FLAGS_ELSEWHERE, flag) ? (FLAGS_ELSEWHERE[flag] ?? '') : '';
  const taken = long.includes(elsewhere.replace(/^-o .*/, '--output'));
  return taken ? `Did you mean ${elsewhere}?` : didYouMean(flag, long) || null;
}

function nameOf({ spec }: CommandEntry): string {
  return spec.split(' ')[0] ?? spec;
}
