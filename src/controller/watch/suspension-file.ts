import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SetpointError, systemCode } from '../../reconciler/model/error.ts';
import type { Suspension } from '../../reconciler/model/watch.ts';
import { readOptional } from '../../reconciler/host/read-text.ts';
import { createAside, makeFolder, syncFolder } from '../../reconciler/host/write-aside.ts';

const FOLDER = 'suspensions';
const VERSION = /^(\d+)\.json$/;
/** The number of stored versions: a client that writes one more has read one of them. */
const KEPT = 16;
const ATTEMPTS = 100;
/** Bytes that a version has at most. */
const LONGEST = 16 * 1024 * 1024;

interface Content {
  readonly suspended: ReadonlyMap<string, Suspension>;
  /** The time when each environment was resumed last, and by whom if known. */
  readonly resumed: ReadonlyMap<string, string>;
}

const NOTHING: Content = { suspended: new Map(), resumed: new Map() };

/**
 * Which environments are suspended, in a controller's data folder: commands and controllers write it, and a controller reads it again
 * when it has changed. Each change is a file of its own, whose number is one higher than that of the content it changes: of several
 * processes that change it at the same moment one makes that file, and the others change what that one has written.
 */
export class SuspensionFile {
  readonly #folder: string;
  #version = 0;
  #seen = '';
  #content: Content = NOTHING;
  #looked = false;
  /** Environments that others have resumed, without a notice yet. */
  readonly #resumed = new Set<string>();

  constructor(folder: string) {
    this.#folder = join(folder, FOLDER);
  }

  /** True if it could be read at least once. */
  get isKnown(): boolean {
    return this.#looked;
  }

  /** The environments that are suspended, as it was last read. */
  get names(): readonly string[] {
    return [...this.#content.suspended.keys()];
  }

  /** The suspension of an environment at a time, in milliseconds since 1970; null if there is none, or it has ended. */
  of(name: string, now: number): Suspension | null {
    const found = this.#content.suspended.get(name);
    if (found === undefined) return null;
    return found.until !== null && Date.parse(found.until) <= now ? null : found;
  }

  /** Returns who resumed an environment last; undefined if unknown. */
  findResumer(name: string): string | undefined {
    return /^\S+ \S+ (.+)$/.exec(this.#content.resumed.get(name) ?? '')?.[1];
  }

  /**
   * Reads the file if it has changed; returns the environments that others have resumed since the last call. Throws file-unreadable if it
   * was not written by `suspend`, or cannot be read; the known suspensions stay in effect.
   */
  async refresh(): Promise<readonly string[]> {
    await this.#look();
    const resumed = [...this.#resumed];
    this.#resumed.clear();
    return resumed;
  }

  async #look(): Promise<void> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) if (await this.#isRead()) return;
      throw new Error('its files come and go');
    } catch (thrown) {
      if (thrown instanceof SetpointError) throw thrown;
      throw new SetpointError('file-unreadable', `${this.#folder} cannot be read.`, {
        hint: 'Check who may read it: it lists the suspended environments.',
        cause: thrown,
      });
    }
  }

  /** Reads the latest version; false if it was removed meanwhile, because there is a later one. */
  async #isRead(): Promise<boolean> {
    const version = Math.max(0, ...(await this.#versions()));
    const path = this.#path(version);
    const found = version === 0 ? null : await stat(path).catch(rethrowUnlessMissing);
    if (version > 0 && found === null) return false;
    const seen = found === null ? '' : `${version} ${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === this.#seen && this.#looked) return true;
    const text = found === null ? '' : readOptional(path, LONGEST);
    if (text === null) return false;
    const before = this.#content.resumed;
    this.#content = found === null ? NOTHING : parse(path, this.#folder, text);
    this.#seen = seen;
    this.#version = version;
    if (this.#looked)
      for (const [name, at] of this.#content.resumed)
        if (before.get(name) !== at) this.#resumed.add(name);
    this.#looked = true;
    return true;
  }

  /** Suspends environments, or records who resumes them if `suspension` is null. Throws output-failed if that cannot be written. */
  async change(
    names: readonly string[],
    suspension: Suspension | null,
    now: number,
    by?: string,
  ): Promise<void> {
    const who = by === undefined ? '' : ` ${by}`;
    // Two in the same millisecond are two all the same.
    const resumedAt = `${new Date(now).toISOString()} ${crypto.randomUUID()}${who}`;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await this.#look();
      const suspended = new Map(this.#content.suspended);
      const resumed = new Map(this.#content.resumed);
      for (const name of names) {
        if (suspension === null) {
          suspended.delete(name);
          resumed.set(name, resumedAt);
        } else suspended.set(name, suspension);
      }
      const isWritten = await this.#write({ suspended, resumed }).catch((thrown: unknown) => {
        throw this.#toWriteError(thrown);
      });
      if (!isWritten) continue;
      await this.#look();
      for (const name of names)
        if (this.#content.resumed.get(name) === resumedAt) this.#resumed.delete(name);
      return;
    }
    throw this.#toWriteError(new Error('other processes change it again and again'));
  }

  /** Adds the version after the one that was read; false if another process was quicker. */
  async #write({ suspended, resumed }: Content): Promise<boolean> {
    await makeFolder(this.#folder);
    const content = {
      v: 1,
      environments: Object.fromEntries(suspended),
      resumed: Object.fromEntries(resumed),
    };
    const version = this.#version + 1;
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if ((await createAside(this.#path(version), [text])) === null) return false;
    // Not every system can do that.
    await syncFolder(this.#folder).catch(() => {});
    const versions = await this.#versions();
    // So far behind, the number may have been free because its file was removed.
    if (Math.max(...versions) - version >= KEPT) return false;
    for (const one of versions)
      if (one <= version - KEPT) await rm(this.#path(one), { force: true });
    return true;
  }

  #path(version: number): string {
    return join(this.#folder, `${version}.json`);
  }

  async #versions(): Promise<readonly number[]> {
    const names = (await readdir(this.#folder).catch(rethrowUnlessMissing)) ?? [];
    return names.flatMap((name) => VERSION.exec(name)?.[1] ?? []).map(Number);
  }

  #toWriteError(cause: unknown): SetpointError {
    if (cause instanceof SetpointError) return cause;
    return new SetpointError('output-failed', `${this.#folder} could not be written.`, { cause });
  }
}

function rethrowUnlessMissing(thrown: unknown): null {
  if (systemCode(thrown) === 'ENOENT') return null;
  throw thrown;
}

function parse(path: string, folder: string, text: string): Content {
  try {
    const { v, environments, resumed } = JSON.parse(text) as {
      v: unknown;
      environments: object;
      resumed?: Record<string, string>;
    };
    if (v !== 1) throw new TypeError('another version');
    const suspended = new Map(
      Object.entries(environments).map(([name, value]) => {
        const { at, reason, until, by } = value as Suspension;
        if (typeof at !== 'string' || typeof reason !== 'string') throw new TypeError('not one');
        if (until !== null && Number.isNaN(Date.parse(until))) throw new TypeError('no time');
        return [name, { at, reason, until, ...(typeof by === 'string' ? { by } : {}) }];
      }),
    );
    return { suspended, resumed: new Map(Object.entries(resumed ?? {})) };
  } catch (thrown) {
    throw new SetpointError(
      'file-unreadable',
      `${path} does not list the suspended environments.`,
      {
        hint: `Remove ${folder}, and suspend them again: setpoint suspend -e NAME REASON.`,
        cause: thrown,
      },
    );
  }
}
