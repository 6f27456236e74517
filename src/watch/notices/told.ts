import type { JournalRecord, NoticeEvent } from '../../model/watch.ts';

/** The part of a journal that is about notices. */
export interface NoticeJournal {
  /** What was told, the oldest first. */
  readonly told: readonly JournalRecord[];
  /** Keeps an event; resolves once it is on the disk. Throws if it cannot be. */
  readonly keep: (event: NoticeEvent) => Promise<JournalRecord>;
}

/** What a receiver was told of an environment. */
export interface Told {
  /** Of what differs; null if nothing is open. */
  readonly difference: Episode | null;
  /** Of reads that fail; null if that is not open. */
  readonly failing: Episode | null;
}

/** From the notice that something is wrong until the one that it is right again. */
export interface Episode {
  /** The states that were told of in it. */
  readonly digests: ReadonlySet<string>;
  /** When the latest notice was begun, in milliseconds since 1970. */
  readonly at: number;
}

type Track = keyof Told;

interface Kept {
  readonly told: Told;
  /** The notices that were begun, and of which it is not known what became: what was told before them. */
  readonly begun: Map<string, { readonly track: Track; readonly episode: Episode | null }>;
}

const NOTHING: Told = { difference: null, failing: null };

/** States of one episode that are kept. One that is dropped may be told again. */
const MOST_DIGESTS = 100;

/**
 * What everybody was told, from the records of the journal. A notice counts from the moment at which it is begun: it may have been taken even
 * if the controller ended before it knew. Only a record that it surely was not taken undoes that.
 */
export class ToldStates {
  readonly #told = new Map<string, Kept>();

  of(receiver: string, environment: string): Told {
    return this.#told.get(keyOf({ receiver, environment }))?.told ?? NOTHING;
  }

  /** Takes a record of the journal, in its order. Others than notices change nothing. */
  take(record: JournalRecord): void {
    if (record.kind !== 'notice') return;
    const key = keyOf(record);
    const kept = this.#told.get(key) ?? { told: NOTHING, begun: new Map() };
    const notice = `${record.event} ${record.digest}`;
    const begun = kept.begun.get(notice);
    const others = new Map([...kept.begun].filter(([one]) => one !== notice));
    switch (record.result) {
      case 'begun': {
        const track = trackOf(kept.told, record);
        const before = { track, episode: kept.told[track] };
        const told = { ...kept.told, [track]: after(kept.told[track], record) };
        this.#told.set(key, { told, begun: others.set(notice, before) });
        break;
      }
      case 'failed': {
        const told =
          begun === undefined ? kept.told : { ...kept.told, [begun.track]: begun.episode };
        this.#told.set(key, { told, begun: others });
        break;
      }
      case 'sent':
      case 'unknown': {
        // What was begun counts already.
        const track = trackOf(kept.told, record);
        const told =
          begun === undefined
            ? { ...kept.told, [track]: after(kept.told[track], record) }
            : kept.told;
        this.#told.set(key, { told, begun: others });
      }
    }
  }

  /** The records that tell the same: what a new file of the journal must begin with. */
  records(): readonly JournalRecord[] {
    return [...this.#told].flatMap(([key, { told }]) => {
      const [receiver = '', environment = ''] = JSON.parse(key) as string[];
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
    });
  }
}

function keyOf({ receiver, environment }: Pick<NoticeEvent, 'receiver' | 'environment'>): string {
  return JSON.stringify([receiver, environment]);
}

/** Whether a notice is about reads that fail, or about what differs. */
function trackOf({ failing }: Told, { event, digest }: NoticeEvent): Track {
  const isFailing = event === 'failing' || failing?.digests.has(digest) === true;
  return isFailing ? 'failing' : 'difference';
}

function after(
  episode: Episode | null,
  { event, digest, at }: NoticeEvent & { readonly at: string },
): Episode | null {
  if (event === 'resolved') return null;
  // What is opened anew has its own states.
  const former = event === 'opened' || event === 'failing' ? [] : [...(episode?.digests ?? [])];
  const digests = [...former.filter((one) => one !== digest), digest];
  return { digests: new Set(digests.slice(-MOST_DIGESTS)), at: Date.parse(at) };
}
