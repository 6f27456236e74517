import type { Agreement } from '../../../reconciler/model/agreement.ts';
import type { JournalRecord, WatchState } from '../../../reconciler/model/watch.ts';

/** What a file of the journal begins with of each environment: what its records say, but for the last that was put right. */
export const IN_CHECKPOINT = [
  'name',
  'found',
  'since',
  'digest',
  'after',
  'plan',
  'began',
  'origin',
  'dialect',
  'release',
  'commit',
  'lastRead',
  'lastInSync',
  'lastApply',
  'heals',
  'stopped',
  'healFailed',
] as const satisfies readonly (keyof WatchState)[];
type InCheckpoint = Pick<WatchState, (typeof IN_CHECKPOINT)[number]>;

/** What earlier versions wrote none of. */
type Later = 'began' | 'healFailed' | 'origin' | 'dialect' | 'release' | 'commit';

/** What a file of the journal begins with, unless it is the first: what must be known of all environments. */
export interface Checkpoint {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'checkpoint';
  /** `agreed` is the place of one in `agreements`, and `agreedWith` its address, which earlier versions did not write. */
  readonly environments: readonly (Omit<InCheckpoint, Later> &
    Partial<Pick<InCheckpoint, Later>> & {
      readonly agreed?: number | null;
      readonly agreedWith?: string | null;
    })[];
  readonly agreements?: readonly (Agreement | null)[];
  readonly notices: readonly JournalRecord[];
  readonly inFlight: readonly string[];
  /** How far files before were read for this; what others appended to them behind that follows from nothing here. */
  readonly upTo?: readonly Place[] | Place | null;
}

/** A place in a file of the journal. */
export interface Place {
  readonly file: string;
  readonly bytes: number;
}

/** What a file and its service agree on; people are not shown it. */
export interface AgreedLine {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'agreed';
  readonly environment: string;
  readonly agreement: Agreement;
  /** The digest of the service's address. Earlier versions did not write it. */
  readonly address?: string | null;
}

export type JournalLine = JournalRecord | AgreedLine | Checkpoint;

/** Whether a record is about an environment. */
export function isAbout(name: string): (record: JournalRecord) => boolean {
  return (record) => 'environment' in record && record.environment === name;
}

export function isRecordLine(line: JournalLine): line is JournalRecord {
  return line.kind !== 'checkpoint' && line.kind !== 'agreed';
}

/** A line as it is written. */
export function lineOf(line: JournalLine): string {
  return `${quoted(line)}\n`;
}

/** A value as lines have it. Line separators of Unicode would end a line for some readers. */
export function quoted(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
