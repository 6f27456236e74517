import { asSetpointError, SetpointError } from '../model/error.ts';
import type { Remainder, Result } from '../model/outcome.ts';
import { formatPath, samePath } from '../model/path.ts';
import type { Change, SettingsPlan, SettingsWrite, Warning } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { interruption } from './interruption.ts';
import { writtenSecrets } from '../plan/plan-secrets.ts';
import { mendingWrite } from './mending.ts';
import { sameResult, type PartEnd, type ReconcileInput } from './reconciled.ts';
import { send } from './send.ts';
import { verify, type Verification } from './verify.ts';

/**
 * Sends the plan's write and checks whether the service has it. One more write may follow where the first had a side effect
 * that the service is known for: a declared secret that fell out, an entry of the server's own that doubled.
 */
export async function writeAndVerify(
  input: ReconcileInput,
  plan: SettingsPlan,
  before: ObservedState,
): Promise<PartEnd> {
  const write = plan.write ?? { fields: {}, observed: before };
  const failed = (
    result: Result,
    error: SetpointError,
    more: readonly Warning[] = [],
  ): PartEnd => ({
    status: 'failed',
    results: sameResult(plan.changes, result),
    remaining: [],
    unknown: plan.unknown,
    warnings: [...plan.warnings, ...more],
    error: interruption(input.signal) ?? error,
  });
  let putBack: () => Promise<void>;
  try {
    putBack = await forgotten(input, write);
  } catch (thrown) {
    return failed('not-sent', asSetpointError(thrown));
  }
  try {
    const sent = await send(input, write, before);
    if (sent.kind === 'not-stored')
      return failed('not-sent', sent.error, await unlessKept(putBack()));
    if (sent.kind === 'unclear') return failed('unknown', unclear(sent.error));
    const first = await verify(input, before);
    const mended = await mend(input, plan, before, first.look);
    const verification = mended.sent ? await verify(input, before, [first.look]) : first;
    const end = concluded(input, plan, verification, sent.error);
    const confirmed = mended.confirmed ?? (sent.confirmed ? write : null);
    const warnings = [...end.warnings, ...mended.warnings];
    return await remembered(input, confirmed, { ...end, warnings });
  } catch (thrown) {
    // The write was sent and the look that was to follow failed: the service may hold anything that was on its way.
    return failed('unknown', unverified(asSetpointError(thrown)));
  }
}

/**
 * Drops the fingerprints of the secrets that a write carries. When they cannot be dropped, the write must not be sent: a run
 * that ended before its verification would leave the old one behind, and a later plan would take an earlier value of the
 * secret for the one that is stored.
 */
function forgotten(
  { desired, forget }: ReconcileInput,
  write: SettingsWrite,
): Promise<() => Promise<void>> {
  return forget(writtenSecrets(desired, write).map(({ path }) => path));
}

/** What came of the corrective write; `confirmed` is its body, when the service has confirmed that it is stored. */
interface Mended {
  readonly sent: boolean;
  readonly confirmed: SettingsWrite | null;
  readonly warnings: readonly Warning[];
}

/** Sends the corrective write, if one is needed. Whatever comes of it, the observation that follows tells. */
async function mend(
  input: ReconcileInput,
  plan: SettingsPlan,
  before: ObservedState,
  latest: ObservedState,
): Promise<Mended> {
  const write = mendingWrite(input.desired, plan, before, latest);
  const unsent = { sent: false, confirmed: null, warnings: [] };
  if (write === null || interruption(input.signal) !== null) return unsent;
  const warnings = await unlessKept(forgotten(input, write));
  if (warnings.length > 0) return { ...unsent, warnings };
  const sent = await send(input, write, latest);
  const confirmed = sent.kind === 'stored' && sent.confirmed ? write : null;
  return { sent: true, confirmed, warnings };
}

/**
 * Keeps fingerprints of the secrets in a body that the service has confirmed, and that the verification shows nothing against.
 * When they cannot be kept, that is a warning: the write is done.
 */
async function remembered(
  input: ReconcileInput,
  confirmed: SettingsWrite | null,
  end: PartEnd,
): Promise<PartEnd> {
  if (end.status !== 'applied' || confirmed === null) return end;
  const kept = input.remember(writtenSecrets(input.desired, confirmed));
  return { ...end, warnings: [...end.warnings, ...(await unlessKept(kept))] };
}

async function unlessKept(work: Promise<unknown>): Promise<Warning[]> {
  try {
    await work;
    return [];
  } catch (thrown) {
    const { message } = asSetpointError(thrown);
    return [{ code: 'not-remembered', message, path: [] }];
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
  if (isConfirmedStored(change, look)) return 'set';
  const isBlind =
    unknown.some(({ path }) => samePath(path, change.path)) || isNeverReported(change, look);
  return isBlind ? 'unverifiable' : 'verified';
}

/** Whether no service of the dialect reports what the field holds. */
function isNeverReported({ path: [name = ''] }: Change, { dialect }: ObservedState): boolean {
  return dialect.fields.get(name)?.reads === 'nothing';
}

/** A secret that was not stored and is now: that one is stored is confirmed, and not which. */
function isConfirmedStored({ action, path: [name = ''] }: Change, look: ObservedState): boolean {
  return action === 'set' && look.secrets.get(name) === 'stored';
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
