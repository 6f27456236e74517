import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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

/** Bytes and files of one commit: settings are far smaller, and what fills a disk is refused before it is read. */
const LARGEST_FILE = 16 * 1024 * 1024;
const LARGEST_COMMIT = 256 * 1024 * 1024;
const MOST_FILES = 100_000;
/** Bytes that are read at a time. */
const AT_A_TIME = 8 * 1024 * 1024;
const MOST_LINKS = 8;
const KEPT = 2;

/** Writes the files of commits into folders of their own, without a checkout: no filter, hook, attribute or link takes effect. */
export class GitFiles {
  readonly #git: ReadGit;
  readonly #folder: string;
  readonly #needs: (path: string) => boolean;
  /** The commits whose folders are complete, the one asked for last at the end. */
  #kept: readonly string[] = [];

  constructor(git: ReadGit, into: string, needs: (path: string) => boolean = () => true) {
    // What another run has left may be incomplete after a crash of the machine.
    for (const name of readdirSync(into).filter((one) => one.startsWith('files-')))
      rmSync(join(into, name), { recursive: true, force: true });
    this.#git = git;
    this.#folder = mkdtempSync(join(into, 'files-'));
    this.#needs = needs;
  }

  /** `used` are files in folders of other commits that are still in force: those folders stay. */
  async of(commit: string, used: readonly string[] = []): Promise<string> {
    const folder = join(this.#folder, commit);
    if (!this.#kept.includes(commit)) await this.#write(commit, folder);
    const others = this.#kept.filter((one) => one !== commit);
    const recent = others.slice(1 - KEPT);
    const isUsed = (one: string): boolean =>
      used.some((path) => path.startsWith(join(this.#folder, one, '/')));
    const stay = others.filter((one) => recent.includes(one) || isUsed(one));
    for (const old of others.filter((one) => !stay.includes(one)))
      rmSync(join(this.#folder, old), { recursive: true, force: true });
    this.#kept = [...stay, commit];
    return folder;
  }

  async #write(commit: string, folder: string): Promise<void> {
    const entries = treeEntries(
      await this.#git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit]),
    );
    const files = await this.#chosen(entries);
    const aside = mkdtempSync(join(this.#folder, 'new-'));
    try {
      for (const part of parts(files)) await this.#writePart(part, aside);
      if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
      await rename(aside, folder);
    } catch (thrown) {
      rmSync(aside, { recursive: true, force: true });
      throw thrown instanceof SetpointError ? thrown : notWritten(thrown);
    }
  }

  /** The files to write: regular ones, and links as the files that they lead to. */
  async #chosen(entries: readonly TreeFile[]): Promise<readonly TreeFile[]> {
    const needed = entries.filter(({ path }) => isOrdinary(path) && this.#needs(path));
    const links = entries.filter(({ mode }) => mode === LINK);
    const wanted = needed.filter(({ mode }) => mode === LINK);
    const targets = wanted.length === 0 ? new Map<string, string>() : await this.#targets(links);
    const byPath = new Map(entries.map((entry) => [entry.path, entry]));
    const followed = wanted.flatMap(({ path }): TreeFile[] => {
      const found = byPath.get(resolved(path, targets) ?? '');
      return found?.mode.startsWith(REGULAR) === true ? [{ ...found, path }] : [];
    });
    const files = [...needed.filter(({ mode }) => mode.startsWith(REGULAR)), ...followed];
    if (files.some(({ size }) => Number.isNaN(size))) throw damaged();
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const large = files.find(({ size }) => size > LARGEST_FILE);
    if (files.length > MOST_FILES || bytes > LARGEST_COMMIT || large !== undefined) {
      throw new SetpointError(
        'response-too-large',
        'The commit has more or larger files than are ever read.',
        {
          hint: 'Follow a repository that holds settings.',
        },
      );
    }
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
      // Fails if it exists, so that two names that are one on this disk are no overwriting.
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
        throw damaged();
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
    if (mode === undefined || id === undefined || path === undefined) throw damaged();
    if (Buffer.from(text).equals(line)) entries.push({ mode, id, path, size: Number(size) });
  }
  return entries;
}

/** Whether a path stays where it is joined to, on every system. */
function isOrdinary(path: string): boolean {
  const names = path.split('/');
  return names.every((name) => !/^(?:|\.|\.\.|\.git)$/i.test(name) && !/[\\:]/.test(name));
}

/** Where a link leads in the end, by the links of the commit; null if that is outside, or nowhere. */
function resolved(path: string, targets: ReadonlyMap<string, string>): string | null {
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

function damaged(): SetpointError {
  const message = 'A file of the commit is missing or damaged.';
  return new SetpointError('bad-response', message, { hint: DAMAGED.hint });
}

function notWritten(cause: unknown): SetpointError {
  return new SetpointError('output-failed', 'The files of the commit could not be written.', {
    hint: 'Check that there is room on the disk, and that the folder can be written.',
    cause,
  });
}
