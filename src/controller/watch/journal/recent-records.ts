import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../../reconciler/model/error.ts';
import type { JournalRecord } from '../../../reconciler/model/watch.ts';
import { CURRENT, journalFiles, linesWith, notRead, textsAt, type Span } from './journal-files.ts';
import { parsedLine } from './journal-forms.ts';
import { isAbout, isRecordLine, quoted } from './journal-lines.ts';

/** Records of one environment that are given at most. */
export const MOST_RECORDS = 200;
/** Environments of which it is kept where their records are, and those of which the records are kept, too. */
const MOST_KNOWN = 200;
const MOST_KEPT = 10;
const ATTEMPTS = 5;

/** A file of the journal as far as it was searched for one environment. */
interface Searched {
  readonly name: string;
  readonly end: number;
  /** Lines that may be records of the environment. */
  readonly spans: readonly Span[];
}

/** What is known of the records of one environment. */
interface Known {
  /** By the number of the file in its file system and when it was made: its name changes when it is put away, and its number is used again. */
  files: ReadonlyMap<string, Searched>;
  /** Null if they have to be read again. */
  records: readonly JournalRecord[] | null;
  reading: Promise<unknown>;
}

/**
 * The latest records of environments, for those who ask again and again: of a journal of hundreds of megabytes only what was appended since is
 * searched, and only the lines that name the environment are parsed.
 */
export class RecentRecords {
  readonly #folder: string;
  /** Those that were asked for last are the last. */
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** At most MOST_RECORDS, the latest first. Throws file-unreadable if the journal cannot be read. */
  async of(name: string): Promise<readonly JournalRecord[]> {
    const known = this.#knownOf(name);
    const reading = known.reading.then(() => this.#read(name, known));
    known.reading = reading.catch(() => {});
    return reading;
  }

  #knownOf(name: string): Known {
    const found = this.#known.get(name);
    const known = found ?? { files: new Map(), records: null, reading: Promise.resolve() };
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    for (const one of [...this.#known.values()].slice(0, -MOST_KEPT)) one.records = null;
    return known;
  }

  async #read(name: string, known: Known): Promise<readonly JournalRecord[]> {
    for (let attempt = 1; ; attempt += 1) {
      const names = await journalFiles(this.#folder);
      try {
        await this.#search(name, known, names);
        known.records ??= await this.#load(name, known);
      } catch (thrown) {
        const isGone = systemCode(thrown) === 'ENOENT';
        if (!isGone || attempt >= ATTEMPTS) throw notRead(this.#folder, thrown);
      }
      // Another process may have begun a new file meanwhile.
      const same = (await journalFiles(this.#folder)).join('/') === names.join('/');
      if (known.records !== null && (same || attempt >= ATTEMPTS)) return known.records;
    }
  }

  /** Searches what was appended since it was searched before. */
  async #search(name: string, known: Known, names: readonly string[]): Promise<void> {
    const needle = Buffer.from(quoted(name));
    const files = new Map<string, Searched>();
    for (const file of names) {
      const path = join(this.#folder, file);
      const { ino, birthtimeMs, size } = await lstat(path);
      const key = `${ino} ${birthtimeMs}`;
      const before = known.files.get(key);
      // Not every file system knows when a file was made.
      const isSame = before?.name === file || before?.name === CURRENT;
      const searched = isSame && before.end <= size ? before : { end: 0, spans: [] };
      if (searched.end === size) files.set(key, { ...searched, name: file });
      else {
        const { end, spans } = await linesWith(path, needle, searched.end);
        files.set(key, { name: file, end, spans: [...searched.spans, ...spans] });
      }
    }
    if (stampOf(files) !== stampOf(known.files)) known.records = null;
    known.files = files;
  }

  async #load(name: string, known: Known): Promise<readonly JournalRecord[]> {
    const isAsked = isAbout(name);
    const records: JournalRecord[] = [];
    const files = new Map(known.files);
    for (const [key, { name: file, end, spans }] of [...files].toReversed()) {
      const left = [...spans];
      const good: Span[] = [];
      while (left.length > 0 && records.length < MOST_RECORDS) {
        const some = left.splice(-MOST_RECORDS).toReversed();
        for (const [index, text] of (await textsAt(join(this.#folder, file), some)).entries()) {
          const line = parsedLine(text);
          const span = some[index];
          if (line === null || span === undefined || !isRecordLine(line) || !isAsked(line))
            continue;
          good.unshift(span);
          records.push(line);
        }
      }
      files.set(key, { name: file, end, spans: [...left, ...good] });
    }
    known.files = files;
    return records.slice(0, MOST_RECORDS);
  }
}

/** Changes with each line that is found. */
function stampOf(files: Known['files']): string {
  return [...files]
    .filter(([, { spans }]) => spans.length > 0)
    .map(([key, { spans }]) => `${key} ${spans.length} ${spans.at(-1)?.join('-')}`)
    .join('/');
}
