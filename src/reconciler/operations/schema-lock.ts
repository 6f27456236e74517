import { lockPath, readLock } from '../desired/schema-lock.ts';
import { SetpointError } from '../model/error.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { readOptional } from '../host/read-text.ts';
import type { Options } from './options.ts';

/** Options with the lock to read settings with, in place of the file beside them. */
export interface LockOptions extends Options {
  readonly lock?: SchemaLock;
}

export const LARGEST_LOCK = 1024 * 1024;

/**
 * The lock of a settings file, if the texts of it and its base may declare native parts. Throws file-unreadable if it cannot be
 * read.
 */
export function lockFor(
  path: string,
  texts: readonly string[],
  { lock }: LockOptions,
): { readonly lock?: SchemaLock } {
  if (lock !== undefined) return { lock };
  if (!texts.some(mayHaveNativeParts)) return {};
  const text = textOfLock(path);
  return text === null ? {} : { lock: readLock(lockPath(path), text) };
}

/** Null if there is no lock. */
export function textOfLock(file: string): string | null {
  try {
    return readOptional(lockPath(file), LARGEST_LOCK);
  } catch (thrown) {
    if (!(thrown instanceof SetpointError)) throw thrown;
    throw new SetpointError('file-unreadable', thrown.message, {
      hint: 'Put a schema lock there: remove what is there, and run setpoint schema pull.',
      cause: thrown,
    });
  }
}

/** An escape in a double-quoted key may spell the name of a part as well. */
function mayHaveNativeParts(text: string): boolean {
  return /\\[xuU]/.test(text) || [...NATIVE_PARTS].some((part) => text.includes(part));
}
