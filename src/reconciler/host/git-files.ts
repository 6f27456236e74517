import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { DAMAGED } from './git-source.ts';
import { makeFolder } from './write-aside.ts';

/** Runs a command of git that only reads, with an input. */
type ReadGit = (args: readonly string[], input?: string) => Promise<Buffer>;

interface TreeFile {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
  /** NaN for a submodule, and if the file is damaged. */
  readonly size: number;
}

/** Bytes and files that are read of one commit: settings are far smaller, and what fills a disk is refused before it is read. */
const LARGEST_FILE = 16 * 1024 * 1024;
const LARGEST_COMMIT = 256 * 1024 * 1024;
const MOST_FILES = 100_000;
/** Bytes that are read at a time. */
const AT_A_TIME = 8 * 1024 * 1024;
const MOST_LINKS = 8;
const KEPT = 2;

/**
 * Selects the files of a commit to read. `needs` decides by their path (default: all), `used` are files of other commits whose folders
 * stay.
 */
export interface CommitFiles {
  readonly needs?: ((path: string) => boolean) | undefined;
  readonly used?: readonly string[] | undefined;
}

/** Writes the files of commits into folders of their own, without a checkout: no filter, hook, attribute or link takes effect. */
export class GitFiles {
  readonly #git: ReadGit;
  readonly #folder: string;
  /** The files in the folder of each commit, the one that was requested last at the end. */
  readonly #written = new Map<string, ReadonlySet<string>>();

  constructor(git: ReadGit, into: string) {
    // Files that another run has left may be incomplete after a crash of the machine.
    for (const name of readdirSync(into).filter((one) => one.startsWith('files-')))
      rmSync(join(into, name), { recursive: true, force: true });
    this.#git = git;
    this.#folder = mkdtempSync(join(into, 'files-'));
  }

  /** The folder of a commit, with the files that are needed now and those that were needed before. */
  async of(commit: string, { needs = () => true, used = [] }: CommitFiles = {}): Promise<string> {
    const folder = join(this.#folder, commit);
    const before = this.#written.get(commit) ?? new Set();
    const added = await this.#write(commit, folder, (path) => !before.has(path) && needs(path));
    const files = new Set([...(this.#written.get(commit) ?? []), ...added]);
    this.#written.delete(commit);
    const others = [...this.#written.keys()];
    const recent = others.slice(1 - KEPT);
    const isUsed = (one: string): boolean =>
      used.some((path) => path.startsWith(join(this.#folder, one, '/')));
    for (const old of others.filter((one) => !recent.includes(one) && !isUsed(one))) {
      rmSync(join(this.#folder, old), { recursive: true, force: true });
      this.#written.delete(old);
    }
    this.#written.set(commit, files);
    return folder;
  }

  /** Writes files aside and moves them into the folder: each is whole there. Returns their paths. */
  async #write(
    commit: string,
    folder: string,
    needs: (path: string) => boolean,
  ): Promise<readonly string[]> {
    const entries = treeEntries(
      await this.#git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit]),
    );
    const files = await this.#chooseFiles(entries, needs);
    const aside = mkdtempSync(join(this.#folder, 'new-'));
    try {
      await makeFolder(folder);
      for (const part of parts(files)) await this.#writePart(part, aside);
      for (const { path } of files) {
        await makeFolder(dirname(join(folder, path)));
        await rename(join(aside, path), join(folder, path));
      }
      return files.map(({ path }) => path);
    } catch (thrown) {
      throw thrown instanceof SetpointError ? thrown : createGitWriteError(thrown);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  }

  /** The files to write: regular ones, and links as the files that they lead to. */
  async #chooseFiles(
    entries: readonly TreeFile[],
    needs: (path: string) => boolean,
  ): Promise<readonly TreeFile[]> {
    const needed = entries.filter(({ path }) => isOrdinary(path) && needs(path));
    const links = entries.filter(({ mode }) => mode === LINK);
    const wanted = needed.filter(({ mode }) => mode === LINK);
    const targets = wanted.length === 0 ? new Map<string, string>() : await this.#targets(links);
    const byPath = new Map(entries.map((entry) => [entry.path, entry]));
    const followed = wanted.flatMap(({ path }): TreeFile[] => {
      const found = byPath.get(resolveCommitLink(path, targets) ?? '');
      return found?.mode.startsWith(REGULAR) === true ? [{ ...found, path }] : [];
    });
    const files = [...needed.filter(({ mode }) => mode.startsWith(REGULAR)), ...followed];
    if (files.some(({ size }) => Number.isNaN(size))) throw createDamageError();
    const large = files.find(({ size }) => size > LARGEST_FILE);
    if (large !== undefined)
      throw createFileSizeError(
        `${large.path} is larger than 16 MiB, the most that is read of one file.`,
      );
    if (files.length > MOST_FILES)
      throw createFileSizeError(`The settings need more than ${MOST_FILES} files of the commit.`);
    if (files.reduce((sum, { size }) => sum + size, 0) > LARGEST_COMMIT)
      throw createFileSizeError('The files that the settings need have more than 256 MiB.');
    return files;
  }

  async #targets(links: readonly TreeFile[]): Promise<ReadonlyMap<string, string>> {
    const short = links.filter(({ size }) => size <= 4096);
    const texts = await this.#blobs(short);
    return new Map(short.map(({ path, id }) => [path, texts.get(id)?.toString() ?? '']));
  }

  async #writePart(files: readonly TreeFile[], folder: string): Promise<void> {
    const blobs = await this.#blobs(files);
    for (const { path, id } of files) {
      const place = join(folder, path);
      await makeFolder(dirname(place));
      // Fails if it exists: two names that are one on this disk do not overwrite each other.
      const handle = await open(place, 'wx', 0o400);
      try {
        await handle.writeFile(blobs.get(id) ?? Buffer.alloc(0));
      } finally {
        await handle.close();
      }
    }
  }

  async #blobs(files: readonly TreeFile[]): Promise<ReadonlyMap<string, Buffer>> {
    const ids = [...new Set(files.map(({ id }) => id))];
    if (ids.length === 0) return new Map();
    const output = await this.#git(['cat-file', '--batch'], `${ids.join('\n')}\n`);
    const blobs = new Map<string, Buffer>();
    let at = 0;
    for (const id of ids) {
      const line = output.indexOf('\n', at);
      const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(output.toString('latin1', at, line))?.[1]);
      if (line < 0 || !Number.isSafeInteger(size) || line + 1 + size > output.length)
        throw createDamageError();
      blobs.set(id, output.subarray(line + 1, line + 1 + size));
      at = line + 1 + size + 1;
    }
    return blobs;
  }
}

const REGULAR = '100';
const LINK = '120000';

/** Paths that are no UTF-8 are left out. */
function treeEntries(listed: Buffer): readonly TreeFile[] {
  const entries: TreeFile[] = [];
  let at = 0;
  while (at < listed.length) {
    const end = listed.indexOf(0, at);
    const line = listed.subarray(at, end);
    at = end + 1;
    const text = line.toString();
    const [, mode, id, size, path] = /^(\d+) \w+ ([0-9a-f]+) +(\S+)\t([^]+)$/.exec(text) ?? [];
    if (mode === undefined || id === undefined || path === undefined) throw createDamageError();
    if (Buffer.from(text).equals(line)) entries.push({ mode, id, path, size: Number(size) });
  }
  return entries;
}

/** Reports whether a path stays where it is joined to, on every system. */
function isOrdinary(path: string): boolean {
  const names = path.split('/');
  return names.every((name) => !/^(?:|\.|\.\.|\.git)$/i.test(name) && !/[\\:]/.test(name));
}

/** Returns the final target of a link, by the links of the commit; null if that is outside, or nowhere. */
function resolveCommitLink(path: string, targets: ReadonlyMap<string, string>): string | null {
  let left = path.split('/');
  let done: string[] = [];
  let followed = 0;
  while (left.length > 0) {
    const [name = '', ...rest] = left;
    left = rest;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (done.length === 0) return null;
      done = done.slice(0, -1);
      continue;
    }
    const target = targets.get(posix.join(...done, name));
    if (target === undefined) done = [...done, name];
    else if (target === '' || target.startsWith('/') || (followed += 1) > MOST_LINKS) return null;
    else left = [...target.split('/'), ...left];
  }
  return done.join('/');
}

/** Files that are read together. */
function parts(files: readonly TreeFile[]): readonly (readonly TreeFile[])[] {
  const found: TreeFile[][] = [];
  let size = AT_A_TIME;
  for (const file of files) {
    if (size + file.size > AT_A_TIME || (found.at(-1)?.length ?? 0) >= 1000) {
      found.push([]);
      size = 0;
    }
    found.at(-1)?.push(file);
    size += file.size;
  }
  return found;
}

function createFileSizeError(message: string): SetpointError {
  return new SetpointError('bad-response', message, {
    hint: 'Name fewer or smaller settings files with -f. Other files of the repository do not count.',
  });
}

function createDamageError(): SetpointError {
  const message = 'A file of the commit is missing or damaged.';
  return new SetpointError('bad-response', message, { hint: DAMAGED.hint });
}

function createGitWriteError(cause: unknown): SetpointError {
  return new SetpointError('output-failed', 'The files of the commit could not be written.', {
    hint: 'Check that there is room on the disk, and that the folder can be written.',
    cause,
  });
}
