import { lstatSync } from 'node:fs';
import { SetpointError } from '../model/error.ts';
import { readText } from './read-text.ts';

/** A file's text, or null where there is no such file. Throws file-unreadable where there is one that cannot be read. */
export function readOptional(path: string, limit: number): string | null {
  if (!isThere(path)) return null;
  const read = readText(path, limit);
  if ('text' in read) return read.text;
  throw new SetpointError(
    'file-unreadable',
    `${path} is larger than ${limit} bytes, or not UTF-8 text.`,
  );
}

/** Whether something has this path, a link that leads nowhere included. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
