import type { SandboxPlan } from '../model/plan.ts';
import { NO_SANDBOXES } from '../plan/plan-sandboxes.ts';
import { interruption } from './interruption.ts';
import { EMPTY_PAUSE, lookAtSandboxes } from './look-at-sandboxes.ts';
import type { ReconcileInput } from './reconciled.ts';

/** How long, in milliseconds, an ERROR that is too old for a start is watched before it is given up, and how often. */
const PATIENCE = 30_000;
const PAUSE = 3000;

/**
 * The plan of the sandboxes before anything is sent. One that reads ERROR may be booting though it is old: nothing tells when
 * it was resumed. So where the plan would give one up, it is looked at for a while, and not at all where nothing is waited for.
 */
export async function patientPlan(input: ReconcileInput): Promise<SandboxPlan> {
  const { desired, clock, signal } = input;
  if (desired.sandboxes.length === 0) return NO_SANDBOXES;
  const begun = clock.monotonic();
  for (let looks = 1; ; looks += 1) {
    const look = await lookAtSandboxes(input.sandboxes.observer, desired.sandboxes, signal);
    const { plan } = look;
    if (interruption(signal) !== null) return plan;
    if (look.observed.sandboxes.length === 0 && plan.unmet.length > 0 && looks === 1) {
      await clock.sleep(EMPTY_PAUSE, signal);
      continue;
    }
    const failed = failedIn(plan);
    const over = clock.monotonic() - begun >= Math.min(PATIENCE, input.wait);
    if (failed.length === 0 || over) return plan;
    input.progress(
      failed.map((id) => ({ action: 'watch', id, spec: null, status: 'ERROR', done: false })),
    );
    await clock.sleep(PAUSE, signal);
  }
}

function failedIn({ unmet, warnings }: SandboxPlan): string[] {
  return [...unmet, ...warnings].flatMap(({ code, path: [id] }) =>
    code === 'sandbox-failed' && id !== undefined ? [id] : [],
  );
}
