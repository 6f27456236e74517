import { asSetpointError, ERRORS, SetpointError, type Warning } from '../../model/error.ts';
import { modelHint } from '../../model/field.ts';
import type { Remainder, Result } from '../../model/outcome.ts';
import { formatPath, isWithin, samePath, type Path } from '../../model/path.ts';
import type { Change, SettingsPlan } from '../../model/plan.ts';
import type { SettingsWrite, ObservedState } from '../../model/state.ts';
import { predictWrite } from '../../plan/consequences.ts';
import { listWrittenSecrets } from '../../plan/plan-secrets.ts';
import { serverOwned } from '../../plan/side-effects.ts';
import {
  type ReconcileInput,
  type ResourceEnd,
  type ManagedResource,
} from '../../reconcile/contract.ts';
import { findInterruption } from '../../reconcile/interruption.ts';
import { sameResult, createUnsentEnd } from '../../reconcile/resource-end.ts';
import { mendingWrite, formatUnmanagedEntry, verify, type Verification } from './verify.ts';
import { reactivateProfile, updateProfileWarnings } from './profile.ts';
import { judgePlan } from '../refusals.ts';
import { send } from './send.ts';
import { planSettingsPart, SETTINGS, settingsOfPart } from '../../plan/settings-part.ts';

/**
 * Sends the plan's write, and observes whether the service has it. One more write may follow, if the first had a known side effect of the
 * service: a declared secret fell out, or an entry that the server adds doubled. Without changes nothing is sent. Never throws.
 */
export async function writeSettings(
  input: ReconcileInput,
  plan: SettingsPlan,
  before: ObservedState,
): Promise<ResourceEnd> {
  if (plan.changes.length === 0)
    return { ...createUnsentEnd([], plan.warnings), unknown: plan.unknown };
  const write = plan.write ?? { fields: {}, observed: before };
  const failedWith = (
    result: Result,
    error: SetpointError,
    more: readonly Warning[] = [],
  ): ResourceEnd => ({
    status: 'failed',
    results: sameResult(plan.changes, result),
    started: new Map(),
    remaining: [],
    unknown: plan.unknown,
    warnings: [...plan.warnings, ...more],
    error: findInterruption(input.signal) ?? error,
  });
  let putBack: () => Promise<void>;
  try {
    putBack = await dropFingerprints(input, write);
  } catch (thrown) {
    return failedWith('not-sent', asSetpointError(thrown));
  }
  try {
    const sent = await send(input, write, before);
    if (sent.kind === 'not-stored')
      return failedWith('not-sent', sent.error, await unlessKept(putBack()));
    if (sent.kind === 'unclear')
      return failedWith('unknown', createUnknownWriteError(sent.error, write));
    const expected = predictWrite(write, before) ?? {
      expected: before,
      differences: [],
    };
    const first = await verify(input, before, expected, plan);
    const mended = await mend(input, plan, expected.expected, first.observed);
    const second = mended.sent
      ? await verify(input, before, expected, plan, [first.observed])
      : first;
    const activated = await reactivateProfile(input, write, before, second.observed);
    const verification = activated.sent
      ? await verify(input, before, expected, plan, [first.observed, second.observed])
      : second;
    const told = updateProfileWarnings(plan, [before, verification.observed], activated, input);
    const end = createSettingsEnd(input, { ...plan, warnings: told }, verification, sent.error);
    const confirmed = mended.confirmed ?? (sent.confirmed ? write : null);
    const owned = mended.sent ? serverOwned(before, first.observed, input.desired) : [];
    const warnings = [...end.warnings, ...mended.warnings, ...ownWarnings(owned)];
    return await saveConfirmedFingerprints(input, confirmed, { ...end, warnings });
  } catch (thrown) {
    // The write was sent, and observing it failed: the service may hold any state that was on its way.
    return failedWith('unknown', notVerified(asSetpointError(thrown)));
  }
}

/**
 * Drops the fingerprints of the secrets that a write carries. If they cannot be dropped, the write must not be sent: a run that
 * ended before its verification would leave the old one behind, and a later plan would take an earlier value of the secret for
 * the one that is stored.
 */
function dropFingerprints(
  { desired, fingerprints }: ReconcileInput,
  write: SettingsWrite,
): Promise<() => Promise<void>> {
  return fingerprints.forget(listWrittenSecrets(desired, write).map(({ path }) => path));
}

/** The corrective write; `confirmed` if the service confirmed that it is stored. */
interface CorrectiveWrite {
  readonly sent: boolean;
  readonly confirmed: SettingsWrite | null;
  readonly warnings: readonly Warning[];
}

/** Sends the corrective write, if one is needed. The observation that follows shows whether it took effect. */
async function mend(
  input: ReconcileInput,
  plan: SettingsPlan,
  before: ObservedState,
  latest: ObservedState,
): Promise<CorrectiveWrite> {
  const write = mendingWrite(input.desired, plan, before, latest);
  const unsent = { sent: false, confirmed: null, warnings: [] };
  if (write === null || findInterruption(input.signal) !== null) return unsent;
  const warnings = await unlessKept(dropFingerprints(input, write));
  if (warnings.length > 0) return { ...unsent, warnings };
  const sent = await send(input, write, latest);
  const confirmed = sent.kind === 'stored' && sent.confirmed ? write : null;
  return { sent: true, confirmed, warnings };
}

/**
 * Stores fingerprints of the secrets in a write that the service has confirmed and the verification did not contradict. If they cannot be
 * stored, that is a warning: the write is done.
 */
async function saveConfirmedFingerprints(
  input: ReconcileInput,
  confirmed: SettingsWrite | null,
  end: ResourceEnd,
): Promise<ResourceEnd> {
  if (end.status !== 'applied' || confirmed === null) return end;
  const written = listWrittenSecrets(input.desired, confirmed);
  const kept = input.fingerprints.remember(written, input.clock.now());
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

function createSettingsEnd(
  input: ReconcileInput,
  plan: SettingsPlan,
  verification: Verification,
  answered: SetpointError | null,
): ResourceEnd {
  const { remaining, unknown } = verification;
  const stopped = findInterruption(input.signal);
  const error = remaining.length > 0 ? settingsNotConverged(remaining) : null;
  return {
    status: remaining.length > 0 ? 'not-converged' : 'applied',
    results: new Map(plan.changes.map((change) => [change, classifyResult(change, verification)])),
    started: new Map(),
    remaining,
    unknown,
    warnings: [...plan.warnings, ...(answered === null ? [] : [createAnswerWarning(answered)])],
    error: stopped === null ? error : preferStopError(stopped, error),
  };
}

/** The error of a stop that was requested while the write was under way. */
function preferStopError(stopped: SetpointError, error: SetpointError | null): SetpointError {
  const message = `${stopped.message} The write in flight was finished and ${error === null ? 'verified' : 'is not converged'}.`;
  return new SetpointError(stopped.code, message, {
    hint: error?.hint ?? 'Nothing is left to do here.',
  });
}

function classifyResult(change: Change, { remaining, unknown, observed }: Verification): Result {
  if (remaining.some(({ path }) => samePath(path, change.path))) return 'unknown';
  if (!isShown(change, observed) && isConfirmedStored(change, observed)) return 'set';
  const isBlind =
    unknown.some(
      ({ path }) =>
        samePath(path, change.path) ||
        // Only the secrets of a rotated entry are new.
        (change.action === 'rotate' && isWithin(path, change.path)),
    ) ||
    isUnreadableChange(change, observed) ||
    (!isShown(change, observed) && observed.secrets.get(formatPath(change.path)) === 'stored');
  return isBlind ? 'unverifiable' : 'verified';
}

/** Reports whether no service of the dialect reports the content of the field. */
function isUnreadableChange({ path: [name = ''] }: Change, { dialect }: ObservedState): boolean {
  return dialect.fields.get(name)?.reads === 'nothing';
}

/** Reports whether the service has shown a secret that it masks. */
function isShown({ path }: Change, { revealed }: ObservedState): boolean {
  return revealed?.has(formatPath(path)) === true;
}

/** A secret that was not stored and is now: that one is stored is confirmed, and not which. */
function isConfirmedStored({ action, path }: Change, after: ObservedState): boolean {
  return action === 'set' && after.secrets.get(formatPath(path)) === 'stored';
}

function settingsNotConverged(remaining: readonly Remainder[]): SetpointError {
  const [first] = remaining;
  const paths = remaining.map(({ path }) => formatPath(path)).join(', ');
  const back = remaining.filter(({ code }) => code === 'server-adds').map(({ path }) => path);
  const hint =
    back.length > 1 ? `Leave them to the server: ${formatUnmanagedEntry(back)}` : first?.hint;
  return new SetpointError(
    'not-converged',
    `After the write these are not as declared: ${paths}.`,
    hint === undefined ? {} : { hint },
  );
}

/** All entries that the server adds, and the write that leaves them to it. */
function ownWarnings(owned: readonly Path[]): Warning[] {
  if (owned.length === 0) return [];
  const message = `The server adds ${owned.map(formatPath).join(', ')} automatically, so that each apply changes it again. Remove it from the file and list it: ${formatUnmanagedEntry(owned)}`;
  return [{ code: 'server-owned', message, path: [] }];
}

function createAnswerWarning(error: SetpointError): Warning {
  return {
    code: 'answered-with-error',
    message: `The write took effect although the service answered with an error: ${error.message}`,
    path: [],
  };
}

function createUnknownWriteError(error: SetpointError, { fields }: SettingsWrite): SetpointError {
  const hint = modelHint(fields);
  return new SetpointError(
    'state-unknown',
    `The write may or may not have taken effect. ${error.message}`,
    { cause: error, ...(hint === '' ? {} : { hint: `${hint}${ERRORS['state-unknown'].hint}` }) },
  );
}

function notVerified(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `The write was sent and could not be verified. ${error.message}`,
    { cause: error },
  );
}

/** The settings of a service. They identify the service, so they are observed before any other resource is read. */
export const SETTINGS_RESOURCE: ManagedResource = {
  ...SETTINGS,
  read: (input, observed) => (observed === null ? null : () => planSettingsPart(input, observed)),
  judge: judgePlan,
  write: (input, part, before) => writeSettings(input, settingsOfPart(part), before),
};
