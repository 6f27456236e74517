import { matches } from '../../model/glob.ts';
import { selects } from '../../model/selector.ts';
import type { NoticeKind, WatchState } from '../../model/watch.ts';
import { isOpen } from '../schedule.ts';
import type { Receiver } from './receiver.ts';
import type { Episode, Told, ToldStates } from './told.ts';

/** A notice that a receiver should get now. */
export interface Due {
  readonly state: WatchState;
  readonly event: NoticeKind;
  /** Of the state that is told of; of one that is resolved, the last that was told. */
  readonly digest: string;
}

/** Reads in a row that must fail before somebody is told. */
const FAILING = 3;

/**
 * The notices that a receiver should get at a time, in milliseconds since 1970: it compares the states with what the receiver was told. A state that
 * came and went while nothing could be sent is left out, and no state is reported twice.
 */
export function decide(
  receiver: Receiver,
  states: readonly WatchState[],
  told: Pick<ToldStates, 'of'>,
  now: number,
): readonly Due[] {
  if (receiver.quiet.length > 0 && isOpen(receiver.quiet, now)) return [];
  return states
    .filter((state) => concerns(receiver, state) && isKnownHere(state))
    .flatMap((state) => dueOf(receiver, state, told.of(receiver.name, state.name), now))
    .filter(({ event }) => receiver.events.has(event));
}

/** Whether a receiver is told of an environment at all. */
export function concerns(
  { environments, selector }: Pick<Receiver, 'environments' | 'selector'>,
  { name, labels }: WatchState,
): boolean {
  const named = environments === null || matches(name, environments);
  return named && selects(selector, new Map(Object.entries(labels)));
}

/** Only who holds the lock tells, and only of what it has read itself; nobody tells of what is suspended. */
function isKnownHere({ heldBy, nextRead, suspended, found }: WatchState): boolean {
  return heldBy === null && nextRead !== null && suspended === null && found !== 'not-read';
}

function dueOf(receiver: Receiver, state: WatchState, told: Told, now: number): Due[] {
  // What is told is what was decided on: the next read may end before it is sent.
  const due = (event: NoticeKind, digest: string): Due => ({
    state: { ...state, status: state.status, reads: state.reads, nextRead: state.nextRead },
    event,
    digest,
  });
  return [
    ...(state.found === 'error' ? [] : ofDifference(receiver, state, told, now, due)),
    ...ofFailing(receiver, state, told.failing, now, due),
  ];
}

type Make = (event: NoticeKind, digest: string) => Due;

/** While an environment cannot be read, what differed stays as it was. */
function ofDifference(
  receiver: Receiver,
  { found, digest, lastInSync }: WatchState,
  { difference: told, isPending }: Told,
  now: number,
  due: Make,
): Due[] {
  const open = told !== null && !endedUntold(receiver, told, lastInSync) ? told : null;
  // An issue can be kept again, and is if it may not have been.
  const isUnsure = isPending && receiver.to.form === 'github-issue';
  if (!receiver.statuses.has(found))
    return open === null && !isUnsure
      ? []
      : [due('resolved', open === null ? digest : latest(open))];
  if (open === null || isUnsure) return [due('opened', digest)];
  if (!open.digests.has(digest) && receiver.events.has('changed')) return [due('changed', digest)];
  return isReminded(receiver, open, now) ? [due('reminder', digest)] : [];
}

function ofFailing(
  receiver: Receiver,
  { found, digest, failures, lastInSync }: WatchState,
  former: Episode | null,
  now: number,
  due: Make,
): Due[] {
  if (!receiver.statuses.has('error')) return [];
  const told = former !== null && !endedUntold(receiver, former, lastInSync) ? former : null;
  if (found !== 'error') return told === null ? [] : [due('resolved', latest(told))];
  if (told === null) return failures >= FAILING ? [due('failing', digest)] : [];
  return isReminded(receiver, told, now) ? [due('reminder', latest(told))] : [];
}

/** Whether what was told has ended since, and the receiver does not get `resolved`. */
function endedUntold({ events }: Receiver, { at }: Episode, lastInSync: string | null): boolean {
  return !events.has('resolved') && lastInSync !== null && Date.parse(lastInSync) > at;
}

function isReminded({ reminder }: Receiver, { at }: Episode, now: number): boolean {
  return reminder !== null && now - at >= reminder;
}

function latest({ digests }: Episode): string {
  return [...digests].at(-1) ?? '';
}
