import { link, rename, stat } from 'node:fs/promises';
import { SetpointError, systemCode } from '../model/error.ts';
import { readText } from './read-text.ts';
import {
  commitWrite,
  discardWrite,
  prepareWrite,
  type PreparedWrite,
  writePlace,
} from './write-aside.ts';

/** A file to be written. `before` is the text it was read with; null for one that must not exist yet. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly text: string;
}

/**
 * Writes several files. All are written aside and synced, then the files that they replace are read once more, then they are renamed into
 * place one after another: at any moment, each file has its old text or its new one. A file keeps its mode; links are followed within the
 * limits of `writePlace`. Throws, with nothing replaced, if a file has changed since it was read, or if one that should be new exists.
 */
export async function writeFiles(changes: readonly FileChange[], limit: number): Promise<void> {
  const prepared: (readonly [FileChange, PreparedWrite])[] = [];
  try {
    for (const change of changes) prepared.push([change, await prepareChange(change)]);
    for (const [change] of prepared) checkUnchanged(change, limit);
    for (const [{ path, before }, aside] of prepared)
      await commitWrite(aside, before === null ? (from, to) => create(path, from, to) : undefined);
  } catch (thrown) {
    throw thrown instanceof SetpointError ? thrown : writeFailed(changes, thrown);
  } finally {
    for (const [, aside] of prepared) await discardWrite(aside);
  }
}

async function prepareChange({ path, before, text }: FileChange): Promise<PreparedWrite> {
  const mode = before === null ? undefined : (await stat(writePlace(path))).mode & 0o7777;
  return prepareWrite(path, text, { mode });
}

function checkUnchanged({ path, before }: FileChange, limit: number): void {
  if (before === null) return;
  const now = readText(path, limit);
  if ('text' in now && now.text === before) return;
  throw new SetpointError(
    'file-changed',
    `${path} has changed since it was read. nothing was written.`,
    { hint: 'Another program or person edits it; run again when they are done.' },
  );
}

/** A hard link fails if the file exists; on a file system without links, a check before the rename has to do. */
async function create(path: string, from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') throw alreadyExists(path);
    if ((await stat(to).catch(() => null)) !== null) throw alreadyExists(path);
    await rename(from, to);
  }
}

function alreadyExists(path: string): SetpointError {
  return new SetpointError('usage', `${path} exists already, and is not overwritten.`, {
    hint: 'Name another file with -f, or bring the values in with setpoint pull.',
  });
}

function writeFailed(changes: readonly FileChange[], cause: unknown): SetpointError {
  const names = changes.map(({ path }) => path).join(', ');
  return new SetpointError('output-failed', `${names} could not be written.`, {
    hint: 'Check that the folder exists and is writable.',
    cause,
  });
}
