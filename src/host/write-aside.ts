import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SetpointError } from '../model/error.ts';

/** Writes a file aside, makes it durable and renames it into place, mode 0600: a reader sees the old file or the new one. */
export async function writeAside(path: string, text: string): Promise<void> {
  const { open, rename, rm } = await import('node:fs/promises');
  const real = realPath(path);
  const aside = join(dirname(real), `.${basename(real)}.${process.pid}.${Date.now()}.tmp`);
  try {
    const file = await open(aside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, real);
    await syncFolder(dirname(real));
  } catch (thrown) {
    // What stopped the writing may stop this too, and it is the first that is reported.
    await rm(aside, { force: true }).catch(() => {});
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

/** Throws a usage error where a file could not be written: its folder is not there or not ours, or it is no regular file. */
export function checkWritable(path: string): void {
  const real = realPath(path);
  const what = statSync(real, { throwIfNoEntry: false });
  if (what !== undefined && !what.isFile()) {
    throw new SetpointError('usage', `${path} is not a regular file, and only such are written.`, {
      hint: 'Name a file, or leave it out to write to stdout.',
    });
  }
  try {
    accessSync(dirname(real), constants.W_OK);
  } catch (thrown) {
    throw new SetpointError(
      'usage',
      `${path} cannot be written: its folder is not there, or not to be written to.`,
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

/** The file that links lead to; the path itself where there is none yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
