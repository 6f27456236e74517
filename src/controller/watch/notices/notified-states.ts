import type { JournalRecord, NoticeEvent, WatchState } from '../../../reconciler/model/watch.ts';

/**
 * The reason why a reported state is over: it does not differ any more, or can be read; its environment has left the files, or is not
 * watched here; or the receiver does not get notices about it any more.
 */
export type End = 'difference' | 'failing' | 'left-files' | 'not-watched' | 'not-selected';

/** An environment that is not watched any more, as it was known last. */
export interface Departed {
  readonly state: WatchState;
  readonly end: 'left-files' | 'not-watched';
}

/** The part of a journal that is about notices. */
export interface NoticeJournal {
  /** The notices so far, as known here. */
  readonly notified: NotifiedStates;
  /**
   * Stores an event and its notification; resolves once it is on the disk. Throws if it cannot be stored, or if another process must
   * notify.
   */
  readonly record: (event: NoticeEvent) => Promise<JournalRecord>;
  /** An environment that is no longer watched here, and whose end may be reported; null if it is watched, or that is not known yet. */
  readonly findDeparted: (environment: string) => Departed | null;
  /** Reports whether the result for an environment is on the disk, and this controller is to send notices about it. */
  readonly isRecorded: (environment: string) => boolean;
}

/** The notices about an environment that a receiver got. */
export interface NotifiedState {
  /** The episode of a difference; null if it is not open. */
  readonly difference: Episode | null;
  /** The episode of failing reads; null if it is not open. */
  readonly failing: Episode | null;
  /** The last time that a repair or a resolution was reported; null if this process has reported neither. */
  readonly healed: Episode | null;
  /** True if a notice of a difference was begun, and its end is unknown. */
  readonly isPending: boolean;
}

/** From the notice that something is wrong until the one that it is right again. */
export interface Episode {
  /** The states that it reported. */
  readonly digests: ReadonlySet<string>;
  /** The beginning of the latest notice, in milliseconds since 1970. */
  readonly at: number;
}

/** A kind of state that has episodes of its own. */
export type Track = 'difference' | 'failing' | 'healed';
type NoticeRecord = Extract<JournalRecord, { kind: 'notice' }>;

type Episodes = Readonly<Record<Track, Episode | null>>;

/** A notice that was begun, with an unknown end. */
interface Begun {
  readonly record: NoticeRecord;
  /** The episode before it. */
  readonly before: Episode | null;
}

interface StoredNotices {
  readonly episodes: Episodes;
  /** The last one of each track, unless it is known what became of it. */
  readonly begun: Readonly<Record<Track, Begun | null>>;
}

const NOTHING = { difference: null, failing: null, healed: null };

/** The number of stored states of one episode. One that is dropped may be reported again. */
const MOST_DIGESTS = 100;

/**
 * The notices of all receivers, from the records of the journal. A notice counts from the moment at which it is begun: it may have been
 * delivered even if the controller ended before it knew. Only a record that it surely was not delivered undoes that.
 */
export class NotifiedStates {
  /** By environment, and by receiver. */
  readonly #notified = new Map<string, ReadonlyMap<string, StoredNotices>>();

  /** `records` are the oldest first. */
  constructor(records: readonly JournalRecord[] = []) {
    for (const record of records) this.take(record);
  }

  of(receiver: string, environment: string): NotifiedState {
    const known = this.#notified.get(environment)?.get(receiver);
    const { episodes, begun } = known ?? { episodes: NOTHING, begun: NOTHING };
    return { ...episodes, isPending: begun.difference !== null };
  }

  /** The environments for which a receiver has an open notice, to its knowledge. */
  listOpen(receiver: string): readonly string[] {
    return [...this.#notified].flatMap(([environment, ofReceivers]) => {
      const known = ofReceivers.get(receiver);
      return known !== undefined && hasOpenEpisode(known) ? [environment] : [];
    });
  }

  /** The environments with any notice. */
  get environments(): readonly string[] {
    return [...this.#notified.keys()];
  }

  /** Replaces the known state of an environment with that of others. */
  renew(environment: string, others: NotifiedStates): void {
    const known = others.#notified.get(environment);
    if (known === undefined) this.#notified.delete(environment);
    else this.#notified.set(environment, known);
  }

  /** Removes the notices of an environment, unless a receiver still has to get its end. */
  forget(environment: string): void {
    const receivers = this.#notified.get(environment)?.values() ?? [];
    if (![...receivers].some(hasOpenEpisode)) this.#notified.delete(environment);
  }

  /** Takes a record of the journal, in its order. Others than notices change nothing. */
  take(record: JournalRecord): void {
    if (record.kind !== 'notice') return;
    const { environment, receiver } = record;
    const before = this.#notified.get(environment) ?? new Map<string, StoredNotices>();
    const next = addNoticeRecord(
      before.get(receiver) ?? { episodes: NOTHING, begun: NOTHING },
      record,
    );
    this.#notified.set(environment, new Map(before).set(receiver, next));
  }

  /** The records with the same content, also for processing later ones: the required beginning of a new file of the journal. */
  records(): readonly JournalRecord[] {
    return [...this.#notified].flatMap(([environment, ofReceivers]) =>
      [...ofReceivers].flatMap(([receiver, { episodes, begun }]) => {
        const recordsOf = (track: Track, first: NoticeEvent['event']): NoticeRecord[] => {
          const last = begun[track];
          const episode = last === null ? episodes[track] : last.before;
          const before = [...(episode?.digests ?? [])].map((digest, index): NoticeRecord => ({
            v: 1,
            at: new Date(episode?.at ?? 0).toISOString(),
            kind: 'notice',
            environment,
            event: index === 0 ? first : 'changed',
            receiver,
            digest,
            result: 'sent',
          }));
          return last === null ? before : [...before, last.record];
        };
        return [...recordsOf('difference', 'opened'), ...recordsOf('failing', 'failing')];
      }),
    );
  }
}

/** Reports whether a receiver has a notice about something that has not ended, to its knowledge. */
function hasOpenEpisode({ episodes, begun }: StoredNotices): boolean {
  return episodes.difference !== null || episodes.failing !== null || begun.difference !== null;
}

function addNoticeRecord({ episodes, begun }: StoredNotices, record: NoticeRecord): StoredNotices {
  const { result, event, digest } = record;
  const ended = TRACKS.find((track) => {
    const last = begun[track]?.record;
    return last?.event === event && last.digest === digest;
  });
  if (result !== 'begun' && ended !== undefined) {
    // A notice counts from its beginning, unless it was not delivered.
    const before = begun[ended]?.before ?? null;
    return {
      episodes: result === 'failed' ? { ...episodes, [ended]: before } : episodes,
      begun: { ...begun, [ended]: null },
    };
  }
  const track = findTrack(episodes, record);
  // It is about another notice than the last one that was begun.
  const isOther = event === 'resolved' && episodes[track]?.digests.has(digest) !== true;
  const isLate = begun[track] !== null || isOther;
  if (result === 'failed' || (result !== 'begun' && isLate)) return { episodes, begun };
  const before = episodes[track];
  // A receiver that gets the resolution does not need the notice of healing.
  const healed =
    event === 'resolved' ? episodeAfter(null, { ...record, event: 'healed' }) : episodes.healed;
  return {
    episodes: { ...episodes, healed, [track]: episodeAfter(before, record) },
    begun: { ...begun, [track]: result === 'begun' ? { record, before } : null },
  };
}

const TRACKS: readonly Track[] = ['difference', 'failing', 'healed'];

/** Returns whether a notice is about failing reads, or about a difference. */
function findTrack({ failing }: Episodes, { event, digest }: NoticeEvent): Track {
  if (event === 'healed') return 'healed';
  const isFailing = event === 'failing' || failing?.digests.has(digest) === true;
  return isFailing ? 'failing' : 'difference';
}

function episodeAfter(
  episode: Episode | null,
  { event, digest, at }: NoticeRecord,
): Episode | null {
  if (event === 'resolved') return null;
  // A reopened episode has its own states.
  const former = event === 'opened' || event === 'failing' ? [] : [...(episode?.digests ?? [])];
  const digests = [...former.filter((one) => one !== digest), digest];
  return { digests: new Set(digests.slice(-MOST_DIGESTS)), at: Date.parse(at) };
}
