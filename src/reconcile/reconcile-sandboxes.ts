import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Change, SandboxPlan } from '../model/plan.ts';
import { sandboxWarnings } from '../plan/plan-document.ts';
import { concludeSandboxes, type SandboxesConcluded } from './conclude-sandboxes.ts';
import { interruption, unlessAbandoned } from './interruption.ts';
import { EMPTY_PAUSE, lookAtSandboxes, type SandboxLook } from './look-at-sandboxes.ts';
import { sameResult, type PartEnd, type ReconcileInput } from './reconciled.ts';
import { sendSandboxSteps } from './send-sandbox-steps.ts';
import { settleSandboxes } from './settle-sandboxes.ts';
import { startedIn, stillNeeded } from './still-needed.ts';

/** How the sandboxes ended, and which were started. */
export interface SandboxesEnd extends PartEnd {
  readonly started: ReadonlyMap<Change, string>;
}

/**
 * Makes the sandboxes those that were declared: look again, send what is still needed of the approved plan, wait, compare.
 *
 * - Nothing is sent that was not approved, and nothing that the look right before it does not ask for: so there are never
 *   more starts than sandboxes missing at either look, even where one of them lied.
 * - A start is sent once. Where its answer was lost, a sandbox that has appeared since is taken for it; where none has, that
 *   is said, and the next run counts what is there.
 * - A limit of the service shows as sandboxes that it pauses by itself: said, and not fought.
 */
export async function reconcileSandboxes(
  input: ReconcileInput,
  approved: SandboxPlan,
): Promise<SandboxesEnd> {
  const desired = input.desired.sandboxes;
  let sending = false;
  try {
    const { observed: before, plan } = await lookAgain(input, approved);
    const stopped = interruption(input.signal);
    if (stopped !== null) return notBegun(approved, stopped);
    const steps = stillNeeded(approved.steps, plan);
    sending = steps.length > 0;
    const sent = await sendSandboxSteps(input, steps, before);
    const settled = await settleSandboxes(input, before, sent);
    const waited = input.wait > 0 && interruption(input.signal) === null;
    const started = startedIn(settled.waiting.map(({ id, sent: { step } }) => ({ step, id })));
    const run = { desired, approved, before, sent, settled, started, waited };
    return ended(concludeSandboxes(run), interruption(input.signal));
  } catch (thrown) {
    const error = asSetpointError(thrown);
    const stopped = interruption(input.signal);
    if (!sending) return notBegun(approved, stopped ?? error);
    const { code } = stopped ?? error;
    const brokenOff = new SetpointError(code, error.message, { hint: error.hint, cause: error });
    return { ...notBegun(approved, brokenOff), results: resultsOf(approved, 'unknown') };
  }
}

async function lookAgain(input: ReconcileInput, approved: SandboxPlan): Promise<SandboxLook> {
  const { observer } = input.sandboxes;
  const look = (): Promise<SandboxLook> =>
    unlessAbandoned(
      lookAtSandboxes(observer, input.desired.sandboxes, input.signal),
      input.abandon,
    );
  const first = await look();
  if (approved.steps.length === 0 || first.observed.sandboxes.length > 0) return first;
  await input.clock.sleep(EMPTY_PAUSE, input.signal);
  return look();
}

function ended(concluded: SandboxesConcluded, stopped: SetpointError | null): SandboxesEnd {
  const { results, started, remaining, warnings, changed, errors } = concluded;
  const [error] = errors;
  const part = { results, started, remaining, unknown: [], warnings };
  if (stopped !== null) return { ...part, status: changed ? 'partial' : 'failed', error: stopped };
  if (error === undefined) return { ...part, status: changed ? 'applied' : 'in-sync', error: null };
  if (error.code === 'not-converged') return { ...part, status: 'not-converged', error };
  if (error.code === 'applied-in-part') return { ...part, status: 'partial', error };
  if (!changed) return { ...part, status: 'failed', error };
  return { ...part, status: 'partial', error: error.code === 'timed-out' ? error : inPart(error) };
}

/** Some of it was done, and this was not. */
export function inPart({ message, hint, cause }: SetpointError): SetpointError {
  return new SetpointError('applied-in-part', `Not everything was applied. ${message}`, {
    hint,
    cause,
  });
}

function notBegun(approved: SandboxPlan, error: SetpointError): SandboxesEnd {
  return {
    status: 'failed',
    results: resultsOf(approved, 'not-sent'),
    started: new Map(),
    remaining: [],
    unknown: [],
    warnings: sandboxWarnings(approved),
    error,
  };
}

function resultsOf({ steps }: SandboxPlan, result: 'not-sent' | 'unknown'): PartEnd['results'] {
  return sameResult(
    steps.map(({ change }) => change),
    result,
  );
}
