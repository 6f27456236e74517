import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SetpointError } from '../../../reconciler/model/error.ts';
import type { JournalEvent, JournalRecord } from '../../../reconciler/model/watch.ts';
import { createAside, makeFolder, syncFolder } from '../../../reconciler/host/write-aside.ts';
import type { AgreementWith } from '../../../reconciler/model/agreement.ts';
import {
  alone,
  appendLines,
  CURRENT,
  hasRoom,
  journalFiles,
  nextName,
  createJournalError,
  type AppendResult,
} from './journal-files.ts';
import { formatJournalLine, type AgreedLine } from './journal-lines.ts';
import { JournalReader, RecentRecords, type JournalReading } from './journal-reader.ts';
import type { EnvironmentOutcome } from '../../../reconciler/model/outcome.ts';
import type { Run } from '../../../reconciler/model/plan.ts';

export interface JournalLimits {
  /** Bytes after which a new file is begun. */
  readonly bytes: number;
  /** Milliseconds after which a new file is begun. */
  readonly age: number;
  /** The number of files to keep next to the one that is written. */
  readonly files: number;
}

export const JOURNAL_LIMITS: JournalLimits = {
  bytes: 16 * 1024 * 1024,
  age: 7 * 24 * 3_600_000,
  files: 20,
};

/**
 * The history of environments, one line of JSON each, in a folder. Each append is durable once it resolves. Several processes may append to
 * it: a line is written at once, at the end, and one that was cut off by a kill remains unchanged and is not read. A new file begins with
 * the facts that the files before contain about all environments, so that these can be removed.
 */
export class Journal {
  readonly #folder: string;
  readonly #reader: JournalReader;
  readonly #recent: RecentRecords;
  /** The limits at which a new file is begun; null if this process begins none. */
  readonly #limits: JournalLimits | null;
  readonly #now: () => number;
  #waiting: { readonly line: string; readonly done: (error: SetpointError | null) => void }[] = [];
  /** The last append of this process, without waiting for the disk: until it has ended, the author of appended lines is unknown. */
  #appending: Promise<unknown> = Promise.resolve();
  #writing = false;
  #begun: number | null = null;
  /** The known end: up to the last append of others, and the appends of this process right behind it. */
  #known: string | null = null;

  constructor(folder: string, now: () => number, limits: JournalLimits | null = null) {
    this.#folder = folder;
    this.#reader = new JournalReader(folder);
    this.#recent = new RecentRecords(folder);
    this.#now = now;
    this.#limits = limits;
  }

  /** Makes its folder, unless it is there. Throws output-failed if that cannot be done. */
  async makeFolder(): Promise<void> {
    await makeFolder(this.#folder).catch((thrown: unknown) => {
      throw createJournalError(this.#folder, thrown);
    });
  }

  /** Appends an event, of now by default; resolves once it is on the disk. Throws output-failed if it cannot be. */
  append(event: JournalEvent, at = this.#now()): Promise<JournalRecord> {
    const record: JournalRecord = { v: 1, at: new Date(at).toISOString(), ...event };
    return this.#add(formatJournalLine(record)).then(() => record);
  }

  /**
   * Throws output-failed if it cannot be written: checked with an empty line, which readers skip, unless it was `well` and there is no sign
   * of a failure.
   */
  async check({ well }: { readonly well: boolean }): Promise<void> {
    if (!well || !(await hasRoom(this.#folder))) await this.#add('\n');
  }

  /** Appends what a file and its service agree on; as durable as an event. Throws output-failed if it cannot be. */
  async agree(environment: string, agreed: AgreementWith): Promise<void> {
    const at = new Date(this.#now()).toISOString();
    const line: AgreedLine = { v: 1, at, kind: 'agreed', environment, ...agreed };
    await this.#add(formatJournalLine(line));
  }

  /** Appends that the state of environments is removed; as durable as an event. Throws output-failed if it cannot be. */
  async forget(environments: readonly string[]): Promise<void> {
    const at = new Date(this.#now()).toISOString();
    await this.#add(formatJournalLine({ v: 1, at, kind: 'forgotten', environments }));
  }

  #add(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error: SetpointError | null): void => {
        if (error === null) resolve();
        else reject(error);
      };
      this.#waiting.push({ line, done });
      if (!this.#writing) void this.#writeAll();
    });
  }

  /** Reads the state of each environment. Throws file-unreadable if it cannot be read. */
  remember(): Promise<JournalReading> {
    return this.#reader.remember({ whole: false });
  }

  /** The records that are asked for, the latest first. Throws file-unreadable if it cannot be read. */
  history(
    isAskedFor: (record: JournalRecord) => boolean,
    limit: number,
  ): Promise<readonly JournalRecord[]> {
    return this.#reader.history(isAskedFor, limit);
  }

  /** The latest records about an environment, MOST_RECORDS at most, the latest first. Throws file-unreadable if it cannot be read. */
  about(name: string): Promise<readonly JournalRecord[]> {
    return this.#recent.of(name);
  }

  /** Marks its current content as known. */
  async mark(): Promise<void> {
    this.#known = lengthsStamp(await this.#lengths());
  }

  /** Reports whether only this process has appended to it since then. */
  async isOwn(): Promise<boolean> {
    for (;;) {
      const appending = this.#appending;
      await appending;
      const stamp = lengthsStamp(await this.#lengths());
      if (appending === this.#appending) return stamp === this.#known;
    }
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const error = await this.#write(batch.map(({ line }) => line)).then(
        () => null,
        (thrown: unknown) => createJournalError(this.#folder, thrown),
      );
      for (const { done } of batch) done(error);
    }
    this.#writing = false;
  }

  async #write(lines: readonly string[]): Promise<void> {
    await makeFolder(this.#folder);
    await this.#rotate();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
      if (await this.#appendAndCheck(lines.join(''))) return;
    throw new Error('other processes begin one file after another');
  }

  /** Appends lines; reports whether their file is still part of the journal and read completely. */
  async #appendAndCheck(lines: string): Promise<boolean> {
    const { file, isNew, joined } = await this.#append(lines);
    if (joined) return false;
    // A new file survives a loss of power only once its folder is on the disk. Not every system can do that.
    if (isNew) await syncFolder(this.#folder).catch(() => {});
    // Other processes may have put the file away, and others after it. A new one begins with the read position of each.
    return this.#hasFile(file);
  }

  /** Reports whether a file is one of the journal, under any name by now. */
  async #hasFile(file: number): Promise<boolean> {
    for (;;) {
      const names = await journalFiles(this.#folder);
      const files = await Promise.all(names.map((name) => this.#readFileId(name)));
      if (files.includes(file)) return true;
      if ((await journalFiles(this.#folder)).join('/') === names.join('/')) return false;
    }
  }

  async #append(lines: string): Promise<AppendResult> {
    const known = this.#beginAppending();
    try {
      const before = await this.#lengths();
      return await appendLines(join(this.#folder, CURRENT), lines, async (file, bytes) => {
        await this.#follow(before, new Map(before).set(file, (before.get(file) ?? 0) + bytes));
        known();
      });
    } finally {
      known();
    }
  }

  /** Until the returned function is called, the author of appended lines is unknown. */
  #beginAppending(): () => void {
    let known = (): void => {};
    this.#appending = new Promise<void>((resolve) => {
      known = resolve;
    });
    return known;
  }

  /** Marks what this process appended as known, unless another process appended before or meanwhile. */
  async #follow(before: Map<number, number>, after: Map<number, number>): Promise<void> {
    if (lengthsStamp(before) !== this.#known) return;
    const known = lengthsStamp(after);
    if (lengthsStamp(await this.#lengths()) === known) this.#known = known;
  }

  async #readFileId(name: string): Promise<number | undefined> {
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
    // If two put a file away, the second one would put away the new file of the first.
    const known = this.#beginAppending();
    try {
      await alone(join(this.#folder, 'rotating'), async () => {
        const isSame = (await this.#readFileId(CURRENT)) === found.ino;
        if (isSame) await this.#putAway(now, limits.files);
      });
    } finally {
      known();
    }
    this.#begun = now;
  }

  async #putAway(now: number, kept: number): Promise<void> {
    const before = (await journalFiles(this.#folder)).filter((name) => name !== CURRENT);
    const name = nextName(before.at(-1), now);
    const lengths = await this.#lengths();
    await rename(join(this.#folder, CURRENT), join(this.#folder, name));
    // A line without its end may be one that is being written: it is left to those who read after this.
    const { memory, upTo } = await this.#reader.remember({ whole: true });
    const line = memory.checkpoint(new Date(now).toISOString(), upTo);
    // If an append was quicker, or the file system cannot do this, the files before have the required facts, and none of them is removed.
    const bytes = await createAside(join(this.#folder, CURRENT), line).catch(() => null);
    if (bytes === null) return;
    await this.#removeOldest(kept);
    await this.#followNew(lengths, bytes);
  }

  /**
   * Marks the new file of this process as known, with so many bytes, if all before it was, and no other process has appended anywhere
   * meanwhile.
   */
  async #followNew(before: ReadonlyMap<number, number>, bytes: number): Promise<void> {
    if (lengthsStamp(before) !== this.#known) return;
    const current = await this.#readFileId(CURRENT);
    const now = await this.#lengths();
    const isAsLeft = ([file, length]: [number, number]): boolean =>
      length === (file === current ? bytes : before.get(file));
    if ([...now].every(isAsLeft)) this.#known = lengthsStamp(now);
  }

  async #removeOldest(kept: number): Promise<void> {
    const rotated = (await journalFiles(this.#folder)).filter((name) => name !== CURRENT);
    for (const name of rotated.slice(0, Math.max(0, rotated.length - kept)))
      await rm(join(this.#folder, name), { force: true });
  }

  /** Returns the number and the size of each file, since an append may go to any file that another process had open. */
  async #lengths(): Promise<Map<number, number>> {
    const names = await journalFiles(this.#folder);
    const found = await Promise.all(
      names.map((name) => stat(join(this.#folder, name)).catch(() => null)),
    );
    return new Map(found.flatMap((file) => (file === null ? [] : [[file.ino, file.size]])));
  }
}

/** Changes with each appended line. */
function lengthsStamp(lengths: ReadonlyMap<number, number>): string {
  return [...lengths].join(' ');
}

const ATTEMPTS = 5;

/**
 * Records in the journal of a folder what an apply wrote, or may have written, to an environment. Throws output-failed if it cannot be
 * recorded.
 */
export function applyRecorder(
  folder: string,
  now: () => number,
): (outcome: EnvironmentOutcome, run: Run | null) => Promise<void> {
  const journal = new Journal(folder, now);
  return async (outcome, run) => {
    if (outcome.requests.post === 0) return;
    await journal.append({
      kind: 'write',
      environment: outcome.name,
      by: 'apply',
      commit: run?.commit ?? null,
      actor: run?.actor ?? null,
      url: run?.url ?? null,
      outcome,
    });
  };
}
