import { CommanderError } from 'commander';
import type { Flags } from './flags.ts';
import type { Io } from './io.ts';
import { buildProgram, usageError } from './program.ts';

/** Understands a command line and runs its command. What is not understood is a usage error, and nothing is sent. */
export async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const end = (ended: number): void => {
    code = ended;
  };
  const program = buildProgram(io, end, argv[0]);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const { reportFailure } = await import('./reporter.ts');
    return reportFailure(usageError(thrown, argv), { output: formatsIn(argv) }, io);
  }
}

/** The -o flags of a command line that may not have been understood as a whole. */
function formatsIn(argv: readonly string[]): NonNullable<Flags['output']> {
  return argv.flatMap((argument, index) => {
    if (argument === '-o' || argument === '--output') return argv[index + 1] ?? [];
    return /^--output=(.*)$/.exec(argument)?.[1] ?? /^-o=?(.+)$/.exec(argument)?.[1] ?? [];
  });
}
