import { getInput } from '@actions/core';
import { SetpointError } from '../model/error.ts';
import { didYouMean } from '../model/suggest.ts';

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
  readonly observed: string | null;
  readonly look: string | null;
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
  observed: ['plan'],
  look: ['plan', 'drift'],
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
    throw usage('all and environments exclude each other.', 'Leave one of them out.');
  }
  const [observed, look] = [text('observed'), text('look')];
  if (observed !== null && look !== null) {
    throw usage('A plan against a saved look takes no new one.', 'Leave out observed, or look.');
  }
  return {
    command,
    files: list('files'),
    environments,
    all,
    plan: text('plan'),
    observed,
    look,
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
  const hint = didYouMean(asked, COMMANDS) || `There is ${COMMANDS.join(', ')}.`;
  throw usage('The input command does not name a command.', hint);
}

function text(name: string): string | null {
  return getInput(name) || null;
}

/** One a line, or several apart by commas. */
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

function usage(message: string, hint: string): SetpointError {
  return new SetpointError('usage', message, { hint });
}
