import { VERSION } from '../../reconciler/model/version.ts';
import { loadCommands } from './compiled.ts';
import { HELP } from './help.gen.ts';
import { write, type Io } from './io.ts';

/** Runs one command line (without node and script); resolves to its exit code. Nothing of the process is touched but `io`. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const text = await fixedText(argv);
  if (text !== undefined) {
    await write(io.stdout, text);
    return argv.length === 0 ? USAGE : 0;
  }
  // A shell waits for this at each Tab: the commands are not loaded for it.
  if (argv[0] === 'completion' && argv[1] === '--complete') {
    const { complete } = await import('./completion/complete.ts');
    return complete(argv.slice(2), io);
  }
  const { runCommand } = await loadCommands();
  return runCommand(argv, io);
}

/** The exit code of a command line without a command. */
const USAGE = 3;

/** What a command line prints that asks for help or the version and for nothing else: no command is loaded for it. */
async function fixedText([first = '--help', second, ...rest]: readonly string[]): Promise<
  string | undefined
> {
  if (rest.length > 0) return undefined;
  if (second === undefined) {
    if (isHelp(first) || first === 'help') return HELP;
    return ['version', '--version', '-V'].includes(first) ? `setpoint ${VERSION}\n` : undefined;
  }
  const name = first === 'help' ? second : first;
  if (first !== 'help' && !isHelp(second)) return undefined;
  const { COMMAND_HELP } = await import('./command-help.gen.ts');
  return Object.hasOwn(COMMAND_HELP, name) ? COMMAND_HELP[name] : undefined;
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}
