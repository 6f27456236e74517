import { join } from 'node:path';
import { loadCompiled } from './compiled.ts';
import { HELP } from './help.gen.ts';
import type { Io } from './io.ts';

/** Runs one command line (without node and script); resolves with its exit code. Nothing of the process is touched but `io`. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  if (
    argv.length === 0 ||
    (argv.length === 1 && (first === '--help' || first === '-h' || first === 'help'))
  ) {
    io.stdout.write(HELP);
    return argv.length === 0 ? USAGE : 0;
  }
  loadCompiled(join(import.meta.dirname, 'chunks/commands.cjs'));
  const { runCommand } = await import('./run-command.ts');
  return runCommand(argv, io);
}

/** Nothing was asked for. */
const USAGE = 3;
