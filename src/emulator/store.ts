import { readStoreDocument, writeStoreDocument, type StoreContents } from './store-document.ts';
import { textInFile, textInMemory, type TextPlace } from './text-file.ts';

/** Both operations read anew each time, so that services on one file see each other's writes. Updates take turns. */
export interface Store {
  read(): Promise<StoreContents>;
  update(change: (before: StoreContents) => StoreContents): Promise<void>;
}

/** Opens the store of that path, or one in memory; throws an Error where the file is there but is not a store. */
export async function openStore(path: string | undefined): Promise<Store> {
  const place = path === undefined ? textInMemory() : textInFile(path);
  const name = path ?? 'memory';
  let lastTurn: Promise<void> = Promise.resolve();
  const store: Store = {
    read: () => readContents(place, name),
    update: (change) => {
      const turn = lastTurn.then(async () => {
        await place.write(writeStoreDocument(change(await readContents(place, name))));
      });
      lastTurn = turn.catch(() => {});
      return turn;
    },
  };
  await store.read();
  return store;
}

async function readContents(place: TextPlace, name: string): Promise<StoreContents> {
  const reading = readStoreText(await textOf(place, name));
  if (reading.kind === 'contents') return reading.contents;
  throw new Error(
    `The embedded service's store ${name} cannot be used: ${reading.reason}. It is left as it is; move it away or name another.`,
  );
}

function readStoreText(text: string | undefined): ReturnType<typeof readStoreDocument> {
  if (text === undefined) return { kind: 'contents', contents: { settings: undefined } };
  return readStoreDocument(text);
}

async function textOf(place: TextPlace, name: string): Promise<string | undefined> {
  try {
    return await place.read();
  } catch (cause) {
    throw new Error(`The embedded service's store ${name} cannot be read.`, { cause });
  }
}
