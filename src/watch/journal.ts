import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { JournalEvent, JournalRecord } from '../model/watch.ts';
import { isRecordLine, parseLines, type Checkpoint, type JournalLine } from './journal-lines.ts';

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
const ROTATED = /^journal-[\dTZ-]+-\d+\.jsonl$/;

/**
 * What happened to environments, one line of JSON each, in a folder. Each append is durable once it resolves. Several processes may append to it: a line
 * is written at once, at the end, and one that was cut off by a kill is left as it is and not read. A new file begins with what
 * must be known of all environments, so that old files can be removed.
 */
export class Journal {
  readonly #folder: string;
  readonly #limits: JournalLimits;
  /** What a new file begins with; null if this process does not begin one. */
  readonly #checkpoint: (() => Checkpoint) | null;
  readonly #now: () => number;
  #waiting: { readonly line: string; readonly done: (error: SetpointError | null) => void }[] = [];
  #writing = false;
  #begun: number | null = null;

  constructor(
    folder: string,
    now: () => number,
    checkpoint: (() => Checkpoint) | null = null,
    limits: JournalLimits = JOURNAL_LIMITS,
  ) {
    this.#folder = folder;
    this.#now = now;
    this.#checkpoint = checkpoint;
    this.#limits = limits;
  }

  /** Appends an event as it is now; resolves once it is on the disk. Throws output-failed if it cannot be. */
  append(event: JournalEvent): Promise<JournalRecord> {
    const record: JournalRecord = { v: 1, at: new Date(this.#now()).toISOString(), ...event };
    return new Promise((resolve, reject) => {
      const done = (error: SetpointError | null): void => {
        if (error === null) resolve(record);
        else reject(error);
      };
      this.#waiting.push({ line: `${JSON.stringify(record)}\n`, done });
      if (!this.#writing) void this.#writeAll();
    });
  }

  /** Everything that can be read, the oldest first, and how many lines cannot. */
  async read(): Promise<{ readonly lines: readonly JournalLine[]; readonly damaged: number }> {
    const lines: JournalLine[] = [];
    let damaged = 0;
    for (const name of await this.#files()) {
      const parsed = parseLines(await readFile(join(this.#folder, name), 'utf8'));
      lines.push(...parsed.lines);
      damaged += parsed.damaged;
    }
    return { lines, damaged };
  }

  /** The records that are asked for, the latest first. */
  async history(
    isAskedFor: (record: JournalRecord) => boolean,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    const { lines } = await this.read();
    return lines
      .toReversed()
      .filter((line) => isRecordLine(line))
      .filter(isAskedFor)
      .slice(0, limit);
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
    const begins = (await this.#rotate()) ? this.#checkpoint?.() : undefined;
    const all = begins === undefined ? lines : [`${JSON.stringify(begins)}\n`, ...lines];
    const file = await open(join(this.#folder, CURRENT), 'a+', 0o600);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // What was cut off stays, and is not joined to what follows.
      const torn = size > 0 && last[0] !== NEWLINE;
      const text = Buffer.from(`${torn ? '\n' : ''}${all.join('')}`);
      const { bytesWritten } = await file.write(text);
      if (bytesWritten < text.length) throw new Error('only a part was written');
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Begins a new file if the current one is too long or too old; whether the next line is the first of a file. */
  async #rotate(): Promise<boolean> {
    if (this.#checkpoint === null) return false;
    const path = join(this.#folder, CURRENT);
    const found = await stat(path).catch(() => null);
    if (found === null || found.size === 0) {
      this.#begun = this.#now();
      return false;
    }
    this.#begun ??= found.birthtimeMs === 0 ? found.mtimeMs : found.birthtimeMs;
    if (found.size < this.#limits.bytes && this.#now() - this.#begun < this.#limits.age)
      return false;
    const stamp = new Date(this.#now()).toISOString().replaceAll(/[:.]/g, '-');
    await rename(path, join(this.#folder, `journal-${stamp}-${process.pid}.jsonl`));
    this.#begun = this.#now();
    const rotated = (await this.#files()).filter((name) => name !== CURRENT);
    for (const name of rotated.slice(0, Math.max(0, rotated.length - this.#limits.files)))
      await rm(join(this.#folder, name), { force: true });
    return true;
  }

  /** The files, the oldest first. */
  async #files(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    const rotated = names.filter((name) => ROTATED.test(name)).toSorted();
    return names.includes(CURRENT) ? [...rotated, CURRENT] : rotated;
  }

  #failed(cause: unknown): SetpointError {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    return new SetpointError(
      'output-failed',
      `The journal in ${this.#folder} cannot be written${code}.`,
      {
        hint: 'Check the folder: its disk may be full, or it may not be writable.',
        cause,
      },
    );
  }
}

const NEWLINE = 0x0a;
