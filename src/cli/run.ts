import { CommanderError } from 'commander';
import { exitCodeOf } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Io } from './io.ts';
import { buildProgram, usageError } from './program.ts';

/** Runs one command line (without node and script); resolves with its exit code. Nothing of the process is touched but `io`. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (ended) => {
    code = ended;
  });
  try {
    if (argv.length === 0) {
      program.outputHelp();
      return exitCodeOf({ code: 'usage', message: '', hint: '' });
    }
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const { reportFailure } = await import('./reporter.ts');
    return reportFailure(usageError(thrown), { output: formatsIn(argv) }, io);
  }
}

/** The -o flags of a command line that may not have been understood as a whole. */
function formatsIn(argv: readonly string[]): NonNullable<Flags['output']> {
  return argv.flatMap((argument, index) => {
    if (argument === '-o' || argument === '--output') return argv[index + 1] ?? [];
    return /^--output=(.*)$/.exec(argument)?.[1] ?? /^-o=?(.+)$/.exec(argument)?.[1] ?? [];
  });
}
