import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { parse } from 'node:path';

export type ProgramAnswer =
  | { readonly kind: 'done'; readonly output: Buffer }
  | { readonly kind: 'failed'; readonly words: string; readonly code: number | null }
  | { readonly kind: 'missing' | 'late' | 'stopped' | 'too-much' };

export interface ProgramCall {
  /** All the variables that it gets. */
  readonly variables: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes of output. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program without a shell, outside the working directory. `words` is its error output: for distinguishing failures, never for
 * printing. With its children it is ended after the time limit, or once the signal is aborted.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  call: ProgramCall,
): Promise<ProgramAnswer> {
  const { spawn } = await import('node:child_process');
  if (call.signal?.aborted === true) return { kind: 'stopped' };
  const group = process.platform !== 'win32';
  // Some systems search the current folder for programs first: it must not be the checkout, where a single executable may lie as well.
  const child = spawn(program, args, {
    cwd: parse(process.execPath).root,
    env: call.variables,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    // A group of its own, without a terminal: its child processes end with it, and cannot ask a user.
    detached: group,
  });
  return followProgram(child, (how) => sendSignal(child, group, how), call);
}

function followProgram(
  child: ChildProcessWithoutNullStreams,
  kill: (how: NodeJS.Signals) => void,
  { input, timeout, limit, signal }: ProgramCall,
): Promise<ProgramAnswer> {
  return new Promise((resolve) => {
    let ended: ProgramAnswer | null = null;
    let killing: NodeJS.Timeout | undefined;
    /** A program may remove its lock files if it is asked to end; if it does not end, it is killed. */
    const end = (answer: ProgramAnswer): void => {
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
    const finish = (answer: ProgramAnswer): void => {
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
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      finish(code === 'ENOENT' ? { kind: 'missing' } : { kind: 'failed', words, code: null }),
    );
    child.on('close', (code) => {
      if (ended !== null) {
        // Its child processes must not outlive it.
        kill('SIGKILL');
        finish(ended);
      } else if (code === 0) finish({ kind: 'done', output: Buffer.concat(output, size) });
      else finish({ kind: 'failed', words, code });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

function sendSignal(child: ChildProcess, group: boolean, how: NodeJS.Signals): void {
  try {
    if (group && child.pid !== undefined) process.kill(-child.pid, how);
    else child.kill(how);
  } catch {
    // It has ended meanwhile.
  }
}

/** Milliseconds between asking a program to end and killing it. */
const LAST_GRACE = 2_000;
const LONGEST_WORDS = 64 * 1024;
