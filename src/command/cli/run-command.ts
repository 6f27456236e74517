import { asSetpointError } from '../../reconciler/model/error.ts';
import { commandLine } from './command-line.ts';
import { isCommand } from './command-table.ts';
import type { choices } from './completion/choices.ts';
import type { Io } from './io.ts';
import { reportFailure } from './reporter.ts';
import { startCommand } from './start-command.ts';

/** Parses a command line and runs its command. A command line that is not valid is a usage error, and nothing is sent. */
export async function runCommand(argv: readonly string[], given: Io): Promise<number> {
  const [command] = argv;
  const io = isCommand(command) ? { ...given, command } : given;
  const line = commandLine(argv);
  if (line === null) {
    const { runAnyLine } = await import('./usage.ts');
    return runAnyLine(argv, io);
  }
  try {
    return await startCommand(line.name, line.flags as never, line.args, io);
  } catch (thrown) {
    return reportFailure(asSetpointError(thrown), line.flags, io);
  }
}

/** Loads the words for completion that take more than the table of commands. */
export async function loadChoices(): Promise<typeof choices> {
  return (await import('./completion/choices.ts')).choices;
}
