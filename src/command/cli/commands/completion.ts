import { usageError } from '../../../reconciler/model/error.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import type { Flags } from '../command-table.ts';
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { SHELLS } from '../words.ts';

/** `setpoint completion bash`: prints the script for a shell. */
export async function completionCommand(
  flags: Flags<'completion'>,
  io: Io,
  name = '',
): Promise<number> {
  try {
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined)
      throw usageError('completion needs the name of a shell.', choicesHint(name, SHELLS));
    await writeText(io.stdout, COMPLETION_SCRIPTS[shell]);
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
