import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { Suspension } from '../model/watch.ts';
import { writeAside } from '../host/write-aside.ts';

const FILE = 'suspended.json';

/**
 * Which environments are suspended, in a file of a controller's data folder: a command writes it, and a controller reads it again
 * when it has changed.
 */
export class Suspensions {
  readonly #folder: string;
  #seen = '';
  #byName: ReadonlyMap<string, Suspension> = new Map();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The suspension of an environment at a time, in milliseconds since 1970; null if there is none, or it has ended. */
  of(name: string, now: number): Suspension | null {
    const found = this.#byName.get(name);
    if (found === undefined) return null;
    return found.until !== null && Date.parse(found.until) <= now ? null : found;
  }

  /** Reads the file if it has changed. Throws file-unreadable if it is not what `suspend` wrote; what was known stays in force. */
  async refresh(): Promise<void> {
    const path = join(this.#folder, FILE);
    const found = await stat(path).catch(() => null);
    const seen = found === null ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (seen === this.#seen) return;
    this.#byName = found === null ? new Map() : parse(path, await readFile(path, 'utf8'));
    this.#seen = seen;
  }

  /** Suspends environments, or resumes them if `suspension` is null. Throws output-failed if the file cannot be written. */
  async change(names: readonly string[], suspension: Suspension | null): Promise<void> {
    await this.refresh();
    const next = new Map(this.#byName);
    for (const name of names) {
      if (suspension === null) next.delete(name);
      else next.set(name, suspension);
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const text = `${JSON.stringify({ v: 1, environments: Object.fromEntries(next) }, null, 2)}\n`;
    await writeAside(join(this.#folder, FILE), text, this.#folder);
    this.#seen = '';
    await this.refresh();
  }
}

function parse(path: string, text: string): Map<string, Suspension> {
  try {
    const { v, environments } = JSON.parse(text) as { v: unknown; environments: object };
    if (v !== 1) throw new TypeError('another version');
    return new Map(
      Object.entries(environments).map(([name, value]) => {
        const { at, reason, until } = value as Suspension;
        if (typeof at !== 'string' || typeof reason !== 'string') throw new TypeError('not one');
        if (until !== null && Number.isNaN(Date.parse(until))) throw new TypeError('no time');
        return [name, { at, reason, until }];
      }),
    );
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
