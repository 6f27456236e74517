import { link, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SetpointError } from '../model/error.ts';
import { readText } from './read-text.ts';
import { moved, syncFolder } from './write-aside.ts';
import { writePlace } from './write-place.ts';

/** A file to be written. `before` is the text it was read with; null for one that must not be there yet. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly text: string;
}

interface Aside {
  readonly change: FileChange;
  readonly real: string;
  readonly aside: string;
}

/**
 * Writes files so that a reader finds each as it was or as it will be, whatever happens: all are written aside and made
 * durable, then what they replace is read once more, then they are renamed into place one after another. A file keeps its
 * mode; links are followed as `writePlace` allows. Throws, with nothing replaced, if a file has changed since it was read, or one
 * that should be new is there.
 */
export async function writeFiles(changes: readonly FileChange[], limit: number): Promise<void> {
  const written: Aside[] = [];
  try {
    for (const change of changes) written.push(await writtenAside(change));
    for (const { change } of written) checkUnchanged(change, limit);
    for (const one of written) await putInPlace(one);
  } catch (thrown) {
    throw thrown instanceof SetpointError ? thrown : failure(changes, thrown);
  } finally {
    for (const { aside } of written) await rm(aside, { force: true });
  }
}

async function writtenAside(change: FileChange): Promise<Aside> {
  const real = writePlace(change.path);
  const mode = change.before === null ? null : (await stat(real)).mode & 0o7777;
  const aside = join(dirname(real), `.${basename(real)}.${process.pid}.${Date.now()}.tmp`);
  try {
    const file = await open(aside, 'wx', mode ?? 0o666);
    try {
      // The mode given at opening is cut by the process's mask.
      if (mode !== null) await file.chmod(mode);
      await file.writeFile(change.text);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (thrown) {
    await rm(aside, { force: true });
    throw thrown;
  }
  return { change, real, aside };
}

function checkUnchanged({ path, before }: FileChange, limit: number): void {
  if (before === null) return;
  const now = readText(path, limit);
  if ('text' in now && now.text === before) return;
  throw new SetpointError(
    'file-changed',
    `${path} has changed since it was read; nothing was written.`,
    {
      hint: 'Somebody else is editing it; run again when they are done.',
    },
  );
}

async function putInPlace({ change, real, aside }: Aside): Promise<void> {
  if (writePlace(change.path) !== real) throw moved(change.path);
  if (change.before === null) await created(change.path, real, aside);
  else await rename(aside, real);
  await syncFolder(dirname(real));
}

/** A link is made only where nothing is there; where a file system has no links, a look has to do. */
async function created(path: string, real: string, aside: string): Promise<void> {
  try {
    await link(aside, real);
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
    if (code === 'EEXIST') throw exists(path);
    const there = await stat(real).catch(() => null);
    if (there !== null) throw exists(path);
    await rename(aside, real);
  }
}

function exists(path: string): SetpointError {
  return new SetpointError('usage', `${path} exists already, and is not written over.`, {
    hint: 'Name another file with -f, or bring the values in with setpoint pull.',
  });
}

function failure(changes: readonly FileChange[], cause: unknown): SetpointError {
  const names = changes.map(({ path }) => path).join(', ');
  return new SetpointError('output-failed', `${names} could not be written.`, {
    hint: 'Check that the folder is there and may be written to.',
    cause,
  });
}
