#!/usr/bin/env node
import type { Stream } from './io.ts';
import { keepCompiled } from './compiled.ts';
import { isTraced } from '../host/tracer.ts';
import { processOutput } from './process-output.ts';
import { run } from './run.ts';

const stop = new AbortController();
const abandon = new AbortController();
const GRACE = 15_000;
/** How long this process is kept by others when its own work is done, in milliseconds. */
const LAST = 2_000;

function onSignal(name: 'SIGINT' | 'SIGTERM'): void {
  if (stop.signal.aborted) abandon.abort(name);
  else {
    stop.abort(name);
    setTimeout(() => abandon.abort(name), GRACE).unref();
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
  await keepCompiled();
  if (isTraced() && !abandon.signal.aborted) {
    // An SDK sends the rest of what it holds when a process ends by itself. A receiver that is gone is not waited for.
    setTimeout(() => process.exit(), LAST).unref();
    return;
  }
  // Nothing is left to do: an abandoned request, or a socket that closes, need not be waited for. A terminal may still be written to.
  if (abandon.signal.aborted || [...outputs.values()].every(isWritten)) process.exit();
}

main().catch(() => {
  output(2).write(
    'setpoint: Something went wrong inside setpoint. Please report it with the command you ran.\n',
  );
  process.exitCode = 1;
});
