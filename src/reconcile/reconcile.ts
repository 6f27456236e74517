import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Refusal } from '../model/guard.ts';
import { changesOf, type Plan } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { refusalError, refusalsOf } from '../plan/guard.ts';
import { sandboxWarnings } from '../plan/plan-document.ts';
import { NO_SANDBOXES } from '../plan/plan-sandboxes.ts';
import { planSettings } from '../plan/plan-settings.ts';
import { sameChanges } from '../plan/same-changes.ts';
import { interruption } from './interruption.ts';
import { patientPlan } from './patient-plan.ts';
import { inPart, reconcileSandboxes } from './reconcile-sandboxes.ts';
import {
  sameResult,
  unverifiedEnd,
  type PartEnd,
  type ReconcileInput,
  type Reconciled,
} from './reconciled.ts';
import { writeAndVerify } from './write-and-verify.ts';

const EMPTY: Plan = {
  settings: {
    changes: [],
    unknown: [],
    warnings: [],
    unmanaged: [],
    unpreservable: [],
    write: null,
  },
  sandboxes: NO_SANDBOXES,
};
const LOOKS = 3;

/**
 * Reconcile once: observe, plan, guard, look again, write, verify; the settings first, then the sandboxes.
 *
 * - Level-based: it knows nothing of earlier runs and reads everything anew, so a run that was killed at any point is
 *   finished by the next one.
 * - Nothing differs: nothing is sent. A plan that a guard refuses, or that is not approved, is not sent either. The guards
 *   judge every plan on the observation it was made from, also the one right before the write.
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
    unverifiedEnd(status, plan, observed?.dialect.name ?? null, 'not-sent', error);
  try {
    let look = await input.observer.observe(input.signal);
    observed = look;
    const sandboxes = await patientPlan(input);
    for (let attempt = 0; attempt < LOOKS; attempt++) {
      observed = look;
      plan = input.classify(
        { settings: planSettings(input.desired, look, input), sandboxes },
        look,
      );
      if (changesOf(plan).length === 0) return withoutChanges(plan, ended);
      await input.announce(plan, look);
      const refused = whyRefused(input, plan, look);
      if (refused !== null) return { ...ended('refused', refused.error), ...refused };
      if (!(await input.approve())) {
        const declined = new SetpointError('declined', 'Cancelled. Nothing was written.');
        return ended('failed', interruption(input.signal) ?? declined);
      }
      if (plan.settings.changes.length === 0)
        return await thenSandboxes(input, plan, look, inSync(plan));
      look = await input.observer.observe(input.signal);
      const stopped = interruption(input.signal);
      if (stopped !== null) return ended('failed', stopped);
      const again = planSettings(input.desired, look, input);
      // A store that is suddenly empty, or suddenly not, would make another record of the same changes.
      if (look.stored === observed.stored && sameChanges(plan.settings, again)) {
        plan = input.classify({ settings: again, sandboxes }, look);
        observed = look;
        const refused = whyRefused(input, plan, look);
        if (refused !== null) return { ...ended('refused', refused.error), ...refused };
        const settings = await writeAndVerify(input, plan.settings, look);
        return await thenSandboxes(input, plan, look, settings);
      }
    }
    return ended(
      'failed',
      new SetpointError(
        'contended',
        'The service changed between every look and the write that was to follow.',
      ),
    );
  } catch (thrown) {
    const error = interruption(input.signal) ?? asSetpointError(thrown);
    return ended(error.code === 'spec-refused' ? 'refused' : 'failed', error);
  }
}

/** Why a plan must not be written, judged on the observation that it was made from; every refusal of the guards. */
function whyRefused(
  input: ReconcileInput,
  plan: Plan,
  observed: ObservedState,
): { readonly error: SetpointError; readonly refusals: readonly Refusal[] } | null {
  const { guards } = input.desired;
  const refusals = refusalsOf({ plan, observed, guards }, input.allowed);
  const error = input.cover(plan) ?? refusalError(refusals);
  return error === null ? null : { error, refusals };
}

/** Nothing to be done: in sync, but for declared sandboxes that are unavailable. */
function withoutChanges(
  { sandboxes }: Plan,
  ended: (status: Reconciled['status'], error: SetpointError | null) => Reconciled,
): Reconciled {
  const [unmet] = sandboxes.unmet;
  if (unmet === undefined) return ended('in-sync', null);
  return ended(
    'partial',
    new SetpointError('applied-in-part', unmet.message, { hint: unmet.hint }),
  );
}

function inSync({ settings }: Plan): PartEnd {
  const { unknown, warnings } = settings;
  return {
    status: 'in-sync',
    results: new Map(),
    remaining: [],
    unknown,
    warnings,
    error: null,
  };
}

/** Goes on with the sandboxes where the settings are as declared, and makes one end of the two. */
async function thenSandboxes(
  input: ReconcileInput,
  plan: Plan,
  { dialect }: ObservedState,
  settings: PartEnd,
): Promise<Reconciled> {
  const { steps, unmet } = plan.sandboxes;
  const end = {
    plan,
    dialect: dialect.name,
    started: new Map(),
    unknown: settings.unknown,
    refusals: [],
  };
  if (settings.error !== null || (steps.length === 0 && unmet.length === 0)) {
    const notSent = sameResult(
      steps.map(({ change }) => change),
      'not-sent',
    );
    const warnings = [...settings.warnings, ...sandboxWarnings(plan.sandboxes)];
    return { ...settings, ...end, warnings, results: new Map([...settings.results, ...notSent]) };
  }
  const sandboxes = await reconcileSandboxes(input, plan.sandboxes);
  const { status, error, started } = sandboxes;
  // What was written of the settings stays written, whatever became of the sandboxes.
  const inPartOnly = settings.status === 'applied' && status === 'failed' && error !== null;
  return {
    ...end,
    started,
    status: inPartOnly ? 'partial' : status === 'in-sync' ? settings.status : status,
    results: new Map([...settings.results, ...sandboxes.results]),
    remaining: sandboxes.remaining,
    warnings: [...settings.warnings, ...sandboxes.warnings],
    error: inPartOnly && interruption(input.signal) === null ? inPart(error) : error,
  };
}
