import { join } from 'node:path';
import { systemCode } from '../../../reconciler/model/error.ts';
import type { JournalRecord, WatchState } from '../../../reconciler/model/watch.ts';
import {
  CURRENT,
  readFileLines,
  journalFiles,
  linesWith,
  notRead,
  readSpans,
  type FileLine,
  type Span,
} from './journal-files.ts';
import {
  createRecordFilter,
  isRecordLine,
  parseJournalLine,
  lineJson,
  type JournalPlace,
  IN_CHECKPOINT,
  type Checkpoint,
  type JournalLine,
} from './journal-lines.ts';
import { lstat } from 'node:fs/promises';
import type { Agreement } from '../../../reconciler/model/agreement.ts';
import { Agreements } from '../agreements.ts';
import { applyFact, notReadState } from '../environment-state.ts';
import { beginningsAfter } from '../beginnings.ts';
import { NotifiedStates } from '../notices/notified-states.ts';

/** The states of all environments in a journal. */
export interface JournalReading {
  readonly memory: Memory;
  /** The number of unreadable lines in those files. */
  readonly damaged: number;
  /** The size of each file that was read: others may append to any of them for as long as they have it open. */
  readonly upTo: readonly JournalPlace[];
}

/** Reads the journal of a folder, also while others append to it and begin new files. Throws file-unreadable if it cannot be read. */
export class JournalReader {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the state of each environment. A line without its end may be one that is being written: `whole` leaves it to later readers. */
  remember({ whole }: { readonly whole: boolean }): Promise<JournalReading> {
    return this.#steadily((names) => this.#fold(names, whole));
  }

  /** The records that are asked for, the latest first. */
  async history(
    isAskedFor: (record: JournalRecord) => boolean,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    return this.#steadily(async (names) => {
      const found: JournalRecord[] = [];
      for (const name of names.toReversed()) {
        const ofFile: JournalRecord[] = [];
        for await (const { text } of this.#lines(name)) {
          const line = parseJournalLine(text);
          if (line === null || !isRecordLine(line) || !isAskedFor(line)) continue;
          ofFile.push(line);
          if (ofFile.length > 2 * limit) ofFile.splice(0, limit);
        }
        found.push(...ofFile.toReversed());
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    });
  }

  /** Folds the lines of files into the state of each environment, if these are accepted. */
  async #fold(names: readonly string[], whole: boolean): Promise<JournalReading> {
    const memory = new Memory();
    const read = new Map<string, number>();
    let damaged = 0;
    const take = async (file: string, from: number): Promise<void> => {
      read.set(file, from);
      for await (const line of this.#lines(file, from)) {
        if (whole && !line.isWhole) continue;
        read.set(file, line.end);
        const parsed = parseJournalLine(line.text);
        if (parsed === null) damaged += 1;
        else memory.take(parsed);
        if (parsed?.kind === 'checkpoint') await takeRests([parsed.upTo ?? []].flat());
      }
    };
    /** Takes the lines that others appended to earlier files while this one was begun. */
    const takeRests = async (places: readonly JournalPlace[]): Promise<void> => {
      for (const { file, bytes } of places) if (names.includes(file)) await take(file, bytes);
    };
    for (const name of names.slice(await this.#lastBegun(names))) await take(name, 0);
    const upTo = [...read].map(([file, bytes]) => ({ file, bytes }));
    return { memory, damaged, upTo };
  }

  /** Which of the files is the last one that begins with all that must be known of those before. */
  async #lastBegun(names: readonly string[]): Promise<number> {
    for (let index = names.length - 1; index > 0; index -= 1) {
      for await (const { text } of this.#lines(names[index] ?? '')) {
        if (parseJournalLine(text)?.kind === 'checkpoint') return index;
        break;
      }
    }
    return 0;
  }

  #lines(name: string, from = 0): AsyncGenerator<FileLine> {
    return readFileLines(join(this.#folder, name), from);
  }

  /** Reads the files, again if another process has begun a new one meanwhile. */
  async #steadily<T>(read: (names: readonly string[]) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const names = await journalFiles(this.#folder);
      const result = await read(names).catch((thrown: unknown) => {
        if (attempt < ATTEMPTS && isMissingFileError(thrown)) return null;
        throw notRead(this.#folder, thrown);
      });
      const same = (await journalFiles(this.#folder)).join('/') === names.join('/');
      if (result !== null && (same || attempt >= ATTEMPTS)) return result;
    }
  }
}

const ATTEMPTS = 5;

function isMissingFileError(thrown: unknown): boolean {
  return systemCode(thrown) === 'ENOENT';
}

/** Reads the current states from a journal. Readers at the same time share one reading, which begins after their request. */
export class SharedReading {
  readonly #journal: { readonly remember: () => Promise<JournalReading> };
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<Memory> | null = null;

  constructor(journal: { readonly remember: () => Promise<JournalReading> }) {
    this.#journal = journal;
  }

  async now(): Promise<Memory> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      const reading = this.#journal.remember();
      this.#reading = reading.catch(() => {});
      return reading.then(({ memory }) => memory);
    });
    return this.#next;
  }
}

/** Records of one environment that are given at most. */
export const MOST_RECORDS = 200;
/** The number of environments with stored places of records, and of those with stored records. */
const MOST_KNOWN = 200;
const MOST_KEPT = 10;

/** A file of the journal, searched to `end` for one environment. */
interface SearchedFile {
  readonly name: string;
  readonly end: number;
  /** Lines that may be records of the environment. */
  readonly spans: readonly Span[];
}

/** The known records of one environment. */
interface KnownRecords {
  /** By the number of the file in its file system and when it was made: its name changes when it is put away, and its number is used again. */
  files: ReadonlyMap<string, SearchedFile>;
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
  /** The most recently requested are the last. */
  readonly #known = new Map<string, KnownRecords>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** At most MOST_RECORDS, the latest first. Throws file-unreadable if the journal cannot be read. */
  async of(name: string): Promise<readonly JournalRecord[]> {
    const known = this.#openRecords(name);
    const reading = known.reading.then(() => this.#read(name, known));
    known.reading = reading.catch(() => {});
    return reading;
  }

  #openRecords(name: string): KnownRecords {
    const found = this.#known.get(name);
    const known = found ?? { files: new Map(), records: null, reading: Promise.resolve() };
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    for (const one of [...this.#known.values()].slice(0, -MOST_KEPT)) one.records = null;
    return known;
  }

  async #read(name: string, known: KnownRecords): Promise<readonly JournalRecord[]> {
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
  async #search(name: string, known: KnownRecords, names: readonly string[]): Promise<void> {
    const needle = Buffer.from(lineJson(name));
    const files = new Map<string, SearchedFile>();
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
    if (computeFilesStamp(files) !== computeFilesStamp(known.files)) known.records = null;
    known.files = files;
  }

  async #load(name: string, known: KnownRecords): Promise<readonly JournalRecord[]> {
    const isAsked = createRecordFilter(name);
    const records: JournalRecord[] = [];
    const files = new Map(known.files);
    for (const [key, { name: file, end, spans }] of [...files].toReversed()) {
      const left = [...spans];
      const good: Span[] = [];
      while (left.length > 0 && records.length < MOST_RECORDS) {
        const some = left.splice(-MOST_RECORDS).toReversed();
        for (const [index, text] of (await readSpans(join(this.#folder, file), some)).entries()) {
          const line = parseJournalLine(text);
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
function computeFilesStamp(files: KnownRecords['files']): string {
  return [...files]
    .filter(([, { spans }]) => spans.length > 0)
    .map(([key, { spans }]) => `${key} ${spans.length} ${spans.at(-1)?.join('-')}`)
    .join('/');
}

/** The state by the lines of a journal, taken one by one, the oldest first. */
export class Memory {
  readonly environments = new Map<string, WatchState>();
  /** The notices to all receivers. */
  notified = new NotifiedStates();
  readonly #inFlight = new Set<string>();
  readonly #agreements = new Agreements();

  /** Returns the known state of an environment; a state without a read if nothing is known. */
  of(name: string): WatchState {
    return this.environments.get(name) ?? notReadState(name);
  }

  /** The smallest number of records with the same content. */
  get notices(): readonly JournalRecord[] {
    return this.notified.records();
  }

  /** Environments to which a write has begun since the last start, and has not ended. */
  get inFlight(): readonly string[] {
    return [...this.#inFlight];
  }

  /** Returns the beginning of a file that continues after these lines, in parts: with thousands of environments it has megabytes. */
  *checkpoint(at: string, upTo: readonly JournalPlace[]): Generator<string> {
    const places = new Map<Agreement, number>();
    yield `{"v":1,"at":${lineJson(at)},"kind":"checkpoint","environments":[`;
    let before = '';
    for (const state of this.environments.values()) {
      yield before + lineJson(inCheckpoint(state, places));
      before = ',';
    }
    const { notices, inFlight } = this;
    yield `],${lineJson({ agreements: [...places.keys()], notices, inFlight, upTo }).slice(1)}\n`;
  }

  take(line: JournalLine): void {
    switch (line.kind) {
      case 'checkpoint':
        this.#begin(line);
        return;
      case 'agreed':
        this.#fold({ ...line, agreement: this.#agreements.of(line.agreement) });
        return;
      case 'forgotten':
        for (const name of line.environments) this.#forget(name);
        return;
      case 'notice':
        this.notified.take(line);
        return;
      case 'writing':
        this.#inFlight.add(line.environment);
        break;
      case 'write':
        if (line.by === 'watch') this.#inFlight.delete(line.environment);
        break;
      case 'started':
        // It is known which writes the one before it had left.
        this.#inFlight.clear();
        break;
      default:
    }
    if ('environment' in line) this.#fold(line);
  }

  #forget(name: string): void {
    this.environments.delete(name);
    this.#inFlight.delete(name);
    this.notified.forget(name);
  }

  #fold(line: Extract<JournalLine, { readonly environment: string }>): void {
    const before = this.of(line.environment);
    const after = applyFact(before, line);
    if (after !== before) this.environments.set(line.environment, after);
  }

  /** Replaces all known facts with the beginning of a file. */
  #begin({ environments, agreements, notices, inFlight }: Checkpoint): void {
    this.environments.clear();
    for (const { agreed: place, agreedWith: address = null, ...one } of environments) {
      const { name, found, plan, since, after } = one;
      const known = Object.fromEntries(
        IN_CHECKPOINT.flatMap((key) => (one[key] === undefined ? [] : [[key, one[key]]])),
      );
      const began = one.began ?? beginningsAfter([], found, plan, since, after);
      const origin = one.origin === undefined ? (plan?.origin ?? null) : one.origin;
      const agreement = agreements?.[place ?? Number.NaN] ?? null;
      const agreed =
        agreement === null ? null : { address, agreement: this.#agreements.of(agreement) };
      const state = { ...notReadState(name), ...known, began, origin, agreed, status: found };
      this.environments.set(name, state);
    }
    this.notified = new NotifiedStates(notices);
    this.#inFlight.clear();
    for (const name of inFlight) this.#inFlight.add(name);
  }
}

/** An environment as a checkpoint has it. `places` are those of agreements, which many environments share. */
function inCheckpoint(
  state: WatchState,
  places: Map<Agreement, number>,
): Checkpoint['environments'][number] {
  const kept = Object.fromEntries(IN_CHECKPOINT.map((name) => [name, state[name]]));
  const of = kept as Pick<WatchState, (typeof IN_CHECKPOINT)[number]>;
  if (state.agreed === null) return { ...of, agreed: null };
  const { agreement, address } = state.agreed;
  const place = places.get(agreement) ?? places.size;
  places.set(agreement, place);
  return { ...of, agreed: place, agreedWith: address };
}
