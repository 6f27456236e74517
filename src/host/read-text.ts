import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { relative, isAbsolute } from 'node:path';
import { SetpointError } from '../model/error.ts';

/** A file's text, or why it has none: too large, or not UTF-8. */
export type ReadText =
  | { readonly text: string }
  | { readonly problem: 'file-too-large' | 'not-utf8' };

/** Reads a regular file as strict UTF-8, up to `limit` bytes. Throws file-unreadable; no message holds what is in it. */
export function readText(path: string, limit: number): ReadText {
  const bytes = readBytes(path, limit);
  if (bytes === null) return { problem: 'file-too-large' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: 'not-utf8' };
  }
}

/** Opened without blocking, so that a pipe cannot hang the run. Null where there are more bytes than the limit. */
function readBytes(path: string, limit: number): Buffer | null {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(handle);
    if (!stats.isFile())
      throw new SetpointError('file-unreadable', `${path} is not a regular file.`);
    const bytes = stats.size > limit ? null : readFileSync(handle);
    return bytes === null || bytes.length > limit ? null : bytes;
  } catch (thrown) {
    throw thrown instanceof SetpointError ? thrown : unreadable(path, thrown);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Whether a file, links resolved, lies in a folder. */
export function liesIn(path: string, folder: string): boolean {
  try {
    const inner = relative(realpathSync(folder), realpathSync(path));
    return inner !== '' && !inner.startsWith('..') && !isAbsolute(inner);
  } catch {
    return false;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ENOTDIR: 'does not exist',
  ELOOP: 'is a link that leads to itself',
};

function unreadable(path: string, thrown: unknown): SetpointError {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  return new SetpointError('file-unreadable', `${path} ${REASONS[code] ?? 'cannot be read'}.`, {
    cause: thrown,
  });
}
