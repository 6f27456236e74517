import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SetpointError } from '../../model/error.ts';
import type { JournalEvent, JournalRecord } from '../../model/watch.ts';
import { syncFolder } from '../../host/write-aside.ts';
import type { Agreement } from '../../operations/session.ts';
import { notRead, notWritten } from './journal-error.ts';
import {
  alone,
  appendLines,
  createWith,
  CURRENT,
  fileLines,
  journalFiles,
  nextName,
  type FileLine,
} from './journal-files.ts';
import {
  isRecordLine,
  lineOf,
  Memory,
  parsedLine,
  type AgreedLine,
  type JournalLine,
  type Place,
} from './journal-lines.ts';

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
  /** Who asks whether it is still this process's own. */
  #asking: ((isOwn: boolean) => void)[] = [];
  #writing = false;
  #begun: number | null = null;
  /** How far it is known: up to what others had appended, and what this process appended right behind it. */
  #known: string | null = null;

  constructor(folder: string, now: () => number, limits: JournalLimits | null = null) {
    this.#folder = folder;
    this.#now = now;
    this.#limits = limits;
  }

  /** Appends an event, of now unless said otherwise; resolves once it is on the disk. Throws output-failed if it cannot be. */
  append(event: JournalEvent, at = this.#now()): Promise<JournalRecord> {
    return this.#add<JournalRecord>({ v: 1, at: new Date(at).toISOString(), ...event });
  }

  /** Appends what a file and its service agree on; as durable as an event. Throws output-failed if it cannot be. */
  async agree(environment: string, agreement: Agreement): Promise<void> {
    const at = new Date(this.#now()).toISOString();
    await this.#add<AgreedLine>({ v: 1, at, kind: 'agreed', environment, agreement });
  }

  #add<L extends JournalLine>(line: L): Promise<L> {
    return new Promise((resolve, reject) => {
      const done = (error: SetpointError | null): void => {
        if (error === null) resolve(line);
        else reject(error);
      };
      this.#waiting.push({ line: lineOf(line), done });
      if (!this.#writing) void this.#writeAll();
    });
  }

  /** What it says of each environment, and how many lines of the files that say it cannot be read. */
  async remember(): Promise<{ readonly memory: Memory; readonly damaged: number }> {
    return this.#steadily((names) => this.#fold(names, () => true));
  }

  /** Takes that what it says by now is known. */
  async mark(): Promise<void> {
    this.#known = stampOf(await this.#lengths());
  }

  /** Whether only this process has appended to it since then. */
  isOwn(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#asking.push(resolve);
      if (!this.#writing) void this.#writeAll();
    });
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

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0 || this.#asking.length > 0) {
      // Between two writes: of one in between it could not be told whose it is.
      if (this.#asking.length > 0) await this.#answer();
      if (this.#waiting.length === 0) continue;
      const batch = this.#waiting;
      this.#waiting = [];
      const error = await this.#write(batch.map(({ line }) => line)).then(
        () => null,
        (thrown: unknown) => notWritten(this.#folder, thrown),
      );
      for (const { done } of batch) done(error);
    }
    this.#writing = false;
  }

  async #answer(): Promise<void> {
    const asking = this.#asking;
    this.#asking = [];
    const isOwn = stampOf(await this.#lengths()) === this.#known;
    for (const answer of asking) answer(isOwn);
  }

  async #write(lines: readonly string[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#rotate();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
      if (await this.#appended(lines.join(''))) return;
    throw new Error('other processes begin one file after another');
  }

  /** Whether it was appended to a file of which all is read that is there by now. */
  async #appended(lines: string): Promise<boolean> {
    const before = await this.#lengths();
    const { file, isNew, joined, bytes } = await appendLines(join(this.#folder, CURRENT), lines);
    if (joined) return false;
    await this.#follow(before, new Map(before).set(file, (before.get(file) ?? 0) + bytes));
    // A new file survives a loss of power only once its folder is on the disk, too. Not every system can do that.
    if (isNew) await syncFolder(this.#folder).catch(() => {});
    // Another process may have put the file away. Whatever begins the next one says how much of it it has read.
    if ((await this.#fileOf(CURRENT)) === file) return true;
    const [last = ''] = (await journalFiles(this.#folder))
      .filter((name) => name !== CURRENT)
      .slice(-1);
    return (await this.#fileOf(last)) === file;
  }

  /** Takes what this process appended as known, unless somebody else appended before or meanwhile. */
  async #follow(before: Map<number, number>, after: Map<number, number>): Promise<void> {
    if (stampOf(before) !== this.#known) return;
    const known = stampOf(after);
    if (stampOf(await this.#lengths()) === known) this.#known = known;
  }

  async #fileOf(name: string): Promise<number | undefined> {
    return (await stat(join(this.#folder, name)).catch(() => null))?.ino;
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
    // Of two that put a file away, the second one would put away the new file of the first.
    await alone(join(this.#folder, 'rotating'), async () => {
      const isSame = (await this.#fileOf(CURRENT)) === found.ino;
      if (isSame) await this.#putAway(now, limits.files);
    });
    this.#begun = now;
  }

  async #putAway(now: number, kept: number): Promise<void> {
    const before = (await journalFiles(this.#folder)).filter((name) => name !== CURRENT);
    const name = nextName(before.at(-1), now);
    await rename(join(this.#folder, CURRENT), join(this.#folder, name));
    // A line without its end may be one that is being written: it is left to those who read after this.
    const { memory, upTo } = await this.#steadily((names) =>
      this.#fold(names, ({ isWhole }) => isWhole),
    );
    const line = lineOf(memory.checkpoint(new Date(now).toISOString(), upTo));
    // If an append was quicker, the files before say what must be known.
    if (await createWith(join(this.#folder, CURRENT), line)) await this.#removeOldest(kept);
  }

  async #removeOldest(kept: number): Promise<void> {
    const rotated = (await journalFiles(this.#folder)).filter((name) => name !== CURRENT);
    for (const name of rotated.slice(0, Math.max(0, rotated.length - kept)))
      await rm(join(this.#folder, name), { force: true });
  }

  /** What files say of each environment by their lines, as far as these are taken. */
  async #fold(names: readonly string[], isTaken: (line: FileLine) => boolean) {
    const memory = new Memory();
    let damaged = 0;
    let upTo: Place | null = null;
    const take = async (file: string, from: number): Promise<void> => {
      upTo = { file, bytes: from };
      for await (const line of this.#lines(file, from)) {
        if (!isTaken(line)) continue;
        upTo = { file, bytes: line.end };
        const parsed = parsedLine(line.text);
        if (parsed === null) damaged += 1;
        else memory.take(parsed);
        // What others appended to the file before while this one was begun.
        if (parsed?.kind === 'checkpoint' && parsed.upTo !== null) await rest(parsed.upTo);
      }
    };
    const rest = async ({ file, bytes }: Place): Promise<void> => {
      const last = upTo;
      if (names.includes(file)) await take(file, bytes);
      upTo = last;
    };
    for (const name of names.slice(await this.#lastBegun(names))) await take(name, 0);
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

  /** Of the two latest files, since an append may go to either: their numbers, and how many bytes they have. */
  async #lengths(): Promise<Map<number, number>> {
    const latest = (await journalFiles(this.#folder)).slice(-2);
    const found = await Promise.all(
      latest.map((name) => stat(join(this.#folder, name)).catch(() => null)),
    );
    return new Map(found.flatMap((file) => (file === null ? [] : [[file.ino, file.size]])));
  }
}

/** Changes with each line that anybody appends. */
function stampOf(lengths: ReadonlyMap<number, number>): string {
  return [...lengths].join(' ');
}

const ATTEMPTS = 5;

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
