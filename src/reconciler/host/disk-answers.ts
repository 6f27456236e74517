import { constants } from 'node:fs';
import { open, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isPathUnder } from './read-text.ts';

/** Asks a disk for what will be read of a path. It may never end, and must not fail. */
type Ask = (path: string) => Promise<void>;

/** The longest time for an answer of a disk, in milliseconds. */
const LONGEST = 5_000;
/** Disks that may hang at a time: each holds up one of the few threads that this process has for files. */
const MOST_HANGING = 2;

/**
 * Finds out in the background whether files can be read now: a disk that hangs would stop the whole process if it were read at once. One
 * that does not answer is not asked again until it has.
 */
export class DiskAnswers {
  readonly #ask: Ask;
  readonly #hanging = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(ask: Ask = probeReferencedFile) {
    this.#ask = ask;
  }

  /** Returns the paths, of files or folders, whose disk does not answer. */
  findSilent(paths: Iterable<string>): Promise<ReadonlySet<string>> {
    const all = [...paths];
    if (all.length === 0) return Promise.resolve(NONE);
    // One after another, so that one disk that hangs holds up one thread.
    const found = this.#last.then(() => this.#checkPaths(all));
    this.#last = found;
    return found;
  }

  async #checkPaths(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const silent = new Set<string>();
    for (const path of paths) if (!(await this.#answers(path))) silent.add(path);
    return silent;
  }

  async #answers(path: string): Promise<boolean> {
    if (this.#hanging.size >= MOST_HANGING) return false;
    if (this.#hanging.size > 0) {
      const placeOf = await mountPlaces();
      if ([...this.#hanging].some((one) => placeOf(one) === placeOf(path))) return false;
    }
    let timer: NodeJS.Timeout | undefined;
    const asked = this.#ask(path).then(() => {
      this.#hanging.delete(path);
      return true;
    });
    const over = new Promise<boolean>((done) => {
      timer = setTimeout(() => done(false), LONGEST);
    });
    const isAnswered = await Promise.race([asked, over]);
    clearTimeout(timer);
    if (!isAnswered) this.#hanging.add(path);
    return isAnswered;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Reads what a reference would read: links, what is known of the file, and its bytes. */
async function probeReferencedFile(path: string): Promise<void> {
  try {
    const real = await realpath(path);
    // A process that waits at the other end of a pipe is left alone.
    if (!(await stat(real)).isFile()) return;
    const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    } finally {
      await file.close();
    }
  } catch {
    // A failed read is also an answer.
  }
}

const MOST_BYTES = 64 * 1024;

function isPathInFolder(path: string, folder: string): boolean {
  return path === folder || isPathUnder(path, folder);
}

/** Returns the mount point of a path, if the system reports it; else, and where a link may lead anywhere, its folder. */
async function mountPlaces(): Promise<(path: string) => string> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const places = text.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  return (path) => {
    const whole = resolve(path);
    const above = places.filter((place) => place !== '/' && isPathInFolder(whole, place));
    return above.toSorted((one, other) => other.length - one.length)[0] ?? dirname(whole);
  };
}
