import { accessSync, constants, statSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SetpointError, systemCode } from '../model/error.ts';
import { isPathUnder } from './read-text.ts';

/** A file that is written next to its place, and then replaces the file there. */
export interface AsideFile {
  readonly write: (text: string) => Promise<void>;
  /** Syncs the text and moves it into its place. */
  readonly finish: () => Promise<void>;
  /** Removes the text; does nothing after `finish`. */
  readonly discard: () => Promise<void>;
}

/**
 * Opens a file that replaces another one completely, mode 0600 unless another is given: a reader finds the old text or the new one, also
 * after a crash. Links are followed within the limits of `writePlace` (`folder` is the same there), and are resolved again before the new
 * file replaces the old one. Every step throws output-failed if it fails; then nothing remains next to the place.
 */
export async function openAside(
  path: string,
  { folder, mode = 0o600 }: WriteOptions = {},
): Promise<AsideFile> {
  const failing = async <T>(work: () => Promise<T>, undo: () => Promise<void>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      // The first failure is the one that is reported.
      await undo().catch(() => {});
      if (thrown instanceof SetpointError) throw thrown;
      throw new SetpointError('output-failed', `${path} could not be written.`, { cause: thrown });
    }
  };
  const aside = await failing(
    () => beginWrite(path, { folder, mode }),
    async () => {},
  );
  const discard = () => aside.discard();
  return {
    write: (text) => failing(() => aside.write(text), discard),
    finish: () => failing(async () => commitWrite(await aside.sync()), discard),
    discard,
  };
}

/** Replaces a file as a whole, as `openAside` does. */
export async function writeAside(path: string, text: string, folder?: string): Promise<void> {
  const file = await openAside(path, { folder });
  await file.write(text);
  await file.finish();
}

/**
 * Makes a file, mode 0600, that is there with all parts of its text or not at all. Resolves to its bytes; null if there is one already: it stays. Fails as the
 * file system does, also on one without hard links.
 */
export async function createAside(path: string, parts: Iterable<string>): Promise<number | null> {
  const { link, open, rm } = await import('node:fs/promises');
  const next = join(dirname(path), `next-${process.pid}-${crypto.randomUUID()}`);
  let bytes = 0;
  try {
    const file = await open(next, 'wx', 0o600);
    try {
      for (const block of batchTextParts(parts)) {
        bytes += block.length;
        await file.appendFile(block);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await link(next, path);
    return bytes;
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return null;
    throw thrown;
  } finally {
    await rm(next, { force: true });
  }
}

/** Characters of a block, about. */
const BLOCK = 256 * 1024;

/** Parts of a text, few together, so that neither all of it is in memory at once nor each part is a write. */
function* batchTextParts(parts: Iterable<string>): Generator<Buffer> {
  let block = '';
  for (const part of parts) {
    block += part;
    if (block.length < BLOCK) continue;
    yield Buffer.from(block);
    block = '';
  }
  yield Buffer.from(block);
}

/** A text that is written and synced next to its place. Commit it or discard it. */
export interface PreparedWrite {
  readonly path: string;
  readonly folder: string | undefined;
  /** The path with its links resolved. */
  readonly place: string;
  /** The file that holds the text, in the same folder. */
  readonly temporary: string;
}

interface BegunWrite {
  readonly write: (text: string) => Promise<void>;
  /** Syncs and closes the file. */
  readonly sync: () => Promise<PreparedWrite>;
  readonly discard: () => Promise<void>;
}

interface WriteOptions {
  readonly folder?: string | undefined;
  /** Without it, a new file's mode under the process's umask. */
  readonly mode?: number | undefined;
}

/** Writes a text next to its place. */
export async function prepareWrite(
  path: string,
  text: string,
  options: WriteOptions,
): Promise<PreparedWrite> {
  const begun = await beginWrite(path, options);
  try {
    await begun.write(text);
    return await begun.sync();
  } catch (thrown) {
    await begun.discard().catch(() => {});
    throw thrown;
  }
}

async function beginWrite(path: string, { folder, mode }: WriteOptions): Promise<BegunWrite> {
  const { open } = await import('node:fs/promises');
  const place = writePlace(path, folder);
  const name = `.${basename(place)}.${process.pid}.${Date.now()}.tmp`;
  const prepared = { path, folder, place, temporary: join(dirname(place), name) };
  const file = await open(prepared.temporary, 'wx', mode ?? 0o666);
  const begun: BegunWrite = {
    write: (text) => file.appendFile(text),
    sync: async () => {
      await file.sync();
      await file.close();
      return prepared;
    },
    discard: async () => {
      await file.close();
      await discardWrite(prepared);
    },
  };
  try {
    // The umask has cut the mode given at opening.
    if (mode !== undefined && ((await file.stat()).mode & 0o7777) !== mode) await file.chmod(mode);
  } catch (thrown) {
    await begun.discard().catch(() => {});
    throw thrown;
  }
  return begun;
}

/**
 * Moves the text into its place and makes that durable. Throws output-failed if the path's links lead elsewhere by now.
 * `move` replaces what is there, unless it is given.
 */
export async function commitWrite(
  { path, folder, place, temporary }: PreparedWrite,
  move?: (temporary: string, place: string) => Promise<void>,
): Promise<void> {
  const { rename } = await import('node:fs/promises');
  if (writePlace(path, folder) !== place) throw linksChanged(path);
  await (move ?? rename)(temporary, place);
  await syncFolder(dirname(place));
}

/** Removes the text; does nothing after a commit. */
export async function discardWrite({ temporary }: PreparedWrite): Promise<void> {
  const { rm } = await import('node:fs/promises');
  await rm(temporary, { force: true });
}

/**
 * Creates a folder for its owner alone, and those above it, unless it is there. Node's own function never ends if the working folder is
 * gone, or where no folders can be created, such as in /proc. Fails like the file system.
 */
export async function makeFolder(path: string): Promise<void> {
  const { mkdir, stat } = await import('node:fs/promises');
  const make = (): Promise<void> =>
    mkdir(path, { mode: 0o700 }).catch(async (thrown: unknown) => {
      const isThere = await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!isThere) throw thrown;
    });
  try {
    await make();
  } catch (thrown) {
    const above = dirname(path);
    if (systemCode(thrown) !== 'ENOENT' || above === path) throw thrown;
    await makeFolder(above);
    await make();
  }
}

/** Makes what was created or renamed in a folder durable; does nothing on a system that does not open folders. */
export async function syncFolder(path: string): Promise<void> {
  const { open } = await import('node:fs/promises');
  const folder = await open(path, constants.O_RDONLY).catch(() => null);
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}

function linksChanged(path: string): SetpointError {
  return new SetpointError(
    'output-failed',
    `${path} now leads to another place. nothing was written.`,
    { hint: 'Another program changes links there; run again when it is done.' },
  );
}

/**
 * Throws a usage error if a file could not be written: its folder does not exist or is read-only, it is not a regular file, or
 * a link leads out of the working folder.
 */
export function checkWritable(path: string): void {
  const place = writePlace(path);
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) {
    throw new SetpointError('usage', `${path} is not a regular file, and only such are written.`, {
      hint: 'Name a file, or leave it out to write to stdout.',
    });
  }
  try {
    accessSync(dirname(place), constants.W_OK);
  } catch (thrown) {
    throw new SetpointError(
      'usage',
      `${path} cannot be written: its folder does not exist, or is read-only.`,
      {
        hint: 'Name a file in a folder that exists.',
        cause: thrown,
      },
    );
  }
}

export function canWrite(path: string): boolean {
  try {
    checkWritable(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The file that a write to a path changes, its links resolved. No write follows a link out of its folder: a path in the working
 * folder (or in `folder`, such as that of the settings file) must lead to a file in there, and a path elsewhere, which the user
 * named, must not end in a link. Throws a usage error otherwise, and for a link that leads nowhere.
 */
export function writePlace(path: string, folder = '.'): string {
  const absolute = resolve(path);
  const root = [process.cwd(), resolve(folder)].find((one) => isPathUnder(absolute, one));
  const real = resolveWritePath(absolute, path);
  if (root === undefined ? isLink(absolute) : !isPathUnder(real, realpathSync(root)))
    throw createLinkError(path, 'would be written through a link that leads elsewhere');
  return real;
}

/** The path with its links resolved; a file that does not exist yet lies in the folder that the links lead to. */
function resolveWritePath(absolute: string, path: string): string {
  try {
    return realpathSync(absolute);
  } catch {
    if (isLink(absolute))
      throw createLinkError(path, 'is, or lies under, a link that leads nowhere');
    const folder = dirname(absolute);
    return folder === absolute
      ? absolute
      : join(resolveWritePath(folder, path), basename(absolute));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function createLinkError(path: string, why: string): SetpointError {
  return new SetpointError('usage', `${path} ${why}. nothing was written.`, {
    hint: 'Remove the link, or name the file that it leads to.',
  });
}
