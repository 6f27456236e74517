import { createHash } from 'node:crypto';
import { ACTIVE_FORM, COLLECTION_FORMS } from '../../reconciler/model/collection-forms.ts';
import { listPathsInShort, shortenReason } from '../../reconciler/render/record-text.ts';
import { formatPath, type Path } from '../../reconciler/model/path.ts';
import { ERRORS, type ErrorCode, type ErrorReport } from '../../reconciler/model/error.ts';
import type { EnvironmentOutcome } from '../../reconciler/model/outcome.ts';
import { removesOther, type Change } from '../../reconciler/model/plan.ts';
import type {
  HealFailures,
  HealingStop,
  PutBack,
  WatchState,
  Condition,
  Suspension,
} from '../../reconciler/model/watch.ts';
import { isList, isRecord, type Json } from '../../reconciler/model/value.ts';
import type { WatchStatus } from '../../reconciler/model/verdict.ts';
import type { ConfirmationLevel } from './confirmation.ts';
import { isSomeSent, notStoredAfter } from './heal-limits.ts';
import { causeText } from '../../reconciler/render/cause-groups.ts';
import { isInAnyWindow, nextOpening } from './schedule.ts';
import { shortenText } from './stored-plan.ts';

/** The reason why an environment is not healed now, in a few words. `again`: the next read should come soon. */
interface HealingBlock {
  readonly words: string;
  readonly again: boolean;
}

/**
 * The reason why the findings of the last read must not be healed at a time, in milliseconds since 1970; null if they may be. Reads some
 * time apart must have confirmed them: during the first, another client may have been writing.
 */
export function whyMustNotHeal(
  state: WatchState,
  confirmed: ConfirmationLevel,
  now: number,
): HealingBlock | null {
  const { mode, windows, approvals } = state.settings;
  if (state.status === 'suspended') return no('suspended');
  if (mode === 'detect') return no('detect only');
  if (!isHealable(state.found)) return no('nothing is to be healed');
  if (state.stopped !== null) return no('healing stopped');
  if (!isInAnyWindow(windows, now)) return no(`window closed until ${nextOpening(windows, now)}`);
  if (approvals?.covers(approvalDigest(state)) === false) return no('the plan is not approved');
  const kept = findProtectedItem(state);
  if (kept !== null) return no(describeProtectedItem(kept));
  if (confirmed === 'no') return { words: 'one read only: the next one confirms it', again: true };
  return null;
}

/** The digest of what a state shows, as an approval names it. */
export function approvalDigest({ digest }: Pick<WatchState, 'digest'>): string {
  return `sha256:${createHash('sha256').update(digest).digest('hex')}`;
}

/** Returns the first named item that healing would remove, and `watch.remove` does not allow; null without one. */
export function findProtectedItem({
  settings,
  plan,
  found,
}: Pick<WatchState, 'settings' | 'plan' | 'found'>): Path | null {
  if (settings.removes || settings.approvals !== undefined) return null;
  if (settings.mode === 'detect' || !isHealable(found)) return null;
  return (plan?.changes ?? []).flatMap(listRemovedItems)[0] ?? null;
}

export function describeProtectedItem(item: Path): string {
  return `it would remove ${formatPath(item)}, which watch.remove does not allow`;
}

/** Lists the named items that a change removes. A pointer that is cleared removes nothing. */
function listRemovedItems(change: Change<Json>): readonly Path[] {
  const { resource, action, path, before, after, code } = change;
  if (resource === 'settings' && NAMED_LISTS.has(path.at(-1) ?? '')) {
    const left = new Set(listEntryNames(after));
    return listEntryNames(before).flatMap((name) => (left.has(name) ? [] : [[...path, name]]));
  }
  if (action !== 'remove') return [];
  const isItem = COLLECTION_FORMS.some(
    (form) => form.resource === resource && form !== ACTIVE_FORM,
  );
  return isItem || code === 'null-in-file' || removesOther(change) ? [path] : [];
}

/** Lists in the settings, one change each, that hold what `marketplaces` and `disabled_skills` name. */
const NAMED_LISTS: ReadonlySet<string> = new Set(['registered_marketplaces', 'disabled_skills']);

function listEntryNames(list: Json): readonly string[] {
  const names = isList(list) ? list.map((one) => (isRecord(one) ? one['name'] : one)) : [];
  return names.filter((name) => typeof name === 'string');
}

function no(words: string): HealingBlock {
  return { words, again: false };
}

/** Reports whether healing applies to such a state. Includes `pending` and `conflict`: it makes the service equal to the file. */
export function isHealable(found: WatchStatus): boolean {
  return found === 'drift' || found === 'pending' || found === 'conflict';
}

/** Returns the last repair, after another write has ended at a time; `heals` are those after it. */
export function putBackAfter(
  { putBack, found, digest, heals }: Pick<WatchState, 'putBack' | 'found' | 'digest' | 'heals'>,
  { error, requests }: Pick<EnvironmentOutcome, 'error' | 'requests'>,
  at: string,
): PutBack | null {
  if (error !== null || requests.post === 0) return putBack;
  return { at, found, digest, paths: heals.at(-1)?.paths ?? [] };
}

/** Errors that do not show whether healing fails: it was interrupted, or another client came first. */
const NO_FAILURE: ReadonlySet<string> = new Set([
  'declined',
  'contended',
  'interrupted',
  'terminated',
  'skipped',
  'lock-lost',
  'lock-failed',
  'output-failed',
] satisfies ErrorCode[]);

/** The end of an attempt to heal; without changes nothing was sent. */
type Attempt = Pick<EnvironmentOutcome, 'error'> &
  Partial<Pick<EnvironmentOutcome, 'changes' | 'remaining' | 'requests'>>;

/** The heals that failed in a row, after another one has ended at a time. */
export function addHealFailure(
  before: HealFailures | null,
  { error, changes = [], remaining = [], requests }: Attempt,
  at: string,
): HealFailures | null {
  if (error === null) return null;
  const { code, message } = error;
  if (NO_FAILURE.has(code)) return before;
  const isSent = requests !== undefined && requests.post > 0;
  const isRefused = isSent && !isSomeSent(changes) && REFUSALS.has(code);
  const notStored = notStoredAfter({ changes, remaining });
  return {
    at: before?.at ?? at,
    count: (before?.count ?? 0) + 1,
    isRefused,
    code,
    message: shortenText(message),
    ...(notStored === undefined ? {} : { notStored }),
  };
}

/** The answers of a service that refuses a write: as invalid, without permission, or with another status. */
const REFUSALS: ReadonlySet<string> = new Set([
  'settings-refused',
  'spec-refused',
  'unauthorized',
  'bad-response',
  'not-this-service',
] satisfies ErrorCode[]);

/** Reports whether an error will come again until the files, the approved plan or the surroundings change: no read reports it. */
export function isStanding({ code }: Pick<ErrorReport, 'code'>): boolean {
  return [3, 5, 6].includes(ERRORS[code as ErrorCode].exit);
}

/** Returns the differences in short: the first paths, or why the last read failed. Empty without a difference. */
export function whatDiffers({ plan, found }: Pick<WatchState, 'plan' | 'found'>): string {
  if (plan === null || found === 'in-sync') return '';
  if (plan.error !== null) return shortenReason(causeText(plan.error));
  const paths = (plan.changes.length > 0 ? plan.changes : plan.unknown).map(({ path }) => path);
  return listPathsInShort(paths.map((path) => formatPath(path)));
}

function byWhom({ by }: Suspension): string {
  return by === undefined ? '' : ` by ${by}`;
}

/** Describes why and by whom an environment is suspended, for places that show its state already. */
export function suspensionInShort(suspension: Suspension): string {
  const who = byWhom(suspension);
  return `${shortenReason(suspension.reason)}${who === '' ? '' : ` (${who.trim()})`}`;
}

/** Describes the writer of a path, or the server that stores another value, which stopped healing. */
function describeStopCause({ cause }: HealingStop): string {
  return cause === 'server' ? 'the server stores another value for' : 'another client writes';
}

/** The conditions of a controller that prevent healing in every environment. */
const HINDERS: Readonly<Partial<Record<Condition['kind'], string>>> = {
  journal: 'the journal cannot be used',
  locks: 'the locks cannot be used',
  suspensions: 'it cannot be read who is suspended',
};

/**
 * The reason why a difference is not healed, in a few words; null if there is nothing to heal, or healing is about to start. `now` is in
 * milliseconds since 1970; `problems` are those of the controller.
 */
export function whyNotHealed(
  state: WatchState,
  problems: readonly Condition[],
  now: number,
): string | null {
  const { suspended, found, plan, heldBy, stopped, healFailed, settings } = state;
  if (found === 'in-sync' || found === 'not-read' || found === 'error') return null;
  if (suspended !== null)
    return `suspended${byWhom(suspended)}: ${shortenReason(suspended.reason)}`;
  const [refusal] = plan?.refusals ?? [];
  if (refusal !== undefined) return `refused by ${refusal.rule}`;
  if (!isHealable(found)) return null;
  if (settings.mode === 'detect') return 'detect only';
  if (stopped !== null)
    return `healing stopped: ${describeStopCause(stopped)} ${shortenReason(stopped.path, 160)}`;
  if (heldBy !== null) return `held by ${shortenReason(heldBy)}`;
  for (const { kind } of problems) if (HINDERS[kind] !== undefined) return HINDERS[kind];
  if (state.waits !== null) return state.waits.words;
  const isSeenOnce = state.lastRead === state.since;
  const not = whyMustNotHeal(state, isSeenOnce ? 'no' : 'paths', now);
  if (healFailed !== null && (not === null || !not.again))
    return `${healFailed.isRefused ? 'the service refuses the write' : 'healing fails'}: ${shortenReason(healFailed.message)}`;
  return not === null ? null : not.words;
}
