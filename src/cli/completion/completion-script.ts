import type { CommandEntry } from '../command-table.ts';
import { bashScript } from './bash-script.ts';
import type { Shell } from './choices.ts';
import { completedCommands } from './completed-commands.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** The script that teaches a shell to complete these commands. */
export function completionScript(shell: Shell, commands: readonly CommandEntry[]): string {
  return SCRIPTS[shell](completedCommands(commands));
}
