import {
  emptyStore,
  readStoreDocument,
  writeStoreDocument,
  type StoreContents,
  type StoreReading,
} from './store-document.ts';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** The contents after an update, and the answer to the request that made it. */
export interface StoreUpdate<T> {
  readonly contents: StoreContents;
  readonly answer: T;
}

/**
 * Both operations read the store again each time, so that services on one file see each other's writes. Updates take turns, and write only
 * if the contents have changed.
 */
export interface Store {
  read(): Promise<StoreContents>;
  update<T>(change: (before: StoreContents) => StoreUpdate<T>): Promise<T>;
}

/** Opens the store of that path, or one in memory. Throws an Error if the file exists but is not a store. */
export async function openStore(path: string | undefined): Promise<Store> {
  const place = path === undefined ? textInMemory() : textInFile(path);
  const name = path ?? 'memory';
  let lastTurn: Promise<unknown> = Promise.resolve();
  const store: Store = {
    read: () => readContents(place, name),
    update: (change) => {
      const turn = lastTurn.then(async () => {
        const before = await readContents(place, name);
        const { contents, answer } = change(before);
        if (contents !== before) await place.write(writeStoreDocument(contents));
        return answer;
      });
      lastTurn = turn.catch(() => {});
      return turn;
    },
  };
  await store.read();
  return store;
}

async function readContents(place: TextPlace, name: string): Promise<StoreContents> {
  const reading = readStoreText(await readPlace(place, name));
  if (reading.kind === 'contents') return reading.contents;
  throw new Error(
    `The embedded service's store ${name} cannot be used: ${reading.reason}. It is left as it is; move it away or name another.`,
  );
}

function readStoreText(text: string | undefined): StoreReading {
  if (text === undefined) return { kind: 'contents', contents: emptyStore };
  return readStoreDocument(text);
}

async function readPlace(place: TextPlace, name: string): Promise<string | undefined> {
  try {
    return await place.read();
  } catch (cause) {
    throw new Error(`The embedded service's store ${name} cannot be read.`, { cause });
  }
}

/** A text that is read and replaced as a whole; undefined if there is none yet. */
interface TextPlace {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

function textInMemory(): TextPlace {
  let held: string | undefined;
  return {
    read: async () => held,
    write: async (text) => {
      held = text;
    },
  };
}

/**
 * A file of mode 0600 that after a crash has the old text or the new one: the new text is written next to it, synced and renamed over it,
 * and then the folder is synced. A missing folder is created with mode 0700.
 */
export function textInFile(path: string): TextPlace {
  const target = resolve(path);
  return {
    read: () => readFileIfExists(target),
    write: (text) => replaceTextFile(target, text),
  };
}

const largest = 64 * 1_048_576;

async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readRegularFile(path, largest);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The text of a regular file of at most `most` bytes, opened without blocking: a pipe does not hang, and a device or a
 * growing file does not fill the memory. Throws an Error for anything else.
 */
async function readRegularFile(path: string, most: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('not a regular file');
    const chunks: Uint8Array[] = [];
    for (let size = 0; ;) {
      const { bytesRead, buffer } = await file.read({ buffer: new Uint8Array(65_536) });
      if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8');
      size += bytesRead;
      if (size > most) throw new Error(`larger than ${most} bytes`);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function replaceTextFile(target: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > largest)
    throw new Error(`The store would hold more than ${largest} bytes.`);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    await writeSynced(aside, text);
    await rename(aside, target);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await flushStoreFolder(folder);
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushStoreFolder(folder: string): Promise<void> {
  // Windows opens no folders, and its renames need no such sync.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
