import { getInput } from '@actions/core';
import { SetpointError } from '../model/error.ts';
import { choicesHint } from '../model/suggest.ts';
import { parseAge } from '../operations/flag-values.ts';

const COMMANDS = ['validate', 'plan', 'apply', 'drift'] as const;
export type Command = (typeof COMMANDS)[number];

/** What the step says under `with:`. Lists are absent where nothing is named; texts are null. */
export interface Inputs {
  readonly command: Command;
  readonly files: readonly string[] | undefined;
  readonly environments: readonly string[] | undefined;
  readonly all: boolean;
  /** plan: where to write it; apply: the one that is approved. */
  readonly plan: string | null;
  readonly snapshot: string | null;
  readonly snapshotOut: string | null;
  /** plan: milliseconds that the saved snapshot may be old. */
  readonly maxAge: number | undefined;
  readonly base: string | null;
  readonly policy: string | null;
  readonly rotate: readonly string[] | undefined;
  readonly allow: readonly string[] | undefined;
  readonly failOnDrift: boolean;
  readonly secrets: string | null;
  readonly comment: boolean;
  readonly token: string;
}

/** The inputs that not every command takes; one that is not empty elsewhere is a mistake, and not ignored. */
const TAKEN_BY: Readonly<Record<string, readonly Command[]>> = {
  environments: ['plan', 'apply', 'drift'],
  all: ['plan', 'apply', 'drift'],
  plan: ['plan', 'apply'],
  snapshot: ['plan'],
  'max-age': ['plan'],
  'snapshot-out': ['plan', 'apply', 'drift'],
  base: ['plan', 'apply', 'drift'],
  policy: ['plan', 'apply', 'drift'],
  rotate: ['plan', 'apply'],
  allow: ['apply'],
  'fail-on-drift': ['drift'],
};

/** Throws a usage error where they are not right, before anything is done. */
export function readInputs(): Inputs {
  const command = commandFrom(getInput('command'));
  for (const [name, commands] of Object.entries(TAKEN_BY)) {
    if (commands.includes(command) || ['', 'false'].includes(getInput(name))) continue;
    throw usage(`The command ${command} does not take the input ${name}.`, 'Leave it out.');
  }
  const [all, environments] = [flag('all'), list('environments')];
  if (all && environments !== undefined) {
    throw usage('The inputs all and environments exclude each other.', 'Leave one of them out.');
  }
  const [snapshot, snapshotOut] = [text('snapshot'), text('snapshot-out')];
  if (snapshot !== null && snapshotOut !== null) {
    throw usage(
      'A plan against a saved snapshot saves no new one.',
      'Leave out snapshot, or snapshot-out.',
    );
  }
  return {
    command,
    files: list('files'),
    environments,
    all,
    plan: text('plan'),
    snapshot,
    snapshotOut,
    maxAge: age('max-age'),
    base: text('base'),
    policy: text('policy'),
    rotate: list('rotate'),
    allow: list('allow'),
    failOnDrift: flag('fail-on-drift'),
    secrets: text('secrets'),
    comment: flag('comment', true),
    token: getInput('github-token'),
  };
}

function commandFrom(asked: string): Command {
  const command = COMMANDS.find((known) => known === asked);
  if (command !== undefined) return command;
  const hint = choicesHint(asked, COMMANDS);
  throw usage('The input command does not name a command.', hint);
}

function text(name: string): string | null {
  return getInput(name) || null;
}

function age(name: string): number | undefined {
  const given = getInput(name);
  return given === '' ? undefined : parseAge(`The input ${name}`, given);
}

/** One a line, or several separated by commas. */
function list(name: string): readonly string[] | undefined {
  const entries = getInput(name).split(/[\n,]/);
  const named = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  return named.length === 0 ? undefined : [...new Set(named)];
}

function flag(name: string, otherwise = false): boolean {
  const asked = getInput(name).toLowerCase();
  if (asked === '') return otherwise;
  if (asked === 'true' || asked === 'false') return asked === 'true';
  throw usage(`The input ${name} is true or false.`, 'Write one of the two.');
}

/** A sentence for the command line in the words of a step: its inputs in place of flags. */
export function inInputs(text: string): string {
  const named = text
    .replaceAll(/(?<![\w-])(?:-e|--env)(?: NAME)?(?![\w-])/g, 'the input environments')
    .replaceAll(/(?<![\w-])-f(?![\w-])/g, 'the input files')
    .replaceAll(
      /(?<![\w-])--(all|allow|base|max-age|policy|snapshot|rotate)(?![\w-])/g,
      'the input $1',
    );
  return named.replace(/^the input/, 'The input');
}

function usage(message: string, hint: string): SetpointError {
  return new SetpointError('usage', message, { hint });
}
