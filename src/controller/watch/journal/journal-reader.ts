import { join } from 'node:path';
import { systemCode } from '../../../reconciler/model/error.ts';
import type { JournalRecord } from '../../../reconciler/model/watch.ts';
import { fileLines, journalFiles, notRead, type FileLine } from './journal-files.ts';
import { parsedLine } from './journal-forms.ts';
import { isRecordLine, type Place } from './journal-lines.ts';
import { Memory } from './memory.ts';

/** What a journal says of each environment. */
export interface Reading {
  readonly memory: Memory;
  /** How many lines of the files that say it cannot be read. */
  readonly damaged: number;
  /** How much of each file was read: others may append to any of them for as long as they have it open. */
  readonly upTo: readonly Place[];
}

/** Reads the journal of a folder, also while others append to it and begin new files. Throws file-unreadable if it cannot be read. */
export class JournalReader {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What it says of each environment. A line without its end may be one that is being written: `whole` leaves it to those who read later. */
  remember({ whole }: { readonly whole: boolean }): Promise<Reading> {
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
          const line = parsedLine(text);
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

  /** What files say of each environment by their lines, as far as these are taken. */
  async #fold(names: readonly string[], whole: boolean): Promise<Reading> {
    const memory = new Memory();
    const read = new Map<string, number>();
    let damaged = 0;
    const take = async (file: string, from: number): Promise<void> => {
      read.set(file, from);
      for await (const line of this.#lines(file, from)) {
        if (whole && !line.isWhole) continue;
        read.set(file, line.end);
        const parsed = parsedLine(line.text);
        if (parsed === null) damaged += 1;
        else memory.take(parsed);
        if (parsed?.kind === 'checkpoint') await takeRests([parsed.upTo ?? []].flat());
      }
    };
    /** What others appended to files before while this one was begun. */
    const takeRests = async (places: readonly Place[]): Promise<void> => {
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
        if (parsedLine(text)?.kind === 'checkpoint') return index;
        break;
      }
    }
    return 0;
  }

  #lines(name: string, from = 0): AsyncGenerator<FileLine> {
    return fileLines(join(this.#folder, name), from);
  }

  /** Reads the files, again if another process has begun a new one meanwhile. */
  async #steadily<T>(read: (names: readonly string[]) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const names = await journalFiles(this.#folder);
      const result = await read(names).catch((thrown: unknown) => {
        if (attempt < ATTEMPTS && isMissing(thrown)) return null;
        throw notRead(this.#folder, thrown);
      });
      const same = (await journalFiles(this.#folder)).join('/') === names.join('/');
      if (result !== null && (same || attempt >= ATTEMPTS)) return result;
    }
  }
}

const ATTEMPTS = 5;

function isMissing(thrown: unknown): boolean {
  return systemCode(thrown) === 'ENOENT';
}

/** What a journal says of environments by now. Those that ask at the same time share one reading, which begins after they asked. */
export class SharedReading {
  readonly #journal: { readonly remember: () => Promise<Reading> };
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<Memory> | null = null;

  constructor(journal: { readonly remember: () => Promise<Reading> }) {
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
