import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import { formatPath, samePath } from '../model/path.ts';
import type { Change, SettingsPlan, Warning } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import type { ValueRecord } from '../model/value.ts';
import { interruption } from './interruption.ts';
import { writtenSecrets } from '../plan/written-secrets.ts';
import { mendingRecord } from './mending.ts';
import { sameResult, type PartEnd, type ReconcileInput } from './reconciled.ts';
import { send } from './send.ts';
import { verify, type Verification } from './verify.ts';

/**
 * Writes the plan's record and looks whether the service has it. One more write may follow where the first had a side effect
 * that the service is known for: a declared secret that fell out, an entry of the server's own that doubled.
 */
export async function writeAndVerify(
  input: ReconcileInput,
  plan: SettingsPlan,
  before: ObservedState,
): Promise<PartEnd> {
  const record: ValueRecord = plan.record ?? {};
  const failed = (result: Result, error: SetpointError): PartEnd => ({
    status: 'failed',
    results: sameResult(plan.changes, result),
    remaining: [],
    unknown: plan.unknown,
    warnings: plan.warnings,
    error: interruption(input.signal) ?? error,
  });
  try {
    const sent = await send(input, record, before);
    if (sent.kind === 'not-stored') return failed('not-sent', sent.error);
    if (sent.kind === 'unclear') return failed('unknown', unclear(sent.error));
    let verification = await verify(input, before);
    const mending = mendingRecord(input.desired, record, before, verification.look);
    if (mending !== null && interruption(input.signal) === null) {
      // Whatever became of it, the look that follows tells.
      await send(input, mending, verification.look);
      verification = await verify(input, before);
    }
    return await remembered(input, record, concluded(input, plan, verification, sent.error));
  } catch (thrown) {
    // The write was sent and the look that was to follow failed: the service may hold anything that was on its way.
    return failed('unknown', unverified(asSetpointError(thrown)));
  }
}

/** Keeps fingerprints of the secrets that were written. Where they cannot be kept, that is a warning: the write stands. */
async function remembered(
  input: ReconcileInput,
  record: ValueRecord,
  end: PartEnd,
): Promise<PartEnd> {
  if (end.status !== 'applied') return end;
  try {
    await input.remember(writtenSecrets(input.desired, record));
    return end;
  } catch (thrown) {
    const { message } = asSetpointError(thrown);
    const warning: Warning = { code: 'not-remembered', message, path: [] };
    return { ...end, warnings: [...end.warnings, warning] };
  }
}

function concluded(
  input: ReconcileInput,
  plan: SettingsPlan,
  verification: Verification,
  answered: SetpointError | null,
): PartEnd {
  const { remaining, unknown } = verification;
  const stopped = interruption(input.signal);
  const error = remaining.length > 0 ? notConverged(remaining) : null;
  return {
    status: remaining.length > 0 ? 'not-converged' : 'applied',
    results: new Map(plan.changes.map((change) => [change, resultOf(change, verification)])),
    remaining,
    unknown,
    warnings: [...plan.warnings, ...(answered === null ? [] : [answeredWithError(answered)])],
    error: stopped === null ? error : finishedFirst(stopped, error),
  };
}

/** A stop that was asked for while the write was under way: it was finished all the same. */
function finishedFirst(stopped: SetpointError, error: SetpointError | null): SetpointError {
  const message = `${stopped.message} The write in flight was finished and ${error === null ? 'verified' : 'is not converged'}.`;
  return new SetpointError(stopped.code, message, {
    hint: error?.hint ?? 'Nothing is left to do here.',
  });
}

function resultOf(change: Change, { remaining, unknown, look }: Verification): Result {
  if (remaining.some(({ path }) => samePath(path, change.path))) return 'unknown';
  if (unknown.some(({ path }) => samePath(path, change.path)))
    return flagConfirms(change, look) ? 'verified' : 'unverifiable';
  return 'verified';
}

/** A secret that was not set and is now: the flag has seen the write, though not the value. */
function flagConfirms(change: Change, look: ObservedState): boolean {
  return change.action === 'set' && look.record[`${change.path[0] ?? ''}_set`] === true;
}

function notConverged(remaining: readonly Remainder[]): SetpointError {
  const [first] = remaining;
  const paths = remaining.map(({ path }) => formatPath(path)).join(', ');
  return new SetpointError(
    'not-converged',
    `After the write the service is not what it should be: ${paths}.`,
    first === undefined ? {} : { hint: first.hint },
  );
}

function answeredWithError(error: SetpointError): Warning {
  return {
    code: 'answered-with-error',
    message: `The write took effect although the service answered with an error: ${error.message}`,
    path: [],
  };
}

function unclear(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `Whether the write took effect is unclear. ${error.message}`,
    { cause: error },
  );
}

function unverified(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `The write was sent and could not be verified. ${error.message}`,
    { cause: error },
  );
}
