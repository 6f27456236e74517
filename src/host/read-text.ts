import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative, isAbsolute } from 'node:path';
import { SetpointError } from '../model/error.ts';

/** A file's text, or why it has none: too large, or not UTF-8. */
export type ReadText =
  | { readonly text: string }
  | { readonly problem: 'file-too-large' | 'not-utf8' };

/** Reads a regular file as strict UTF-8, up to `limit` bytes. Throws file-unreadable; no message holds what is in it. */
export async function readText(path: string, limit: number): Promise<ReadText> {
  let bytes: Buffer;
  try {
    // Without blocking, so that a pipe cannot hang the run.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile())
        throw new SetpointError('file-unreadable', `${path} is not a regular file.`);
      if (stats.size > limit) return { problem: 'file-too-large' };
      bytes = await file.readFile();
    } finally {
      await file.close();
    }
  } catch (thrown) {
    if (thrown instanceof SetpointError) throw thrown;
    throw unreadable(path, thrown);
  }
  if (bytes.length > limit) return { problem: 'file-too-large' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: 'not-utf8' };
  }
}

/** Whether a file, links resolved, lies in a folder. */
export async function liesIn(path: string, folder: string): Promise<boolean> {
  try {
    const inner = relative(await realpath(folder), await realpath(path));
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
