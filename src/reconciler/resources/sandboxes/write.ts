import { declaredSandboxes, type SandboxPlan } from './sandbox.ts';
import { asSetpointError, SetpointError } from '../../model/error.ts';
import { partWarnings } from '../../model/plan.ts';
import { inPart, sameResult } from '../../reconcile/ends.ts';
import type { ReconcileInput, ResourceEnd } from '../../reconcile/contract.ts';
import { interruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { concludeRun, type Conclusion } from './conclude.ts';
import { followSteps } from './follow.ts';
import { observeSandboxes } from './observe.ts';
import { stillNeeded, type SandboxRun } from './run.ts';
import { sendSteps } from './send.ts';

/**
 * Makes the sandboxes as declared: observe again, send what is still needed of the approved plan, follow it, conclude.
 *
 * - Nothing is sent that was not approved, nor anything that the observation right before it does not show the need for. So
 *   there are never more starts than sandboxes missing in either observation, even if one of them was wrong.
 * - A start is sent once. If its answer was lost, a sandbox that has appeared since counts as the one that it started; if none
 *   has, the error reports that, and the next run counts what is there.
 * - A limit of the service shows as sandboxes that it pauses by itself: that is reported, and nothing is sent against it.
 */
export async function writeSandboxes(
  input: ReconcileInput,
  approved: SandboxPlan,
): Promise<ResourceEnd> {
  if (approved.steps.length === 0 && approved.unmet.length === 0)
    return unwrittenEnd(approved, 'in-sync', 'not-sent', null);
  const later = approved.unmet.find(({ code }) => code === 'sandbox-later');
  if (later !== undefined) {
    const { message, hint } = later;
    const error = new SetpointError('applied-in-part', message, { hint });
    return unwrittenEnd(approved, 'partial', 'not-sent', error);
  }
  let sending = false;
  try {
    const observing = observeSandboxes(input, () => approved.steps.length > 0);
    const { observed: before, plan } = await unlessAbandoned(observing, input.abandon);
    const stopped = interruption(input.signal);
    if (stopped !== null) return unwrittenEnd(approved, 'failed', 'not-sent', stopped);
    const needed = stillNeeded(approved.steps, plan);
    sending = needed.length > 0;
    const begun: SandboxRun = {
      desired: declaredSandboxes(input.desired),
      approved,
      before,
      steps: await sendSteps(input, needed, before),
      last: null,
      error: null,
      waited: false,
    };
    const run = await followSteps(input, begun);
    const waited = input.wait > 0 && interruption(input.signal) === null;
    return sandboxEnd(concludeRun({ ...run, waited }), interruption(input.signal));
  } catch (thrown) {
    const error = asSetpointError(thrown);
    const stopped = interruption(input.signal);
    if (!sending) return unwrittenEnd(approved, 'failed', 'not-sent', stopped ?? error);
    const { message, hint } = error;
    const abandoned = new SetpointError((stopped ?? error).code, message, { hint, cause: error });
    return unwrittenEnd(approved, 'failed', 'unknown', abandoned);
  }
}

function sandboxEnd(
  { changed, errors, ...parts }: Conclusion,
  stopped: SetpointError | null,
): ResourceEnd {
  const [error = null] = errors;
  const end = { ...parts, unknown: [] };
  if (stopped !== null) return { ...end, status: changed ? 'partial' : 'failed', error: stopped };
  switch (error?.code) {
    case undefined:
      return { ...end, status: changed ? 'applied' : 'in-sync', error };
    case 'not-converged':
      return { ...end, status: 'not-converged', error };
    case 'applied-in-part':
      return { ...end, status: 'partial', error };
    default:
      if (!changed || error === null) return { ...end, status: 'failed', error };
      return {
        ...end,
        status: 'partial',
        error: error.code === 'timed-out' ? error : inPart(error),
      };
  }
}

/** An end at which nothing was concluded: every change has the same result. */
function unwrittenEnd(
  plan: SandboxPlan,
  status: ResourceEnd['status'],
  result: 'not-sent' | 'unknown',
  error: SetpointError | null,
): ResourceEnd {
  return {
    status,
    results: sameResult(
      plan.steps.map(({ change }) => change),
      result,
    ),
    started: new Map(),
    remaining: [],
    unknown: [],
    warnings: partWarnings(plan),
    error,
  };
}
