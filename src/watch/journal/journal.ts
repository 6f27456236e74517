import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SetpointError } from '../../model/error.ts';
import type { JournalEvent, JournalRecord } from '../../model/watch.ts';
import { syncFolder } from '../../host/write-aside.ts';
import { isRecordLine, Memory, parsedLine, type JournalLine } from './journal-lines.ts';

export interface JournalLimits {
  /** Bytes after which a new file is begun. */
  readonly bytes: number;
  /** Milliseconds after which a new file is begun. */
  readonly age: number;
  /** How many files are kept besides the one that is written. */
  readonly files: number;
}

export const JOURNAL_LIMITS: JournalLimits = {
  bytes: 16 * 1024 * 1024,
  age: 7 * 24 * 3_600_000,
  files: 20,
};

const CURRENT = 'journal.jsonl';
const ROTATED = /^journal-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-\d+\.jsonl$/;

/**
 * What happened to environments, one line of JSON each, in a folder. Each append is durable once it resolves. Several processes may append to it: a line
 * is written at once, at the end, and one that was cut off by a kill is left as it is and not read. A new file begins with what the
 * files before say of all environments, so that these can be removed.
 */
export class Journal {
  readonly #folder: string;
  /** When a new file is begun; null if this process begins none. */
  readonly #limits: JournalLimits | null;
  readonly #now: () => number;
  #waiting: { readonly line: string; readonly done: (error: SetpointError | null) => void }[] = [];
  #writing = false;
  #begun: number | null = null;

  constructor(folder: string, now: () => number, limits: JournalLimits | null = null) {
    this.#folder = folder;
    this.#now = now;
    this.#limits = limits;
  }

  /** Appends an event, of now unless said otherwise; resolves once it is on the disk. Throws output-failed if it cannot be. */
  append(event: JournalEvent, at = this.#now()): Promise<JournalRecord> {
    const record: JournalRecord = { v: 1, at: new Date(at).toISOString(), ...event };
    return new Promise((resolve, reject) => {
      const done = (error: SetpointError | null): void => {
        if (error === null) resolve(record);
        else reject(error);
      };
      this.#waiting.push({ line: lineOf(record), done });
      if (!this.#writing) void this.#writeAll();
    });
  }

  /** What it says of each environment, and how many lines of the files that say it cannot be read. */
  async remember(): Promise<{ readonly memory: Memory; readonly damaged: number }> {
    return this.#steadily(async (names) => {
      const memory = new Memory();
      let damaged = 0;
      for (const name of names.slice(await this.#lastBegun(names))) {
        for await (const line of this.#lines(name)) {
          if (line === null) damaged += 1;
          else memory.take(line);
        }
      }
      return { memory, damaged };
    });
  }

  /** Changes with each line that anybody appends. */
  async stamp(): Promise<string> {
    const found = await stat(join(this.#folder, CURRENT)).catch(() => null);
    return found === null ? '' : `${found.ino} ${found.size}`;
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
        for await (const line of this.#lines(name)) {
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

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const error = await this.#write(batch.map(({ line }) => line)).then(
        () => null,
        (thrown: unknown) => this.#failed(thrown),
      );
      for (const { done } of batch) done(error);
    }
    this.#writing = false;
  }

  async #write(lines: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#rotate();
    // What was appended to a file that another process had just put away may be missing in what the new one begins with.
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
      if (await this.#appended(lines.join(''))) return;
    throw new Error('other processes begin one file after another');
  }

  /** Whether it was appended to the file that is the current one also after that. */
  async #appended(lines: string): Promise<boolean> {
    const path = join(this.#folder, CURRENT);
    const file = await open(path, 'a+', 0o600);
    try {
      const { size, ino } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // What was cut off stays, and is not joined to what follows.
      const torn = size > 0 && last[0] !== NEWLINE;
      const text = Buffer.from(`${torn ? '\n' : ''}${lines}`);
      const { bytesWritten } = await file.write(text);
      if (bytesWritten < text.length) throw new Error('only a part was written');
      await file.sync();
      // A new file survives a loss of power only once its folder is on the disk, too. Not every system can do that.
      if (size === 0) await syncFolder(this.#folder).catch(() => {});
      return (await stat(path).catch(() => null))?.ino === ino;
    } finally {
      await file.close();
    }
  }

  /** Begins a new file if the current one is too long or too old. */
  async #rotate(): Promise<void> {
    const limits = this.#limits;
    if (limits === null) return;
    const path = join(this.#folder, CURRENT);
    const found = await stat(path).catch(() => null);
    const now = this.#now();
    if (found?.isFile() !== true || found.size === 0) {
      this.#begun = now;
      return;
    }
    this.#begun ??= found.birthtimeMs === 0 ? found.mtimeMs : found.birthtimeMs;
    if (found.size < limits.bytes && now - this.#begun < limits.age) return;
    const before = (await this.#files()).filter((name) => name !== CURRENT);
    await rename(path, join(this.#folder, nextName(before.at(-1), now))).catch(unlessMissing);
    this.#begun = now;
    const { memory } = await this.remember();
    if (await this.#begin(lineOf(memory.checkpoint(new Date(now).toISOString()))))
      await this.#removeOldest(limits.files);
  }

  /** Makes the current file, with its first line. False if another process was quicker: then the files before it say what must be known. */
  async #begin(line: string): Promise<boolean> {
    const next = join(this.#folder, `next-${process.pid}-${crypto.randomUUID()}`);
    try {
      const file = await open(next, 'wx', 0o600);
      try {
        await file.writeFile(line);
        await file.sync();
      } finally {
        await file.close();
      }
      return await link(next, join(this.#folder, CURRENT)).then(
        () => true,
        () => false,
      );
    } finally {
      await rm(next, { force: true });
    }
  }

  async #removeOldest(kept: number): Promise<void> {
    const rotated = (await this.#files()).filter((name) => name !== CURRENT);
    for (const name of rotated.slice(0, Math.max(0, rotated.length - kept)))
      await rm(join(this.#folder, name), { force: true });
  }

  /** Which of the files is the last one that begins with all that must be known of those before. */
  async #lastBegun(names: readonly string[]): Promise<number> {
    for (let index = names.length - 1; index > 0; index -= 1) {
      for await (const line of this.#lines(names[index] ?? '')) {
        if (line?.kind === 'checkpoint') return index;
        break;
      }
    }
    return 0;
  }

  /** The lines of a file; null for one that cannot be read. */
  async *#lines(name: string): AsyncGenerator<JournalLine | null> {
    const input = createReadStream(join(this.#folder, name));
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
        if (line !== '') yield parsedLine(line);
    } finally {
      input.destroy();
    }
  }

  /** Reads the files, again if another process has begun a new one meanwhile. */
  async #steadily<T>(read: (names: readonly string[]) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const names = await this.#files();
      const result = await read(names).catch((thrown: unknown) => {
        if (attempt < ATTEMPTS && isMissing(thrown)) return null;
        throw this.#unreadable(thrown);
      });
      const same = (await this.#files()).join('/') === names.join('/');
      if (result !== null && (same || attempt >= ATTEMPTS)) return result;
    }
  }

  /** The files, the oldest first. */
  async #files(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    const rotated = names.filter((name) => ROTATED.test(name)).toSorted();
    return names.includes(CURRENT) ? [...rotated, CURRENT] : rotated;
  }

  #failed(cause: unknown): SetpointError {
    return new SetpointError(
      'output-failed',
      `The journal in ${this.#folder} cannot be written${codeOf(cause)}.`,
      {
        hint: 'Check the folder: its disk may be full, or it may not be writable.',
        cause,
      },
    );
  }

  #unreadable(cause: unknown): SetpointError {
    return new SetpointError(
      'file-unreadable',
      `The journal in ${this.#folder} cannot be read${codeOf(cause)}.`,
      { hint: 'Check who may read the folder and its files.', cause },
    );
  }
}

const NEWLINE = 0x0a;
const ATTEMPTS = 5;

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
}

/** What it throws if something else than a missing file is the matter: another process may have begun a new file first. */
function unlessMissing(thrown: unknown): void {
  if (!isMissing(thrown)) throw thrown;
}

/** Line separators of Unicode would end a line for some readers. */
function lineOf(line: JournalLine): string {
  const text = JSON.stringify(line);
  return `${text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}

/** A name that comes after the last one, also if the clock was set back. */
function nextName(last: string | undefined, now: number): string {
  const [, text = ''] = ROTATED.exec(last ?? '') ?? [];
  const before = Date.parse(text.replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.'));
  const at = Number.isNaN(before) ? now : Math.max(now, before + 1);
  const stamp = new Date(at).toISOString().replaceAll(/[:.]/g, '-');
  return `journal-${stamp}-${process.pid}.jsonl`;
}
