import { isGlobMatch } from '../../../reconciler/model/matcher.ts';
import { selects } from '../../../reconciler/model/selector.ts';
import type { NoticeKind, WatchState } from '../../../reconciler/model/watch.ts';
import { isFlapping } from '../flapping.ts';
import { whyMustNotHeal } from '../healing.ts';
import type { Receiver } from './receiver.ts';
import type {
  End,
  Episode,
  Departed,
  NotifiedState,
  NotifiedStates,
  Track,
} from './notified-states.ts';

/** A notice that a receiver should get now. */
export interface Due {
  readonly state: WatchState;
  readonly event: NoticeKind;
  readonly track: Track;
  /** The digest of the notified state, with the problem of healing behind a colon; for a resolved one, the last notified digest. */
  readonly digest: string;
  /** The end of a resolved state. */
  readonly end: End | null;
}

/** The time that an environment cannot be read before it is notified, in milliseconds: three intervals, or this if that is shorter. */
const FAILING = 600_000;
/** The time that a difference about to be healed is not notified, in milliseconds. */
const HEALED_SOON = 60_000;
/** The equivalent time for an edit that waits for other environments. */
const WAITS_LONG = 900_000;
/** The greatest age of a heal that is notified, in milliseconds: later it is history. */
const HEALED_LATELY = 600_000;

/**
 * The notices that a receiver should get at a time, in milliseconds since 1970: it compares the states with the notices that the receiver
 * got. A state that came and went while nothing could be sent is left out, and no state is reported twice. `findDeparted` answers null as long as
 * an environment is watched, or nothing is to be reported about it.
 */
export function decide(
  receiver: Receiver,
  states: readonly WatchState[],
  notified: Pick<NotifiedStates, 'of' | 'listOpen'>,
  now: number,
  findDeparted: (name: string) => Departed | null = () => null,
): readonly Due[] {
  const watched = states.filter(isKnownLocally).flatMap((state) => {
    const known = notified.of(receiver.name, state.name);
    return concerns(receiver, state)
      ? listDueNotices(receiver, state, known, now)
      : listEndNotices(receiver, { state, end: 'not-selected' }, known);
  });
  const gone = notified.listOpen(receiver.name).flatMap((name) => {
    const left = findDeparted(name);
    return left === null ? [] : listEndNotices(receiver, left, notified.of(receiver.name, name));
  });
  return [...watched, ...gone].filter(({ event }) => receiver.events.has(event));
}

/** Reports whether a receiver gets notices about an environment at all. */
export function concerns(
  { environments, selector }: Pick<Receiver, 'environments' | 'selector'>,
  { name, labels }: WatchState,
): boolean {
  const named = environments === null || isGlobMatch(name, environments);
  return named && selects(selector, new Map(Object.entries(labels)));
}

/** Returns why an environment is not healed until a user acts; null without a reason. `key` stays equal as long as the reason does. */
export function findHealTrouble({ settings, found, stopped, healFailed }: WatchState): {
  readonly event: NoticeKind;
  readonly key: string;
  readonly since: string;
} | null {
  if (settings.mode !== 'heal' || found === 'in-sync' || found === 'error') return null;
  if (stopped !== null)
    return { event: 'healing-stopped', key: `healing-stopped ${stopped.at}`, since: stopped.at };
  if (healFailed === null) return null;
  const event = healFailed.isRefused ? 'write-refused' : 'heal-failed';
  return { event, key: `${event} ${healFailed.code}`, since: healFailed.at };
}

/** The mark in a digest of an environment that keeps changing. */
export const FLAPS = 'flapping';

/** The digest of the state that a notice is about. */
export function stateDigest(digest: string): string {
  return digest.split(':', 1)[0] ?? '';
}

/** Only the holder of the lock reports, and only its own reads; suspended environments are not reported. */
function isKnownLocally({ heldBy, nextRead, suspended, found }: WatchState): boolean {
  return heldBy === null && nextRead !== null && suspended === null && found !== 'not-read';
}

function dueFor(state: WatchState, track: Track): Make {
  return (event, digest, end) => ({ state, event, track, digest, end: end ?? null });
}

type Make = (event: NoticeKind, digest: string, end?: End) => Due;

function listDueNotices(
  receiver: Receiver,
  state: WatchState,
  notified: NotifiedState,
  now: number,
): Due[] {
  const { found } = state;
  return [
    ...(found === 'error'
      ? []
      : ofDifference(receiver, state, notified, now, dueFor(state, 'difference'))),
    ...ofFailing(receiver, state, notified.failing, now, dueFor(state, 'failing')),
  ];
}

/** Reports that no more notices about an environment follow, if the receiver got one about a state that has not ended. */
function listEndNotices(
  receiver: Receiver,
  { state, end }: { state: WatchState; end: End },
  notified: NotifiedState,
): Due[] {
  const open = (['difference', 'failing'] as const).flatMap((track) => {
    const episode = notified[track];
    return episode === null ? [] : [dueFor(state, track)('resolved', latest(episode), end)];
  });
  if (open.length > 0) return open;
  const due = dueFor(state, 'difference');
  return isUnsure(receiver, notified) ? [due('resolved', state.digest, end)] : [];
}

/** An issue can be updated again, and is if the update may have failed. */
function isUnsure({ to }: Receiver, { isPending }: NotifiedState): boolean {
  return isPending && to.form === 'github-issue';
}

/** While an environment cannot be read, what differed stays as it was. */
function ofDifference(
  receiver: Receiver,
  state: WatchState,
  notified: NotifiedState,
  now: number,
  due: Make,
): Due[] {
  const { found, digest, lastInSync } = state;
  const known = notified.difference;
  const open = known !== null && !hasEndedUnnoticed(receiver, known, lastInSync) ? known : null;
  const trouble = findHealTrouble(state);
  const isNotified = trouble !== null && receiver.events.has(trouble.event);
  const hasReported = (end: string): boolean =>
    open !== null && [...open.digests].some((one) => one.endsWith(`:${end}`));
  const flaps = isFlapping(state, now) && (!isNotified || hasReported(trouble.key));
  if (flaps && open !== null)
    return hasReported(FLAPS) ? [] : [due('changed', `${digest}:${FLAPS}`)];
  if (flaps && receiver.statuses.has(found)) return [due('opened', `${digest}:${FLAPS}`)];
  if (!receiver.statuses.has(found) && !isNotified) {
    if (open !== null) return [due('resolved', latest(open), 'difference')];
    if (isUnsure(receiver, notified)) return [due('resolved', digest, 'difference')];
    return ofHealed(receiver, state, notified.healed, now, due);
  }
  if (isNotified && !hasReported(trouble.key))
    return [due(trouble.event, `${digest}:${trouble.key}`)];
  if (open === null || isUnsure(receiver, notified))
    return isHealedSoon(state, now) ? [] : [due('opened', digest)];
  const isNew = ![...open.digests].some((one) => stateDigest(one) === digest);
  if (isNew && receiver.events.has('changed')) return [due('changed', digest)];
  return isReminded(receiver, open, now) ? [due('reminder', digest)] : [];
}

/** Reports whether a difference is so new that healing has not had its turn: a repair within seconds is notified once, as that. */
function isHealedSoon(state: WatchState, now: number): boolean {
  if (state.healFailed !== null) return false;
  const age = now - Date.parse(state.since);
  const { waits } = state;
  const soon = waits === null ? HEALED_SOON : waits.isStopped ? 0 : WAITS_LONG;
  return age >= 0 && age < soon && whyMustNotHeal(state, 'paths', now) === null;
}

/** Reports that a change was put right, unless its difference was reported. */
function ofHealed(
  { statuses }: Receiver,
  { found, putBack }: WatchState,
  notified: Episode | null,
  now: number,
  due: Make,
): Due[] {
  if (putBack === null || found !== 'in-sync' || !statuses.has(putBack.found)) return [];
  const at = Date.parse(putBack.at);
  const isNews = (notified === null || notified.at < at) && now - at < HEALED_LATELY;
  return isNews ? [due('healed', putBack.digest)] : [];
}

function ofFailing(
  receiver: Receiver,
  state: WatchState,
  former: Episode | null,
  now: number,
  due: Make,
): Due[] {
  const { found, digest, lastInSync } = state;
  if (!receiver.statuses.has('error')) return [];
  const notified =
    former !== null && !hasEndedUnnoticed(receiver, former, lastInSync) ? former : null;
  if (found !== 'error')
    return notified === null ? [] : [due('resolved', latest(notified), 'failing')];
  if (notified === null) return hasFailedLong(state, now) ? [due('failing', digest)] : [];
  return isReminded(receiver, notified, now) ? [due('reminder', latest(notified))] : [];
}

/** Time counts, not reads: how often an environment is read while it fails does not matter to receivers. */
function hasFailedLong({ since, settings: { interval } }: WatchState, now: number): boolean {
  const age = now - Date.parse(since);
  // The clock was set back: it has failed for some time.
  return age < 0 || age >= Math.min(FAILING, 3 * (interval ?? FAILING));
}

/** Reports whether the notified state has ended since, and the receiver does not get `resolved`. */
function hasEndedUnnoticed(
  { events }: Receiver,
  { at }: Episode,
  lastInSync: string | null,
): boolean {
  return !events.has('resolved') && lastInSync !== null && Date.parse(lastInSync) > at;
}

function isReminded({ reminder }: Receiver, { at }: Episode, now: number): boolean {
  return reminder !== null && now - at >= reminder;
}

function latest({ digests }: Episode): string {
  return [...digests].at(-1) ?? '';
}
