import {
  aboutFlag,
  COMMAND_NAMES,
  commandEntry,
  isCommand,
  type CommandName,
} from '../command-table.ts';
import { flagSpec, type Completion, type FlagName } from '../flag-table.ts';
import type { Io } from '../io.ts';
import type * as RunCommand from '../run-command.ts';
import type { listWordChoices } from './choices.ts';

/**
 * `setpoint completion --complete SHELL WORD...`, which the scripts of scripts.ts call at each Tab. The words are those of the
 * line after `setpoint`; the last one is at the cursor, possibly empty. Prints what it can become, a line each: for zsh and fish
 * the whole word, a tab and its description; for bash the part behind the last `=` or `:`, where bash begins a word. A line
 * `:files N` means files, whose names begin after N characters of the word. Prints nothing if anything is wrong.
 */
export async function complete(
  [shell, ...parts]: readonly string[],
  io: Io,
  loadCommands: () => Promise<Pick<typeof RunCommand, 'loadChoices'>>,
): Promise<number> {
  const choices: Choices = async (what, files) => {
    const { loadChoices } = await loadCommands();
    return (await loadChoices())(what, files, io);
  };
  try {
    const { words, cut } = shell === 'bash' ? rejoinWords(parts) : { words: parts, cut: 0 };
    const offers = await offersFor(words, choices);
    const lines = offers.map((offer) => {
      if ('filesAfter' in offer) return `:files ${offer.filesAfter}`;
      const { word, about } = offer;
      return shell === 'bash' ? word.slice(cut) : `${word}\t${about}`;
    });
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  } catch {
    // The line is not finished: what is wrong with it shows when it runs.
  }
  return 0;
}

/** bash splits words at `=` and `:`. `cut` is where its last part begins in the last word. */
function rejoinWords(parts: readonly string[]): { readonly words: string[]; readonly cut: number } {
  const words: string[] = [];
  let cut = 0;
  let open = false;
  for (const part of parts) {
    const separates = /^[=:]+$/.test(part) && words.length > 0;
    const last = words.at(-1) ?? '';
    if (separates || open) {
      words[words.length - 1] = `${last}${part}`;
      cut = separates ? last.length + part.length : last.length;
    } else {
      words.push(part);
      cut = 0;
    }
    open = separates;
  }
  return { words, cut };
}

/** The words that take more than the table of commands; the commands are loaded for them, and given to `complete` to load. */
type Choices = (
  what: Parameters<typeof listWordChoices>[0],
  files: readonly string[],
) => Promise<readonly string[]>;

type Offer = { readonly word: string; readonly about: string } | { readonly filesAfter: number };

/** The meaning of the words before the cursor. */
interface CommandLine {
  readonly command: CommandName | 'help' | null;
  /** The number of arguments of the command. */
  readonly args: number;
  readonly given: ReadonlySet<FlagName>;
  /** The flag whose value is at the cursor. */
  readonly flag: FlagName | null;
  /** The values of --file. */
  readonly files: readonly string[];
}

async function offersFor(words: readonly string[], choices: Choices): Promise<readonly Offer[]> {
  const line = parseCommandLine(words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const { command, flag } = line;
  if (flag !== null) return completeText(flagSpec(flag).completion, current, '', line, choices);
  const [, name = '', value = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const valued = flagNamed(name, command);
  if (valued !== null && takesValue(valued))
    return completeText(flagSpec(valued).completion, value, `${name}=`, line, choices);
  if (current.startsWith('-')) return startingWith(current, flagOffers(line));
  if (command === null) return startingWith(current, COMMAND_OFFERS);
  if (command === 'help')
    return line.args > 0 ? [] : startingWith(current, COMMAND_OFFERS.slice(0, -1));
  const { argument } = commandEntry(command);
  if (argument === undefined) return [];
  if (line.args > 0 && !argument.form.includes('...')) return [];
  return completeText(argument.completion, current, '', line, choices);
}

function parseCommandLine(words: readonly string[]): CommandLine {
  let command: CommandLine['command'] = null;
  let args = 0;
  let flag: FlagName | null = null;
  const given = new Set<FlagName>();
  const files: string[] = [];
  for (const word of words) {
    if (flag !== null) {
      if (flag === '--file') files.push(word);
      flag = null;
    } else if (word.startsWith('-')) {
      const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
      const known = flagNamed(name, command);
      if (known === null) continue;
      given.add(known);
      if (value === undefined) flag = takesValue(known) ? known : null;
      else if (known === '--file') files.push(value);
    } else if (command !== null) args += 1;
    else if (isCommand(word) || word === 'help') command = word;
    else args += 1;
  }
  return { command, args, given, flag, files };
}

function flagNamed(name: string, command: CommandLine['command']): FlagName | null {
  if (command === null || command === 'help') return null;
  const { flags } = commandEntry(command);
  return flags.find((flag) => flag === name || flagSpec(flag).short === name) ?? null;
}

function takesValue(flag: FlagName): boolean {
  return flagSpec(flag).value !== undefined;
}

const COMMAND_OFFERS = [
  ...COMMAND_NAMES.map((name) => ({ word: name, about: commandEntry(name).summary })),
  { word: 'help', about: 'Show the help of a command' },
];

const HELP_FLAG = { forms: ['--help', '-h'], about: 'show the help' };
const VERSION_FLAG = { forms: ['--version', '-V'], about: 'print the version' };

/** A flag that was given already is offered again only if it is repeatable. */
function flagOffers({ command, given }: CommandLine): { word: string; about: string }[] {
  const flags = command === null || command === 'help' ? [] : commandEntry(command).flags;
  const named = flags.flatMap((flag) => {
    const { short, repeatable } = flagSpec(flag);
    const about = command === null || command === 'help' ? null : aboutFlag(command, flag);
    if (about === null || (given.has(flag) && repeatable !== true)) return [];
    return [{ forms: short === undefined ? [flag] : [flag, short], about }];
  });
  return [...named, HELP_FLAG, ...(command === null ? [VERSION_FLAG] : [])].flatMap(
    ({ forms, about }) => forms.map((word) => ({ word, about })),
  );
}

function startingWith(
  text: string,
  offers: readonly { word: string; about: string }[],
): readonly Offer[] {
  return offers.filter(({ word }) => word.startsWith(text));
}

/** Returns the completions of a text. `before` is the part of the word that precedes it, such as `--env=`. */
async function completeText(
  completion: Completion | undefined,
  text: string,
  before: string,
  { command, files }: CommandLine,
  choices: Choices,
): Promise<readonly Offer[]> {
  if (completion === undefined) return [];
  const file = completion === 'formats' ? /^[^=]*=/.exec(text)?.[0] : '';
  if (completion === 'files' || (completion === 'formats' && file !== undefined))
    return [{ filesAfter: Array.from(`${before}${file}`).length }];
  const isList =
    completion === 'environments' ||
    completion === 'labels' ||
    (typeof completion === 'object' && completion.list);
  const earlier = isList ? (/^.*,/s.exec(text)?.[0] ?? '') : '';
  const given = new Set(earlier.split(','));
  const words = await wordsFor(completion, command, files, choices);
  return startingWith(
    `${before}${text}`,
    words
      .filter((word) => !given.has(word))
      .map((word) => ({ word: `${before}${earlier}${word}`, about: '' })),
  );
}

async function wordsFor(
  completion: Exclude<Completion, 'files'>,
  command: CommandLine['command'],
  files: readonly string[],
  choices: Choices,
): Promise<readonly string[]> {
  if (typeof completion === 'object') return completion.words;
  if (completion === 'formats')
    return command === null || command === 'help' ? [] : (commandEntry(command).formats ?? []);
  return choices(completion, files);
}
