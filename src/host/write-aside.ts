import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SetpointError } from '../model/error.ts';

/** Writes a file aside, makes it durable and renames it into place, mode 0600: a reader sees the old file or the new one. */
export async function writeAside(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${basename(path)}.${process.pid}.${Date.now()}.tmp`);
  try {
    const file = await open(aside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (thrown) {
    await rm(aside, { force: true });
    throw new SetpointError('output-failed', `${path} could not be written.`, { cause: thrown });
  }
}
