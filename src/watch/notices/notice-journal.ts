import type { JournalRecord, NoticeEvent } from '../../model/watch.ts';

/** The part of a journal that is about notices. */
export interface NoticeJournal {
  /** What was told, the oldest first. */
  readonly told: readonly JournalRecord[];
  /** Keeps an event; resolves once it is on the disk. Throws if it cannot be. */
  readonly keep: (event: NoticeEvent) => Promise<JournalRecord>;
}
