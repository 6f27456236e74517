import { endQuickly, findTracer } from '../../reconciler/host/this-process.ts';
import { runStep } from './step.ts';

const stop = new AbortController();
const abandon = new AbortController();

// A job that is cancelled gets SIGINT, SIGTERM 7.5 s later, and is killed after 2.5 s more.
function stopStep(name: 'SIGINT' | 'SIGTERM'): void {
  if (stop.signal.aborted) abandon.abort(name);
  else stop.abort(name);
}

process.on('SIGINT', () => stopStep('SIGINT'));
process.on('SIGTERM', () => stopStep('SIGTERM'));

async function runAction(): Promise<void> {
  endQuickly();
  const well = await runStep({ signal: stop.signal, abandon: abandon.signal });
  process.exitCode = well ? 0 : 1;
  await (await findTracer()).flush(abandon.signal);
  // A request that was given up may still keep the process alive.
  if (abandon.signal.aborted) process.exit();
}

runAction().catch(() => {
  process.stdout.write('::error title=setpoint::Something went wrong inside setpoint.\n');
  process.exitCode = 1;
});
