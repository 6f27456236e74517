import { SetpointError, asSetpointError } from '../model/error.ts';
import type { Plan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { guardPlan } from '../plan/guard.ts';
import { planSettings } from '../plan/plan-settings.ts';
import { sameChanges } from '../plan/same-changes.ts';
import { interruption } from './interruption.ts';
import { unverifiedEnd, type ReconcileInput, type Reconciled } from './reconciled.ts';
import { writeAndVerify } from './write-and-verify.ts';

const EMPTY: Plan = {
  changes: [],
  unknown: [],
  warnings: [],
  unmanaged: [],
  unpreservable: [],
  record: null,
};
const LOOKS = 3;

/**
 * Reconcile once: observe, plan, guard, look again, write, verify.
 *
 * - Level-based: it knows nothing of earlier runs and reads everything anew, so a run that was killed at any point is
 *   finished by the next one.
 * - Nothing differs: nothing is sent. A plan that a guard refuses, or that is not approved, is not sent either.
 * - The look right before the write must give the same plan as the one that was approved. There is no compare-and-swap in
 *   the service: the window between that look and the write is small, not zero.
 * - A write is done when a later look shows it. What the look does not show is reported, and never called done.
 *
 * It ends in one of the ways of `Reconciled` and does not throw: what became of each change is known on every end.
 */
export async function reconcile(input: ReconcileInput): Promise<Reconciled> {
  let plan = EMPTY;
  let observed: ObservedState | null = null;
  const ended = (status: Reconciled['status'], error: SetpointError | null): Reconciled =>
    unverifiedEnd(status, plan, observed?.dialect ?? null, 'not-sent', error);
  try {
    let look = await input.observer.observe(input.signal);
    for (let attempt = 0; attempt < LOOKS; attempt++) {
      observed = look;
      plan = planSettings(input.desired, look, input);
      if (plan.changes.length === 0) return ended('in-sync', null);
      await input.announce(plan, look.dialect);
      const [refusal] = guardPlan(plan, input.desired.guards, input.allowed);
      if (refusal !== undefined) {
        const error = new SetpointError(
          'guard-refused',
          `${refusal.message} (rule ${refusal.rule})`,
          { hint: refusal.hint },
        );
        return ended('refused', error);
      }
      if (!(await input.approve())) {
        const declined = new SetpointError('declined', 'The plan was declined.');
        return ended('failed', interruption(input.signal) ?? declined);
      }
      look = await input.observer.observe(input.signal);
      const stopped = interruption(input.signal);
      if (stopped !== null) return ended('failed', stopped);
      const again = planSettings(input.desired, look, input);
      if (sameChanges(plan, again)) return await writeAndVerify(input, again, look);
    }
    return ended(
      'failed',
      new SetpointError(
        'contended',
        'The service changed between every look and the write that was to follow.',
      ),
    );
  } catch (thrown) {
    return ended('failed', interruption(input.signal) ?? asSetpointError(thrown));
  }
}
