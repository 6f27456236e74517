#!/usr/bin/env node
import type { Stream } from './io.ts';
import { isTraced } from '../../reconciler/host/this-process.ts';
import { keepCompiled, run } from './run-cli.ts';
import { fstatSync, writeSync } from 'node:fs';

const stop = new AbortController();
const abandon = new AbortController();
const GRACE = 15_000;
/** The wait after that, in milliseconds. */
const LAST_GRACE = 5_000;
/** The time that others may keep this process alive when its own work is done, in milliseconds. */
const LAST = 2_000;

type Signal = 'SIGINT' | 'SIGTERM';

function stopCommand(name: Signal): void {
  if (stop.signal.aborted) giveUp(name);
  else {
    stop.abort(name);
    setTimeout(() => giveUp(name), GRACE).unref();
  }
}

/** Gives up what is being sent. What then still waits, such as for a disk that hangs, is not waited for any longer. */
function giveUp(name: Signal): void {
  if (abandon.signal.aborted) return;
  abandon.abort(name);
  setTimeout(() => killOwnProcess(name), LAST_GRACE).unref();
}

/** Ends this process at once, like the default action of the signal: its own end would wait for every file that is being opened or read. */
function killOwnProcess(name: Signal): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}

/** Resolves once no file is being opened or read. If one hangs, this process dies of the signal that stopped it. */
async function diskIsDone(): Promise<void> {
  const isBusy = (): boolean =>
    process.getActiveResourcesInfo().some((one) => one.startsWith('FSReq'));
  for (let left = 20; isBusy(); left -= 1) {
    if (left === 0) killOwnProcess(stop.signal.reason as Signal);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

process.on('SIGINT', () => stopCommand('SIGINT'));
process.on('SIGTERM', () => stopCommand('SIGTERM'));
let failed: string | undefined;
const outputs = new Map<1 | 2, Stream>();

/** Made when it is first written to. */
function output(fd: 1 | 2): Stream {
  const known = outputs.get(fd) ?? processOutput(fd, (code) => (failed ??= code));
  outputs.set(fd, known);
  return known;
}

function isDrained({ writableLength = 0 }: Stream): boolean {
  return writableLength === 0;
}

async function runCommandLine(): Promise<void> {
  const code = await run(process.argv.slice(2), {
    env: process.env,
    stdin: () => process.stdin,
    get stdout() {
      return output(1);
    },
    get stderr() {
      return output(2);
    },
    signal: stop.signal,
    abandon: abandon.signal,
  });
  process.exitCode = code === 0 && failed !== undefined ? 1 : code;
  // A reader that closed the pipe has read enough; a full disk is an error.
  if (failed !== undefined && failed !== 'EPIPE')
    output(2).write('setpoint: The output could not be written.\n');
  keepCompiled(process.env);
  if (isTraced() && !abandon.signal.aborted) {
    // An SDK sends the rest of its data when a process ends normally. A receiver that is gone is not waited for.
    setTimeout(() => process.exit(), LAST).unref();
    return;
  }
  if (stop.signal.aborted) await diskIsDone();
  // Nothing is left to do: an abandoned request, or a socket that closes, need not be waited for. A terminal may still be written to.
  if (abandon.signal.aborted || [...outputs.values()].every(isDrained)) process.exit();
}

runCommandLine().catch(() => {
  output(2).write(
    'setpoint: Something went wrong inside setpoint. Please report it with the command you ran.\n',
  );
  process.exitCode = 1;
});

/**
 * stdout or stderr of this process. A terminal gets Node's own stream. A pipe, a file or a socket is written to directly: if a full disk
 * accepts a part of a text, Node's stream for files drops the rest, and reports nothing. `failed` receives the reason why a write failed.
 */
function processOutput(fd: 1 | 2, failed: (code: string) => void): Stream {
  if (process.platform === 'win32' || fstatSync(fd).isCharacterDevice()) return ofNode(fd, failed);
  let taken: Stream | null = null;
  return {
    get writableLength() {
      return taken?.writableLength ?? 0;
    },
    write(text, done) {
      if (taken !== null) return taken.write(text, done);
      const rest = writeBytes(fd, Buffer.from(text), failed);
      if (rest === null) {
        done?.();
        return true;
      }
      // The other end does not keep up, and another process made the pipe non-blocking: Node's stream waits for it.
      taken = ofNode(fd, failed);
      return taken.write(rest, done);
    },
  };
}

/** Writes as much as is taken; null if nothing is left to write. */
function writeBytes(fd: number, bytes: Buffer, failed: (code: string) => void): Buffer | null {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (thrown) {
    const { code = 'unknown' } = thrown as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return rest;
    failed(code);
  }
  return null;
}

function ofNode(fd: 1 | 2, failed: (code: string) => void): Stream {
  const stream = fd === 1 ? process.stdout : process.stderr;
  stream.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => failed(code));
  return stream;
}
