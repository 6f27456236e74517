import type { CommandEntry } from '../command-table.ts';
import { argumentChoice, flagChoice, type Choice } from './choices.ts';

export interface CompletedFlag {
  /** `--file`, and `-f` where there is a short form; the long one first. */
  readonly names: readonly string[];
  readonly description: string;
  /** Whether it may be given again. */
  readonly repeatable: boolean;
  /** What stands behind it; null where nothing does. */
  readonly takes: Choice | null;
}

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly CompletedFlag[];
  readonly argument: Choice | null;
}

/** What can be completed, as the table of commands says it; what the help hides is left out. */
export function completedCommands(commands: readonly CommandEntry[]): readonly CompletedCommand[] {
  const known = commands.map(completed);
  const names = known.map(({ name }) => name);
  const help: CompletedCommand = {
    name: 'help',
    summary: 'Show the help of a command',
    flags: [],
    argument: { kind: 'words', words: names },
  };
  return [...known, help];
}

export const HELP: CompletedFlag = {
  names: ['--help', '-h'],
  description: 'show the help',
  repeatable: false,
  takes: null,
};
export const VERSION: CompletedFlag = {
  names: ['--version', '-V'],
  description: 'print the version',
  repeatable: false,
  takes: null,
};

function completed({ spec, summary, flags }: CommandEntry): CompletedCommand {
  const [name = spec, argument] = spec.split(' ');
  return {
    name,
    summary,
    flags: [...flags.flatMap((flag) => completedFlag(name, flag())), HELP],
    argument: argumentChoice(name, argument),
  };
}

function completedFlag(
  command: string,
  option: ReturnType<CommandEntry['flags'][number]>,
): CompletedFlag[] {
  const { long, short, hidden, description, required, optional, flags } = option;
  if (hidden || typeof long !== 'string') return [];
  const value = /[<[](.*)[>\]]$/.exec(flags)?.[1] ?? '';
  return [
    {
      names: [long, ...(typeof short === 'string' ? [short] : [])],
      description,
      repeatable: option.parseArg !== undefined,
      takes: required || optional ? flagChoice(command, long, value) : null,
    },
  ];
}
