import { dirname } from 'node:path';
import type { Variables } from '../model/ports.ts';

export type GitAnswer =
  | { readonly kind: 'done'; readonly output: Buffer }
  | { readonly kind: 'failed'; readonly words: string }
  | { readonly kind: 'missing' | 'late' | 'stopped' | 'too-much' };

export interface GitCall {
  /** The folder that git works in: its `-C`. */
  readonly folder: string;
  readonly env: Variables;
  /** Variables of git itself. */
  readonly own?: Readonly<Record<string, string>>;
  /** The names of further variables that git gets of `env`; PATH and HOME it always gets. */
  readonly passed?: readonly string[];
  readonly input?: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes of output. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
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
 * Runs git without a shell, so that neither a repository's configuration nor the caller's variables make it run code, ask, or work
 * elsewhere. It may use no protocol unless `own` allows one. What it says when it fails may hold addresses with passwords: it is for
 * telling failures apart, never for printing. With its children it is ended after the time limit, or once the signal is aborted.
 */
export async function runGit(args: readonly string[], call: GitCall): Promise<GitAnswer> {
  const { folder, env, own = {}, passed = [], timeout, limit, signal } = call;
  const { spawn } = await import('node:child_process');
  if (signal?.aborted === true) return { kind: 'stopped' };
  const variables: Record<string, string> = { ...ALWAYS };
  for (const name of ['PATH', 'HOME', ...passed]) {
    const value = env[name];
    if (value !== undefined) variables[name] = value;
  }
  const group = process.platform !== 'win32';
  // Some systems search the current folder for programs first: it must not be the checkout.
  const child = spawn('git', ['-C', folder, ...GLOBAL, ...args], {
    cwd: dirname(process.execPath),
    env: Object.assign(variables, own),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A group of its own, without a terminal: what git starts ends with it, and asks nobody.
    detached: group,
  });
  const kill = (how: NodeJS.Signals): void => {
    try {
      if (group && child.pid !== undefined) process.kill(-child.pid, how);
      else child.kill(how);
    } catch {
      // It has ended meanwhile.
    }
  };
  return new Promise((resolve) => {
    let ended: GitAnswer | null = null;
    let killing: NodeJS.Timeout | undefined;
    /** git removes its lock files if it is asked to end; if it does not, it is killed. */
    const end = (answer: GitAnswer): void => {
      if (ended !== null) return;
      ended = answer;
      kill('SIGTERM');
      killing = setTimeout(() => {
        kill('SIGKILL');
        // On a disk that hangs it may not end even so, and is not waited for.
        killing = setTimeout(() => finish(answer), LAST_GRACE);
      }, LAST_GRACE);
    };
    const late = setTimeout(() => end({ kind: 'late' }), timeout);
    const stop = (): void => end({ kind: 'stopped' });
    signal?.addEventListener('abort', stop, { once: true });
    const finish = (answer: GitAnswer): void => {
      clearTimeout(late);
      clearTimeout(killing);
      signal?.removeEventListener('abort', stop);
      resolve(answer);
    };
    const output: Buffer[] = [];
    let size = 0;
    let words = '';
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) end({ kind: 'too-much' });
      else output.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (words.length < LONGEST_WORDS) words += chunk.toString('latin1');
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      finish(error.code === 'ENOENT' ? { kind: 'missing' } : { kind: 'failed', words });
    });
    child.on('close', (code) => {
      if (ended !== null) {
        // What git started must not outlive it.
        kill('SIGKILL');
        finish(ended);
      } else if (code === 0) finish({ kind: 'done', output: Buffer.concat(output, size) });
      else finish({ kind: 'failed', words });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(call.input ?? '');
  });
}

/** Milliseconds between asking git to end and killing it. */
const LAST_GRACE = 2_000;
const LONGEST_WORDS = 64 * 1024;
