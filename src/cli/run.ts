import { join } from 'node:path';
import { loadCompiled } from './compiled.ts';
import { HELP } from './help.gen.ts';
import type { Io } from './io.ts';

/** Runs one command line (without node and script); resolves to its exit code. Nothing of the process is touched but `io`. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, second] = argv;
  if (
    argv.length === 0 ||
    (argv.length === 1 && (first === '--help' || first === '-h' || first === 'help'))
  ) {
    io.stdout.write(HELP);
    return argv.length === 0 ? USAGE : 0;
  }
  // A shell waits for this at each Tab: the commands are not loaded for it.
  if (first === 'completion' && second === '--complete') {
    const { complete } = await import('./completion/complete.ts');
    return complete(argv.slice(2), io);
  }
  loadCompiled(join(import.meta.dirname, 'chunks/commands.cjs'));
  const { runCommand } = await import('./run-command.ts');
  return runCommand(argv, io);
}

/** The exit code of a command line without a command. */
const USAGE = 3;
