import { endQuickly, findTracer } from '../../reconciler/host/this-process.ts';
import { step } from './step.ts';

const stop = new AbortController();
const abandon = new AbortController();

// A job that is cancelled gets SIGINT, SIGTERM 7.5 s later, and is killed after 2.5 s more.
function onSignal(name: 'SIGINT' | 'SIGTERM'): void {
  if (stop.signal.aborted) abandon.abort(name);
  else stop.abort(name);
}

process.on('SIGINT', () => onSignal('SIGINT'));
process.on('SIGTERM', () => onSignal('SIGTERM'));

async function main(): Promise<void> {
  endQuickly();
  const well = await step({ signal: stop.signal, abandon: abandon.signal });
  process.exitCode = well ? 0 : 1;
  await (await findTracer()).flush(abandon.signal);
  // A request that was given up may still keep the process alive.
  if (abandon.signal.aborted) process.exit();
}

main().catch(() => {
  process.stdout.write('::error title=setpoint::Something went wrong inside setpoint.\n');
  process.exitCode = 1;
});
