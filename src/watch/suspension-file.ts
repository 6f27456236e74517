import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { Suspension } from '../model/watch.ts';
import { writeAside } from '../host/write-aside.ts';

const FILE = 'suspended.json';

interface Content {
  readonly suspended: ReadonlyMap<string, Suspension>;
  /** When environments were resumed last. */
  readonly resumed: ReadonlyMap<string, string>;
}

const NOTHING: Content = { suspended: new Map(), resumed: new Map() };

/**
 * Which environments are suspended, in a file of a controller's data folder: a command writes it, and a controller reads it again
 * when it has changed.
 */
export class SuspensionFile {
  readonly #folder: string;
  #seen = '';
  #content: Content = NOTHING;
  #looked = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The suspension of an environment at a time, in milliseconds since 1970; null if there is none, or it has ended. */
  of(name: string, now: number): Suspension | null {
    const found = this.#content.suspended.get(name);
    if (found === undefined) return null;
    return found.until !== null && Date.parse(found.until) <= now ? null : found;
  }

  /**
   * Reads the file if it has changed; returns the environments that were resumed since it was read before. Throws file-unreadable if it is
   * not what `suspend` wrote; what was known stays in force.
   */
  async refresh(): Promise<readonly string[]> {
    const path = join(this.#folder, FILE);
    const found = await stat(path).catch(() => null);
    const seen = found === null ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === this.#seen && this.#looked) return [];
    const before = this.#content.resumed;
    this.#content = found === null ? NOTHING : parse(path, await readFile(path, 'utf8'));
    this.#seen = seen;
    const isFirst = !this.#looked;
    this.#looked = true;
    if (isFirst) return [];
    return [...this.#content.resumed]
      .filter(([name, at]) => before.get(name) !== at)
      .map(([name]) => name);
  }

  /** Suspends environments, or resumes them if `suspension` is null. Throws output-failed if the file cannot be written. */
  async change(
    names: readonly string[],
    suspension: Suspension | null,
    now: number,
  ): Promise<void> {
    await this.refresh();
    const suspended = new Map(this.#content.suspended);
    const resumed = new Map(this.#content.resumed);
    for (const name of names) {
      if (suspension === null) {
        suspended.delete(name);
        // Two in the same millisecond are two all the same.
        resumed.set(name, `${new Date(now).toISOString()} ${crypto.randomUUID()}`);
      } else suspended.set(name, suspension);
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const content = {
      v: 1,
      environments: Object.fromEntries(suspended),
      resumed: Object.fromEntries(resumed),
    };
    const text = `${JSON.stringify(content, null, 2)}\n`;
    await writeAside(join(this.#folder, FILE), text, this.#folder);
    this.#seen = '?';
    await this.refresh();
  }
}

function parse(path: string, text: string): Content {
  try {
    const { v, environments, resumed } = JSON.parse(text) as {
      v: unknown;
      environments: object;
      resumed?: Record<string, string>;
    };
    if (v !== 1) throw new TypeError('another version');
    const suspended = new Map(
      Object.entries(environments).map(([name, value]) => {
        const { at, reason, until } = value as Suspension;
        if (typeof at !== 'string' || typeof reason !== 'string') throw new TypeError('not one');
        if (until !== null && Number.isNaN(Date.parse(until))) throw new TypeError('no time');
        return [name, { at, reason, until }];
      }),
    );
    return { suspended, resumed: new Map(Object.entries(resumed ?? {})) };
  } catch (thrown) {
    throw new SetpointError(
      'file-unreadable',
      `${path} does not say which environments are suspended.`,
      {
        hint: 'Remove it, and suspend them again: setpoint suspend -e NAME --reason TEXT.',
        cause: thrown,
      },
    );
  }
}
