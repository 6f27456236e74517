#!/usr/bin/env node
import { run } from './run.ts';

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
let failed: string | undefined;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    failed ??= error.code ?? 'unknown';
  });
}

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), {
    env: process.env,
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
    abandon: abandon.signal,
  });
  process.exitCode = code === 0 && failed !== undefined ? 1 : code;
  // A reader that closed the pipe has read enough; a full disk is an error.
  if (failed !== undefined && failed !== 'EPIPE')
    process.stderr.write('setpoint: The output could not be written.\n');
  // An abandoned request may still keep the process alive.
  if (abandon.signal.aborted) process.exit();
}

main().catch(() => {
  process.stderr.write(
    'setpoint: Something went wrong inside setpoint. Please report it with the command you ran.\n',
  );
  process.exitCode = 1;
});
