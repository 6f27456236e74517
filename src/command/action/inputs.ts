import { getInput } from '@actions/core';
import type { Diagnostic } from '../../reconciler/model/diagnostic.ts';
import { RULES, type Refusal } from '../../reconciler/model/guard.ts';
import { type ErrorReport, usageError } from '../../reconciler/model/error.ts';
import type { Shard } from '../../reconciler/model/shard.ts';
import { choicesHint } from '../../reconciler/model/wording.ts';
import { parseAge, parseShard } from '../../reconciler/operations/flag-values.ts';

const COMMANDS = ['validate', 'plan', 'apply', 'drift'] as const;
export type Command = (typeof COMMANDS)[number];

/** The inputs of the step, its `with:`. Without a value, a list is undefined and a text is null. */
export interface Inputs {
  readonly command: Command;
  readonly files: readonly string[] | undefined;
  readonly environments: readonly string[] | undefined;
  readonly selector: string | null;
  readonly shard: Shard | undefined;
  readonly all: boolean;
  /** plan: where to write it; apply: the approved one. */
  readonly plan: string | null;
  readonly snapshot: string | null;
  readonly snapshotOut: string | null;
  /** plan: the highest age of the snapshot, in milliseconds. */
  readonly maxAge: number | undefined;
  readonly base: string | null;
  readonly policy: string | null;
  readonly rotate: readonly string[] | undefined;
  readonly without: readonly string[] | undefined;
  readonly only: readonly string[] | undefined;
  readonly allow: readonly string[] | undefined;
  /** plan, drift: what could not be compared counts. */
  readonly strict: boolean;
  /** plan, apply: have the service try what would change. */
  readonly check: boolean;
  readonly failOnDrift: boolean;
  /** drift: `dry-run` only prints what pull requests would write. */
  readonly openPullRequest: boolean | 'dry-run';
  readonly secrets: string | null;
  readonly comment: boolean;
  readonly token: string;
}

/** The inputs that only some commands take. With another command, one that is not empty is an error. */
const TAKEN_BY: Readonly<Record<string, readonly Command[]>> = {
  environments: ['plan', 'apply', 'drift'],
  selector: ['plan', 'apply', 'drift'],
  shard: ['plan', 'apply', 'drift'],
  all: ['plan', 'apply', 'drift'],
  plan: ['plan', 'apply'],
  snapshot: ['plan'],
  'max-age': ['plan'],
  'snapshot-out': ['plan', 'apply', 'drift'],
  base: ['plan', 'apply', 'drift'],
  policy: ['plan', 'apply', 'drift'],
  rotate: ['plan', 'apply'],
  without: ['plan', 'apply'],
  only: ['plan', 'apply', 'drift'],
  allow: ['apply'],
  strict: ['plan', 'drift'],
  check: ['plan', 'apply'],
  'fail-on-drift': ['drift'],
  'open-pull-request': ['drift'],
};

/** Throws a usage error if they are wrong, before anything is done. */
export function readInputs(): Inputs {
  const command = parseCommandInput(getInput('command'));
  for (const [name, commands] of Object.entries(TAKEN_BY)) {
    if (commands.includes(command) || ['', 'false'].includes(getInput(name))) continue;
    throw usageError(`The command ${command} does not take the input ${name}.`, 'Leave it out.');
  }
  const [all, environments, selector] = [
    flagInput('all'),
    readListInput('environments'),
    readTextInput('selector'),
  ];
  const chosen =
    environments === undefined ? (selector === null ? null : 'selector') : 'environments';
  if (all && chosen !== null) {
    throw usageError(`The inputs all and ${chosen} exclude each other.`, 'Leave one of them out.');
  }
  const [snapshot, snapshotOut] = [readTextInput('snapshot'), readTextInput('snapshot-out')];
  if (snapshot !== null && snapshotOut !== null) {
    throw usageError(
      'The inputs snapshot and snapshot-out exclude each other.',
      'Leave one of them out: a plan against a snapshot reads no service.',
    );
  }
  return {
    command,
    files: readListInput('files'),
    environments,
    selector,
    shard: shard('shard'),
    all,
    plan: readTextInput('plan'),
    snapshot,
    snapshotOut,
    maxAge: age('max-age'),
    base: readTextInput('base'),
    policy: readTextInput('policy'),
    rotate: readListInput('rotate'),
    without: readListInput('without'),
    only: readListInput('only'),
    allow: readListInput('allow'),
    strict: flagInput('strict'),
    check: flagInput('check'),
    failOnDrift: flagInput('fail-on-drift'),
    openPullRequest:
      getInput('open-pull-request') === 'dry-run' ? 'dry-run' : flagInput('open-pull-request'),
    secrets: readTextInput('secrets'),
    comment: flagInput('comment', true),
    token: getInput('github-token'),
  };
}

function parseCommandInput(name: string): Command {
  const command = COMMANDS.find((known) => known === name);
  if (command !== undefined) return command;
  const hint = choicesHint(name, COMMANDS);
  throw usageError('The input command does not name a command.', hint);
}

function readTextInput(name: string): string | null {
  return getInput(name) || null;
}

function age(name: string): number | undefined {
  const given = getInput(name);
  return given === '' ? undefined : parseAge(`The input ${name}`, given);
}

function shard(name: string): Shard | undefined {
  const given = getInput(name);
  return given === '' ? undefined : parseShard(`The input ${name}`, given);
}

/** One a line, or several separated by commas. */
function readListInput(name: string): readonly string[] | undefined {
  const entries = getInput(name).split(/[\n,]/);
  const named = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  return named.length === 0 ? undefined : [...new Set(named)];
}

function flagInput(name: string, otherwise = false): boolean {
  const given = getInput(name).toLowerCase();
  if (given === '') return otherwise;
  if (given === 'true' || given === 'false') return given === 'true';
  throw usageError(`The input ${name} must be true or false.`, 'Write one of the two.');
}

const ALLOWED_RULE = new RegExp(`--allow (${RULES.join('|')})(?![\\w-])`, 'g');

/** A sentence written for the command line, with the inputs of a step instead of flags. */
export function inInputs(text: string): string {
  const named = text
    .replaceAll(ALLOWED_RULE, 'the input allow: $1')
    .replaceAll(/(?<![\w-])(?:-e|--env)(?: NAME)?(?![\w-])/g, 'the input environments')
    .replaceAll(/(?<![\w-])-f(?![\w-])/g, 'the input files')
    .replaceAll(/(?<![\w-])-l(?![\w-])/g, 'the input selector')
    .replaceAll(
      /(?<![\w-])--(all|allow|base|max-age|check|policy|snapshot|rotate|strict|without|only)(?![\w-])/g,
      'the input $1',
    );
  return named.replace(NO_INPUT, SPLIT).replace(/^the input/, 'The input');
}

/** The hint about a limit that no input raises. */
const NO_INPUT = /Raise the limit with --max-file-size[^.]*\./;
const SPLIT = 'Split it into several files, and name them in the input files.';

/** Returns problems of settings files with the same replacement. */
export function problemsInInputs(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.map((one) => ({
    ...one,
    message: inInputs(one.message),
    hint: inInputs(one.hint),
  }));
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
