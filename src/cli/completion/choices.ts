import { sandboxOutcomes } from '../../emulator/sandboxes/sandbox-outcome.ts';
import { plainPaths } from '../../desired/field-path.ts';
import { fields } from '../../model/field.ts';
import { RESOURCES } from '../../model/observed.ts';
import { RULES } from '../../model/guard.ts';
import { SCHEMAS } from '../commands/schema.ts';
import { formatsFor } from '../formats.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * What a flag or a command takes. `words`: one of them; `list`: several, comma-separated; `formats`: one of them,
 * or one with a file, FORMAT=FILE; `environments`: what the settings file names, asked for when it is completed; `text`:
 * anything.
 */
export type Choice =
  | { readonly kind: 'words' | 'list' | 'formats'; readonly words: readonly string[] }
  | { readonly kind: 'environments' | 'files' | 'text' };

/** What a flag of a command takes that takes a value: known by its name, else by the word for its value. */
export function flagChoice(command: string, long: string, value: string): Choice {
  switch (long) {
    case '--env':
      return { kind: 'environments' };
    case '--output':
      return { kind: 'formats', words: formatsFor(command) };
    case '--rotate':
      return words(['all', ...fieldNames(({ readable }) => !readable)]);
    case '--adopt':
      return words(['all', ...fieldNames(() => true)]);
    case '--allow':
      return words(RULES);
    case '--becomes':
      return words(sandboxOutcomes);
    default:
      return namesFile(value) ? { kind: 'files' } : { kind: 'text' };
  }
}

/** What a command takes as its argument; null where it takes none. */
export function argumentChoice(name: string, argument: string | undefined): Choice | null {
  switch (name) {
    case 'get':
      return { kind: 'list', words: RESOURCES };
    case 'explain':
      return words(plainPaths());
    case 'schema':
      return words(SCHEMAS);
    case 'completion':
      return words(SHELLS);
    default:
      if (argument === undefined) return null;
      return namesFile(argument) ? { kind: 'files' } : { kind: 'text' };
  }
}

function words(all: readonly string[]): Choice {
  return { kind: 'words', words: all };
}

function fieldNames(which: (field: ReturnType<typeof fields>[number]) => boolean): string[] {
  return fields()
    .filter(which)
    .map(({ name }) => name);
}

function namesFile(placeholder: string): boolean {
  return /file|path|\.json|\.yaml/i.test(placeholder);
}
