import { statSync, realpathSync } from 'node:fs';
import { dirname, resolve, basename } from 'node:path';
import { isLoopbackHost } from '../model/address.ts';
import { SetpointError, usageError, type ErrorCode } from '../model/error.ts';
import type { Variables } from '../model/ports.ts';
import { readRegular } from './read-text.ts';
import { runProgram, type ProgramAnswer, type ProgramCall } from './run-program.ts';

/** The place of a branch: a repository on this machine, which is only read, or an address to fetch from. */
export type GitSource =
  | {
      readonly kind: 'folder';
      readonly folder: string;
      readonly shown: string;
      readonly commits: null;
    }
  | {
      readonly kind: 'address';
      readonly address: string;
      readonly protocol: string;
      /** Without a name, a password and a query. */
      readonly shown: string;
      /** The address at which a browser shows a commit, if its id is appended; null if unknown. */
      readonly commits: string | null;
    };

/** The short form of a repository for ssh, without a scheme: git@example.com:team/settings.git. */
const SHORT = /^(?:[A-Za-z0-9][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!\/\/|:)[^-\s]\S*$/;
const PROTOCOLS = ['https:', 'http:', 'ssh:', 'file:'];

/** Reads what names a repository. Keys may depend on what is fetched, so it must come from a host that has proved who it is. */
export function gitSource(source: string): GitSource {
  const url = URL.canParse(source) ? new URL(source) : null;
  if (url !== null && source.includes('://')) {
    const open = url.protocol === 'http:' && !isLoopbackHost(url.hostname);
    if (!PROTOCOLS.includes(url.protocol) || open) {
      throw usageError(
        `A branch cannot be followed over ${open ? 'http: to another machine' : url.protocol}.`,
        'Name a folder of this machine, or an address with https:, ssh: or file:.',
      );
    }
    const shown = new URL(url);
    Object.assign(shown, { username: '', password: '', search: '', hash: '' });
    const protocol = url.protocol.slice(0, -1);
    return {
      kind: 'address',
      address: source,
      protocol,
      shown: shown.href,
      commits: formatCommitsUrl(url),
    };
  }
  if (statSync(source, { throwIfNoEntry: false })?.isDirectory() === true)
    return { kind: 'folder', folder: resolve(source), shown: source, commits: null };
  if (SHORT.test(source)) {
    const shown = source.slice(source.indexOf('@') + 1);
    const commits = formatCommitsUrl(new URL(`ssh://${shown.replace(':', '/')}`));
    return { kind: 'address', address: source, protocol: 'ssh', shown, commits };
  }
  throw new SetpointError(
    'file-unreadable',
    'The repository is neither a folder on this machine nor an address.',
    {
      hint: 'Name a folder with a git repository, or an address such as https://example.com/team/settings.git.',
    },
  );
}

/** As GitHub, GitLab, Gitea, Forgejo and Bitbucket have it; who clones over ssh reads over https. */
function formatCommitsUrl({ protocol, host, hostname, pathname }: URL): string | null {
  const path = pathname.replace(/\/+$/, '').replace(/\.git$/, '');
  if ((protocol !== 'https:' && protocol !== 'ssh:') || path === '') return null;
  const folder = hostname === 'bitbucket.org' ? 'commits' : 'commit';
  return `https://${protocol === 'ssh:' ? hostname : host}${path}/${folder}/`;
}

/** The variables of git with which it finds a repository in a folder, and in none above it. */
export function createGitFolderVariables(folder: string): Readonly<Record<string, string>> {
  return { GIT_CEILING_DIRECTORIES: dirname(folder) };
}

/** The description of a failure, after the name of the repository. */
interface GitFailure {
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
}

/** An object is missing or damaged; also what git words in a way that is not known here. */
export const DAMAGED: GitFailure = {
  code: 'bad-response',
  what: 'could not be read by git: something in it is missing or damaged.',
  hint: 'Run git fsck in it to see more.',
};

/** The wordings of git's failures, in the order in which they count: a later sentence may be the consequence of an earlier one. */
const FAILURES: readonly (readonly [RegExp, GitFailure])[] = [
  [
    /dubious ownership/,
    {
      code: 'file-unreadable',
      what: 'belongs to another user, and git does not read it.',
      hint: 'If you trust it, add it to safe.directory: git config --global --add safe.directory FOLDER.',
    },
  ],
  [
    /not a git repository|does not appear to be a git repository|repository '.*' not found|returned error: 404/i,
    {
      code: 'file-unreadable',
      what: 'is not a git repository, or this user cannot read it.',
      hint: 'Check the folder or the address, and that the credentials may read it.',
    },
  ],
  [
    /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|returned error: 40[13]|Host key verification failed/i,
    {
      code: 'unauthorized',
      what: 'refused the credentials, or git has no usable credentials.',
      hint: 'Give git a credential helper, an agent with a key, or an address with a token; over ssh its host must be in known_hosts.',
    },
  ],
  [
    /returned error: 30\d|unable to update url base/i,
    {
      code: 'not-this-service',
      what: 'answered with a redirect.',
      hint: 'Name the address that it redirects to; redirects are never followed.',
    },
  ],
  [/is corrupt|repository corruption|bad object|unable to read/i, DAMAGED],
  [
    /certificate|SSL|TLS/,
    {
      code: 'tls',
      what: 'could not be trusted: its certificate is not valid here.',
      hint: 'Set GIT_SSL_CAINFO to a file with the certificate authority.',
    },
  ],
  [
    /No space left|Disk quota|Read-only file system|unable to (?:create|write)/i,
    {
      code: 'output-failed',
      what: 'was reached, and what it has could not be written here.',
      hint: 'Check that there is room on the disk, and that the folder can be written.',
    },
  ],
  [
    /Could not resolve|Failed to connect|Connection (?:refused|reset|timed out|closed)|Network is unreachable|unable to access|hung up|early EOF|Empty reply|returned error: 5/i,
    {
      code: 'unreachable',
      what: 'could not be reached, or cut the connection.',
      hint: 'Check the address, and that its host is up and reachable from here.',
    },
  ],
];

/** Returns the meaning of git's own words. They are not repeated: they may contain an address with its password. */
export function findGitFailure(words: string): GitFailure {
  return FAILURES.find(([pattern]) => pattern.test(words))?.[1] ?? DAMAGED;
}

/** The ways in which a call of git can end without words of git. */
export const ENDINGS: Readonly<Record<'missing' | 'late' | 'stopped' | 'too-much', GitFailure>> = {
  missing: {
    code: 'usage',
    what: 'cannot be read: git is not installed here.',
    hint: 'Install git, version 2.31 or later.',
  },
  late: {
    code: 'timed-out',
    what: 'did not answer git in time.',
    hint: 'Check that it is up and reachable from here.',
  },
  stopped: { code: 'interrupted', what: 'was not read to its end.', hint: 'Run it again.' },
  'too-much': {
    code: 'bad-response',
    what: 'has more in one commit than is ever read.',
    hint: 'Follow a repository that contains settings.',
  },
};

export type GitAnswer = ProgramAnswer;

interface GitCall extends Omit<ProgramCall, 'variables'> {
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
 * Runs git so that neither a repository's configuration nor the caller's variables make it run code, ask, or work elsewhere. It may use no
 * protocol unless `own` allows one. Its error output may contain addresses with passwords.
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
type WorkTreeState = 'clean' | 'changed' | 'none' | 'unknown';

const LARGEST_BLOB = 32 * 1024 * 1024;

/**
 * Reports whether a file has changes that are not committed. The checkout's own configuration must run no code, so git only prints the
 * content of its index and its last commit, which (unlike `status`) runs no filter, hook, alias or watcher; the comparison is made here,
 * and line ends do not count. git may use no protocol, so no object is fetched. It runs without a shell, outside the checkout, and gets
 * only PATH and HOME of the environment.
 */
export async function checkUncommittedChanges(
  path: string,
  env: Variables,
): Promise<WorkTreeState> {
  const real = realpathSync(path);
  const name = basename(real);
  const git = createGit(dirname(real), env);
  const inside = await git('rev-parse', '--is-inside-work-tree');
  if (inside.kind === 'missing') return 'none';
  if (inside.kind === 'failed' && inside.words.includes('not a git repository')) return 'none';
  if (inside.kind !== 'done') return 'unknown';
  if (trimOutput(inside.output) !== 'true') return 'none';
  const listed = await git('ls-files', '--stage', '-z', '--', `:(literal)${name}`);
  if (listed.kind !== 'done') return 'unknown';
  const [entry, ...others] = trimOutput(listed.output)
    .split('\0')
    .filter((line) => line !== '');
  if (entry === undefined) return (await isIgnored(git, name)) ? 'clean' : 'changed';
  const staged = /^\d+ ([\da-f]+) 0\t/.exec(entry)?.[1];
  if (staged === undefined || others.length > 0) return 'changed';
  const committed = await git('ls-tree', '-z', 'HEAD', '--', `:(literal)${name}`);
  if (committed.kind !== 'done') return 'changed';
  if (/^\d+ blob ([\da-f]+)\t/.exec(trimOutput(committed.output))?.[1] !== staged) return 'changed';
  const blob = await git('cat-file', 'blob', staged);
  if (blob.kind !== 'done') return 'unknown';
  const now = readRegular(real, LARGEST_BLOB);
  if (now === 'too-large') return 'unknown';
  return normalizeLineEnds(blob.output).equals(normalizeLineEnds(now)) ? 'clean' : 'changed';
}

/** The commit that a file is of; null if it has changes that are not committed, or that is not known. */
export async function findFileCommit(path: string, env: Variables): Promise<string | null> {
  if ((await checkUncommittedChanges(path, env)) !== 'clean') return null;
  const git = createGit(dirname(realpathSync(path)), env);
  const head = await git('rev-parse', '--verify', 'HEAD');
  return head.kind === 'done' ? trimOutput(head.output) : null;
}

type Git = (...args: readonly string[]) => Promise<GitAnswer>;

function createGit(folder: string, env: Variables): Git {
  return (...args) => runGit(args, { folder, env, timeout: 10_000, limit: LARGEST_BLOB });
}

async function isIgnored(git: Git, name: string): Promise<boolean> {
  return (await git('check-ignore', '--quiet', '--', `./${name}`)).kind === 'done';
}

function trimOutput(output: Buffer): string {
  return output.toString('utf8').trim();
}

/** Line ends that a checkout may have changed. */
function normalizeLineEnds(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}
