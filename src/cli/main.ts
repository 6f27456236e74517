#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { run } from './run.ts';

// A process that used undici waits at its end for V8 to optimise undici's WebAssembly; the quick compiler alone will do.
setFlagsFromString('--liftoff-only');

const stop = new AbortController();
const abandon = new AbortController();
const GRACE = 15_000;

function onSignal(name: 'SIGINT' | 'SIGTERM'): void {
  if (stop.signal.aborted) abandon.abort(name);
  else {
    stop.abort(name);
    setTimeout(() => abandon.abort(name), GRACE).unref();
  }
}

process.on('SIGINT', () => onSignal('SIGINT'));
process.on('SIGTERM', () => onSignal('SIGTERM'));
let unread = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => {
    unread = true;
  });
}

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
    abandon: abandon.signal,
  });
  process.exitCode = code === 0 && unread ? 1 : code;
  // What was given up may still hold the process: a request that nobody waits for.
  if (abandon.signal.aborted) process.exit();
}

void main();
