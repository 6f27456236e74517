#!/usr/bin/env node
import type { Stream } from './io.ts';
import { keepCompiled } from './compiled.ts';
import { isTraced } from '../../reconciler/host/tracer.ts';
import { processOutput } from './process-output.ts';
import { run } from './run.ts';

const stop = new AbortController();
const abandon = new AbortController();
const GRACE = 15_000;
/** How long is waited after that, in milliseconds. */
const LAST_GRACE = 5_000;
/** How long this process is kept by others when its own work is done, in milliseconds. */
const LAST = 2_000;

type Signal = 'SIGINT' | 'SIGTERM';

function onSignal(name: Signal): void {
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
  setTimeout(() => dieOf(name), LAST_GRACE).unref();
}

/** Ends this process at once, as the signal does by itself: its own end would wait for every file that is being opened or read. */
function dieOf(name: Signal): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}

/** Resolves once no file is being opened or read. If one hangs, this process dies of the signal that stopped it. */
async function diskIsDone(): Promise<void> {
  const isBusy = (): boolean =>
    process.getActiveResourcesInfo().some((one) => one.startsWith('FSReq'));
  for (let left = 20; isBusy(); left -= 1) {
    if (left === 0) dieOf(stop.signal.reason as Signal);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

process.on('SIGINT', () => onSignal('SIGINT'));
process.on('SIGTERM', () => onSignal('SIGTERM'));
let failed: string | undefined;
const outputs = new Map<1 | 2, Stream>();

/** Made when it is first written to. */
function output(fd: 1 | 2): Stream {
  const known = outputs.get(fd) ?? processOutput(fd, (code) => (failed ??= code));
  outputs.set(fd, known);
  return known;
}

function isWritten({ writableLength = 0 }: Stream): boolean {
  return writableLength === 0;
}

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), {
    env: process.env,
    get stdin() {
      return process.stdin;
    },
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
    // An SDK sends the rest of what it holds when a process ends by itself. A receiver that is gone is not waited for.
    setTimeout(() => process.exit(), LAST).unref();
    return;
  }
  if (stop.signal.aborted) await diskIsDone();
  // Nothing is left to do: an abandoned request, or a socket that closes, need not be waited for. A terminal may still be written to.
  if (abandon.signal.aborted || [...outputs.values()].every(isWritten)) process.exit();
}

main().catch(() => {
  output(2).write(
    'setpoint: Something went wrong inside setpoint. Please report it with the command you ran.\n',
  );
  process.exitCode = 1;
});
