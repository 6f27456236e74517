import { getInput } from '@actions/core';
import type { Diagnostic } from '../../reconciler/model/diagnostic.ts';
import { RULES, type Refusal } from '../../reconciler/model/guard.ts';
import { type ErrorReport, usageError } from '../../reconciler/model/error.ts';
import { choicesHint } from '../../reconciler/model/wording.ts';
import { parseAge, parseShard } from '../../reconciler/operations/flag-values.ts';

const COMMANDS = ['validate', 'plan', 'apply', 'drift'] as const;
export type Command = (typeof COMMANDS)[number];

/** How the text of an input is read; undefined if it has none. */
const FORMS = {
  text: (_: string, given: string) => given || undefined,
  /** One a line, or several separated by commas. */
  list: (_: string, given: string): readonly string[] | undefined => {
    const named = given.split(/[\n,]/).map((entry) => entry.trim());
    const entries = named.filter((entry) => entry !== '');
    return entries.length === 0 ? undefined : [...new Set(entries)];
  },
  flag: (name: string, given: string): boolean => {
    const word = given.toLowerCase();
    if (word === '' || word === 'false') return false;
    if (word === 'true') return true;
    throw usageError(`The input ${name} must be true or false.`, 'Write one of the two.');
  },
  /** On unless it is false. */
  switch: (name: string, given: string): boolean => given === '' || FORMS.flag(name, given),
  /** `dry-run` only prints what would be written. */
  trial: (name: string, given: string): boolean | 'dry-run' =>
    given === 'dry-run' ? given : FORMS.flag(name, given),
  age: (name: string, given: string) =>
    given === '' ? undefined : parseAge(`The input ${name}`, given),
  shard: (name: string, given: string) =>
    given === '' ? undefined : parseShard(`The input ${name}`, given),
};

interface InputSpec {
  readonly form: keyof typeof FORMS;
  /** The commands that take it, if not all do. */
  readonly by?: readonly Command[];
  /** The flags in messages of the command line that it stands for, as a pattern; absent if it is the flag of the same name. */
  readonly flag?: string;
}

const PLANNING: readonly Command[] = ['plan', 'apply', 'drift'];
const WRITING: readonly Command[] = ['plan', 'apply'];

/** The inputs of the step, its `with:`. */
export const INPUTS = {
  command: { form: 'text' },
  files: { form: 'list', flag: '-f' },
  environments: { form: 'list', by: PLANNING, flag: '(?:-e|--env)(?: NAME)?' },
  selector: { form: 'text', by: PLANNING, flag: '-l' },
  shard: { form: 'shard', by: PLANNING },
  all: { form: 'flag', by: PLANNING },
  plan: { form: 'text', by: WRITING },
  snapshot: { form: 'text', by: ['plan'] },
  'max-age': { form: 'age', by: ['plan'] },
  'snapshot-out': { form: 'text', by: PLANNING },
  base: { form: 'text', by: PLANNING },
  policy: { form: 'text', by: PLANNING },
  rotate: { form: 'list', by: WRITING },
  without: { form: 'list', by: WRITING },
  only: { form: 'list', by: PLANNING },
  allow: { form: 'list', by: ['apply'] },
  strict: { form: 'flag', by: ['plan', 'drift'] },
  check: { form: 'flag', by: WRITING },
  'fail-on-drift': { form: 'flag', by: ['drift'] },
  'open-pull-request': { form: 'trial', by: ['drift'] },
  comment: { form: 'switch' },
  'working-directory': { form: 'text' },
  secrets: { form: 'text' },
  'github-token': { form: 'text' },
} as const satisfies Readonly<Record<string, InputSpec>>;

type InputName = keyof typeof INPUTS;

export type Inputs = {
  readonly [Name in InputName]: ReturnType<(typeof FORMS)[(typeof INPUTS)[Name]['form']]>;
} & { readonly command: Command };

const EXCLUDING: readonly (readonly [InputName, InputName, string])[] = [
  ['all', 'environments', 'Leave one of them out.'],
  ['all', 'selector', 'Leave one of them out.'],
  [
    'snapshot',
    'snapshot-out',
    'Leave one of them out: a plan against a snapshot reads no service.',
  ],
];

/** Throws a usage error if they are wrong, before anything is done. */
export function readInputs(): Inputs {
  const command = parseCommandInput(getInput('command'));
  const read = Object.entries<InputSpec>(INPUTS).map(([name, { form, by = COMMANDS }]) => {
    const given = getInput(name);
    if (!by.includes(command) && given !== '' && given !== 'false')
      throw usageError(`The command ${command} does not take the input ${name}.`, 'Leave it out.');
    return [name, FORMS[form](name, given)] as const;
  });
  const inputs = Object.fromEntries(read) as Inputs;
  for (const [one, other, hint] of EXCLUDING)
    if (inputs[one] !== undefined && inputs[one] !== false && inputs[other] !== undefined)
      throw usageError(`The inputs ${one} and ${other} exclude each other.`, hint);
  return inputs;
}

function parseCommandInput(name: string): Command {
  const command = COMMANDS.find((known) => known === name);
  if (command !== undefined) return command;
  throw usageError('The input command does not name a command.', choicesHint(name, COMMANDS));
}

/** The flags of messages, each with the words of a step for it, in the order of replacement. */
const WORDS: readonly (readonly [flag: RegExp, words: string])[] = [
  [new RegExp(`--allow (${RULES.join('|')})(?![\\w-])`, 'g'), 'the input allow: $1'],
  ...Object.entries<InputSpec>(INPUTS).map(
    ([name, { flag = `--${name}` }]) =>
      [new RegExp(`(?<![\\w-])${flag}(?![\\w-])`, 'g'), `the input ${name}`] as const,
  ),
  // No input raises the limit.
  [
    /Raise the limit with --max-file-size[^.]*\./g,
    'Split it into several files, and name them in the input files.',
  ],
  [/^the input/g, 'The input'],
];

/** A sentence written for the command line, with the inputs of a step instead of flags. */
export function inInputs(text: string): string {
  return WORDS.reduce((all, [flag, words]) => all.replace(flag, words), text);
}

/** Returns problems of settings files with the same replacement. */
export function problemsInInputs(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((one) => ({ ...hintInInputs(one), message: inInputs(one.message) }));
}

interface Hinting {
  readonly error: ErrorReport | null;
  readonly refusals: readonly Refusal[];
}

/** A document for readers of a step: the hints of its errors and refusals, and the ways, name inputs instead of flags. */
export function hintsInInputs<E extends Hinting, D extends { readonly environments: readonly E[] }>(
  document: D & { readonly environments: readonly E[] },
): D {
  const environments = document.environments.map((environment) => {
    const { error, refusals } = environment;
    return {
      ...environment,
      error: error === null ? null : hintInInputs(error),
      refusals: refusals.map(hintInInputs),
      inputs: true,
    };
  });
  return { ...document, environments };
}

function hintInInputs<T extends { readonly hint: string }>(hinting: T): T {
  return { ...hinting, hint: inInputs(hinting.hint) };
}
