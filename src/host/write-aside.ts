import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { writePlace } from './write-place.ts';

/**
 * Writes a file aside, makes it durable and renames it into place, mode 0600: a reader sees the old file or the new one. Links
 * are followed as `writePlace` allows, and are the same before and after the file is written aside.
 */
export async function writeAside(path: string, text: string, folder?: string): Promise<void> {
  const { open, rename, rm } = await import('node:fs/promises');
  const place = writePlace(path, folder);
  const aside = join(dirname(place), `.${basename(place)}.${process.pid}.${Date.now()}.tmp`);
  try {
    const file = await open(aside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (writePlace(path, folder) !== place) throw moved(path);
    await rename(aside, place);
    await syncFolder(dirname(place));
  } catch (thrown) {
    // What stopped the writing may stop this too, and it is the first that is reported.
    await rm(aside, { force: true }).catch(() => {});
    if (thrown instanceof SetpointError) throw thrown;
    throw new SetpointError('output-failed', `${path} could not be written.`, { cause: thrown });
  }
}

/** Makes a renaming in a folder durable; does nothing on a system that does not open folders. */
export async function syncFolder(path: string): Promise<void> {
  const { open } = await import('node:fs/promises');
  const folder = await open(path, constants.O_RDONLY).catch(() => null);
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}

export function moved(path: string): SetpointError {
  return new SetpointError(
    'output-failed',
    `${path} leads to another place than it did before; nothing was written.`,
    { hint: 'Something else changes links there; run again when it is done.' },
  );
}

/**
 * Throws a usage error if a file could not be written: its folder does not exist or is read-only, it is no regular file, or a
 * link leads out of the working folder.
 */
export function checkWritable(path: string): void {
  const place = writePlace(path);
  const what = statSync(place, { throwIfNoEntry: false });
  if (what !== undefined && !what.isFile()) {
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
