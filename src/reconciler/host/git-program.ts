import { dirname, basename } from 'node:path';
import type { Variables } from '../model/ports.ts';
import { realpathSync } from 'node:fs';
import { readRegular } from './read-text.ts';
import { runProgram, type ProgramAnswer, type ProgramCall } from './run-program.ts';

export type GitAnswer = ProgramAnswer;

export interface GitCall extends Omit<ProgramCall, 'variables'> {
  /** The folder that git works in: its `-C`. */
  readonly folder: string;
  readonly env: Variables;
  /** Variables of git itself. */
  readonly own?: Readonly<Record<string, string>>;
  /** The names of further variables that git gets of `env`; PATH and HOME it always gets. */
  readonly passed?: readonly string[];
}

/** For every call: no pager, no hook, no watcher, and no lock for the sake of a cache. */
const GLOBAL = [
  '--no-pager',
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];

/** For every call: words that can be read, no question, and no object but those that are there. */
const ALWAYS = {
  LC_ALL: 'C',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * Runs git so that neither a repository's configuration nor the caller's variables make it run code, ask, or work elsewhere. It may use
 * no protocol unless `own` allows one. What it says when it fails may hold addresses with passwords.
 */
export function runGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
  const { folder, env, own = {}, passed = [], ...limits } = call;
  const variables: Record<string, string> = { ...ALWAYS };
  for (const name of ['PATH', 'HOME', ...passed]) {
    const value = env[name];
    if (value !== undefined) variables[name] = value;
  }
  return runProgram('git', ['-C', folder, ...GLOBAL, ...args], {
    ...limits,
    variables: { ...variables, ...own },
  });
}

/** `none`: git is not installed, or the file is in no work tree. `unknown`: git failed. */
export type Uncommitted = 'clean' | 'changed' | 'none' | 'unknown';

const LARGEST_BLOB = 32 * 1024 * 1024;

/**
 * Whether a file has changes that are not committed. The checkout's own configuration must run no code, so git only prints what
 * its index and its last commit hold, which (unlike `status`) runs no filter, hook, alias or watcher; the comparison is made
 * here, and line ends do not count. git may use no protocol, so that no object is fetched. It runs without a shell, outside
 * the checkout, and gets only PATH and HOME of the environment.
 */
export async function uncommittedChanges(path: string, env: Variables): Promise<Uncommitted> {
  const real = realpathSync(path);
  const name = basename(real);
  const git = gitIn(dirname(real), env);
  const inside = await git('rev-parse', '--is-inside-work-tree');
  if (inside.kind === 'missing') return 'none';
  if (inside.kind === 'failed' && inside.words.includes('not a git repository')) return 'none';
  if (inside.kind !== 'done') return 'unknown';
  if (trimmedText(inside.output) !== 'true') return 'none';
  const listed = await git('ls-files', '--stage', '-z', '--', `:(literal)${name}`);
  if (listed.kind !== 'done') return 'unknown';
  const [entry, ...others] = trimmedText(listed.output)
    .split('\0')
    .filter((line) => line !== '');
  if (entry === undefined) return (await isIgnored(git, name)) ? 'clean' : 'changed';
  const staged = /^\d+ ([\da-f]+) 0\t/.exec(entry)?.[1];
  if (staged === undefined || others.length > 0) return 'changed';
  const committed = await git('ls-tree', '-z', 'HEAD', '--', `:(literal)${name}`);
  if (committed.kind !== 'done') return 'changed';
  if (/^\d+ blob ([\da-f]+)\t/.exec(trimmedText(committed.output))?.[1] !== staged)
    return 'changed';
  const blob = await git('cat-file', 'blob', staged);
  if (blob.kind !== 'done') return 'unknown';
  const now = readRegular(real, LARGEST_BLOB);
  if (now === 'too-large') return 'unknown';
  return withoutReturns(blob.output).equals(withoutReturns(now)) ? 'clean' : 'changed';
}

/** The commit that a file is of; null if it has changes that are not committed, or that is not known. */
export async function commitOf(path: string, env: Variables): Promise<string | null> {
  if ((await uncommittedChanges(path, env)) !== 'clean') return null;
  const git = gitIn(dirname(realpathSync(path)), env);
  const head = await git('rev-parse', '--verify', 'HEAD');
  return head.kind === 'done' ? trimmedText(head.output) : null;
}

type Git = (...args: readonly string[]) => Promise<GitAnswer>;

function gitIn(folder: string, env: Variables): Git {
  return (...args) => runGit(args, { folder, env, timeout: 10_000, limit: LARGEST_BLOB });
}

async function isIgnored(git: Git, name: string): Promise<boolean> {
  return (await git('check-ignore', '--quiet', '--', `./${name}`)).kind === 'done';
}

function trimmedText(output: Buffer): string {
  return output.toString('utf8').trim();
}

/** Line ends that a checkout may have changed. */
function withoutReturns(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}
