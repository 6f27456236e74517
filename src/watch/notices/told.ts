import type { JournalRecord, NoticeEvent } from '../../model/watch.ts';

/** The part of a journal that is about notices. */
export interface NoticeJournal {
  /** What was told by now, as far as it is known here. */
  readonly told: ToldStates;
  /** Keeps an event, and that it was told; resolves once it is on the disk. Throws if it cannot be, or if somebody else is to tell. */
  readonly keep: (event: NoticeEvent) => Promise<JournalRecord>;
}

/** What a receiver was told of an environment. */
export interface Told {
  /** Of what differs; null if nothing is open. */
  readonly difference: Episode | null;
  /** Of reads that fail; null if that is not open. */
  readonly failing: Episode | null;
  /** Whether a notice was begun of which it is not known what became. */
  readonly isPending: boolean;
}

/** From the notice that something is wrong until the one that it is right again. */
export interface Episode {
  /** The states that were told of in it. */
  readonly digests: ReadonlySet<string>;
  /** When the latest notice was begun, in milliseconds since 1970. */
  readonly at: number;
}

type Track = 'difference' | 'failing';
type NoticeRecord = NoticeEvent & { readonly at: string };

interface Kept {
  readonly told: Told;
  /** The notices that were begun, and of which it is not known what became: what was told before them. */
  readonly begun: Map<string, { readonly track: Track; readonly episode: Episode | null }>;
}

const NOTHING: Told = { difference: null, failing: null, isPending: false };

/** States of one episode that are kept. One that is dropped may be told again. */
const MOST_DIGESTS = 100;

/**
 * What everybody was told, from the records of the journal. A notice counts from the moment at which it is begun: it may have been taken even
 * if the controller ended before it knew. Only a record that it surely was not taken undoes that.
 */
export class ToldStates {
  /** By environment, and by receiver. */
  readonly #told = new Map<string, ReadonlyMap<string, Kept>>();

  /** `records` are the oldest first. */
  constructor(records: readonly JournalRecord[] = []) {
    for (const record of records) this.take(record);
  }

  of(receiver: string, environment: string): Told {
    const known = this.#told.get(environment)?.get(receiver);
    return known === undefined ? NOTHING : { ...known.told, isPending: known.begun.size > 0 };
  }

  /** Takes what others know of an environment in the place of what is known here. */
  renew(environment: string, others: ToldStates): void {
    const known = others.#told.get(environment);
    if (known === undefined) this.#told.delete(environment);
    else this.#told.set(environment, known);
  }

  /** Takes a record of the journal, in its order. Others than notices change nothing. */
  take(record: JournalRecord): void {
    if (record.kind !== 'notice') return;
    const { environment, receiver } = record;
    const before = this.#told.get(environment) ?? new Map<string, Kept>();
    const kept = after(before.get(receiver) ?? { told: NOTHING, begun: new Map() }, record);
    this.#told.set(environment, new Map(before).set(receiver, kept));
  }

  /** The records that tell the same: what a new file of the journal must begin with. */
  records(): readonly JournalRecord[] {
    return [...this.#told].flatMap(([environment, ofReceivers]) =>
      [...ofReceivers].flatMap(([receiver, { told }]) => {
        const recordsOf = (episode: Episode | null, first: NoticeEvent['event']): JournalRecord[] =>
          [...(episode?.digests ?? [])].map((digest, index) => ({
            v: 1,
            at: new Date(episode?.at ?? 0).toISOString(),
            kind: 'notice',
            environment,
            event: index === 0 ? first : 'changed',
            receiver,
            digest,
            result: 'sent',
          }));
        return [...recordsOf(told.difference, 'opened'), ...recordsOf(told.failing, 'failing')];
      }),
    );
  }
}

function after({ told, begun: all }: Kept, record: NoticeRecord): Kept {
  const notice = `${record.event} ${record.digest}`;
  const begun = all.get(notice);
  const others = new Map([...all].filter(([one]) => one !== notice));
  switch (record.result) {
    case 'begun': {
      const track = trackOf(told, record);
      const before = { track, episode: told[track] };
      const now = { ...told, [track]: episodeAfter(told[track], record) };
      return { told: now, begun: others.set(notice, before) };
    }
    case 'failed':
      return {
        told: begun === undefined ? told : { ...told, [begun.track]: begun.episode },
        begun: others,
      };
    case 'sent':
    case 'unknown': {
      // What was begun counts already.
      const track = trackOf(told, record);
      const now = { ...told, [track]: episodeAfter(told[track], record) };
      return { told: begun === undefined ? now : told, begun: others };
    }
  }
}

/** Whether a notice is about reads that fail, or about what differs. */
function trackOf({ failing }: Told, { event, digest }: NoticeEvent): Track {
  const isFailing = event === 'failing' || failing?.digests.has(digest) === true;
  return isFailing ? 'failing' : 'difference';
}

function episodeAfter(
  episode: Episode | null,
  { event, digest, at }: NoticeRecord,
): Episode | null {
  if (event === 'resolved') return null;
  // What is opened anew has its own states.
  const former = event === 'opened' || event === 'failing' ? [] : [...(episode?.digests ?? [])];
  const digests = [...former.filter((one) => one !== digest), digest];
  return { digests: new Set(digests.slice(-MOST_DIGESTS)), at: Date.parse(at) };
}
