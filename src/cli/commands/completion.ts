import { choicesHint } from '../../model/suggest.ts';
import { COMMANDS } from '../command-table.ts';
import { SHELLS } from '../completion/choices.ts';
import { completionScript } from '../completion/completion-script.ts';
import { environmentNames } from '../completion/environment-names.ts';
import { optionsFrom, usage, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure, write } from '../reporter.ts';

/** `setpoint completion bash`: prints the script; with the hidden --list, what only the settings file can tell, or nothing. */
export async function completionCommand(flags: Flags, io: Io, name = ''): Promise<number> {
  try {
    if (flags.list !== undefined) {
      for (const word of listed(flags.list, flags, io)) await write(io.stdout, `${word}\n`);
      return 0;
    }
    const shell = SHELLS.find((known) => known === name);
    if (shell === undefined) {
      throw usage('completion needs the name of a shell.', choicesHint(name, SHELLS));
    }
    await write(io.stdout, completionScript(shell, COMMANDS));
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Silent where something is wrong: the line is not written to its end yet. */
function listed(what: string, flags: Flags, io: Io): readonly string[] {
  try {
    return what === 'environments' ? environmentNames(optionsFrom(flags, io, 'reads')) : [];
  } catch {
    return [];
  }
}
