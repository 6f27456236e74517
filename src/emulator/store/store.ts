import {
  emptyStore,
  readStoreDocument,
  writeStoreDocument,
  type StoreContents,
  type StoreReading,
} from './store-document.ts';
import { textInFile, textInMemory, type TextPlace } from './text-file.ts';

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
