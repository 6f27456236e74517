import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { SetpointError, systemCode } from '../model/error.ts';

/** A file's text, or why it has none: too large, or not UTF-8. */
export type ReadText =
  | { readonly text: string }
  | { readonly problem: 'file-too-large' | 'not-utf8' };

/** Reads a regular file as strict UTF-8, up to `limit` bytes. Throws file-unreadable; no message quotes the file. */
export function readText(path: string, limit: number): ReadText {
  const bytes = readRegular(path, limit);
  if (bytes === 'too-large') return { problem: 'file-too-large' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: 'not-utf8' };
  }
}

/**
 * The bytes of a regular file, up to `limit`. It is opened without blocking, so that a pipe cannot hang the run, and read no
 * further than the limit, whatever size it claims. Throws file-unreadable.
 */
export function readRegular(path: string, limit: number): Buffer | 'too-large' {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(handle);
    if (!stats.isFile())
      throw new SetpointError('file-unreadable', `${path} is not a regular file.`);
    return stats.size > limit ? 'too-large' : readUpTo(handle, limit);
  } catch (thrown) {
    throw thrown instanceof SetpointError ? thrown : notReadable(path, thrown);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const CHUNK = 64 * 1024;

function readUpTo(handle: number, limit: number): Buffer | 'too-large' {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.alloc(CHUNK);
    const read = readSync(handle, chunk, 0, CHUNK, null);
    if (read === 0) return Buffer.concat(chunks, size);
    size += read;
    if (size > limit) return 'too-large';
    chunks.push(chunk.subarray(0, read));
  }
}

/** Reports whether a file, links resolved, is in a folder. */
export function isInsideFolder(path: string, folder: string): boolean {
  try {
    return isPathUnder(realpathSync(path), realpathSync(folder));
  } catch {
    return false;
  }
}

/** Reports whether an absolute path is under an absolute folder, by their names only; links are not resolved. */
export function isPathUnder(path: string, folder: string): boolean {
  const inner = relative(folder, path);
  return inner !== '' && inner !== '..' && !/^\.\.[\\/]/.test(inner) && !isAbsolute(inner);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ENOTDIR: 'does not exist',
  ELOOP: 'is a link that leads to itself',
};

function notReadable(path: string, thrown: unknown): SetpointError {
  const reason = REASONS[systemCode(thrown)] ?? 'cannot be read';
  return new SetpointError('file-unreadable', `${path} ${reason}.`, {
    cause: thrown,
  });
}

/** A file's text, or null if it does not exist. Throws file-unreadable if it exists and cannot be read. */
export function readOptional(path: string, limit: number): string | null {
  if (!pathExists(path)) return null;
  const read = readText(path, limit);
  if ('text' in read) return read.text;
  throw new SetpointError(
    'file-unreadable',
    `${path} is larger than ${limit} bytes, or not UTF-8 text.`,
  );
}

/** The names of what a folder holds. Throws file-unreadable. */
export function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    throw notReadable(folder, thrown);
  }
}

/** Reports whether a path leads to a folder. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether a path is a link. */
export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Reports whether a path exists, including a link that leads nowhere. */
export function pathExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Reads a file of setpoint's own package: from its folder, or from the single executable that contains it. */
export function readPackageFile(path: string): string {
  const { isSea, getAsset } = process.getBuiltinModule('node:sea');
  if (isSea()) return getAsset(path, 'utf8');
  let folder = import.meta.dirname;
  while (dirname(folder) !== folder && !pathExists(join(folder, 'package.json')))
    folder = dirname(folder);
  return readFileSync(join(folder, path), 'utf8');
}
