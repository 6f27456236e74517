import { parseArgs } from 'node:util';
import { commandEntry, isCommand, type CommandName } from './command-table.ts';
import { flagSpec, type FlagName } from './flag-table.ts';

/** A command line as commander reads it: `flags` has its names and defaults. */
export interface CommandLine {
  readonly name: CommandName;
  readonly flags: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly args: readonly string[];
}

/**
 * A command line that is valid and plain, read by Node's own parser: a command first, then its flags and arguments. Null for every
 * other one, which commander reads, because it takes longer to load than a settings file takes to be read.
 */
export function commandLine([name, ...words]: readonly string[]): CommandLine | null {
  if (!isCommand(name) || words.some(isUnusual)) return null;
  const { argument, flags } = commandEntry(name);
  const parsed = tokensOf(words, flags);
  if (parsed === null) return null;
  const args = parsed.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const { least, most } = countOf(argument?.form ?? '');
  if (args.length < least || args.length > most) return null;
  const values: Record<string, string | boolean | readonly string[]> = defaultsOf(flags);
  for (const token of parsed) {
    if (token.kind !== 'option') continue;
    const { attribute, on } = attributeOf(token.name);
    const before = values[attribute];
    const { repeatable } = flagSpec(`--${token.name}` as FlagName);
    if (token.value === undefined) values[attribute] = on;
    else if (repeatable === true)
      values[attribute] = [...(Array.isArray(before) ? before : []), token.value];
    else values[attribute] = token.value;
  }
  return { name, flags: values, args };
}

/** Words that the two parsers may understand in different ways. */
function isUnusual(word: string): boolean {
  return (
    word === '' || (word.startsWith('-') && !/^(-[A-Za-z]+|--[a-z][a-z-]*(=[^]+)?)$/.test(word))
  );
}

function tokensOf(words: readonly string[], flags: readonly FlagName[]) {
  // Node loads its parser when it is first asked for.
  if (words.length === 0) return [];
  const options = flags.map((flag) => {
    const { short, value, repeatable } = flagSpec(flag);
    const type: 'string' | 'boolean' = value === undefined ? 'boolean' : 'string';
    const form = { type, multiple: repeatable === true };
    return [flag.slice(2), short === undefined ? form : { ...form, short: short.slice(1) }];
  });
  try {
    return parseArgs({
      args: [...words],
      options: Object.fromEntries(options),
      allowPositionals: true,
      tokens: true,
    }).tokens;
  } catch {
    return null;
  }
}

/** How many arguments a form such as `[path]` or `<file...>` stands for. */
function countOf(form: string): { least: number; most: number } {
  if (form === '') return { least: 0, most: 0 };
  return { least: form.startsWith('<') ? 1 : 0, most: form.includes('...') ? Infinity : 1 };
}

/** `max-age` is `maxAge`; `no-wait` turns `wait` off. */
function attributeOf(flag: string): { attribute: string; on: boolean } {
  const off = flag.startsWith('no-');
  const word = off ? flag.slice('no-'.length) : flag;
  const attribute = word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { attribute, on: !off };
}

/** What is true unless a flag says otherwise, and the defaults of the table. */
function defaultsOf(flags: readonly FlagName[]): Record<string, string | boolean> {
  const values: Record<string, string | boolean> = {};
  for (const flag of flags) {
    const { attribute, on } = attributeOf(flag.slice(2));
    const { default: byDefault } = flagSpec(flag);
    if (byDefault !== undefined) values[attribute] = byDefault;
    const isOpposite = flags.some((one) => one === `--${flag.slice('--no-'.length)}`);
    if (!on && !isOpposite) values[attribute] = true;
  }
  return values;
}
