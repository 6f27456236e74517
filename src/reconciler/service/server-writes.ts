import type { Secret } from '../model/secret.ts';

/** The record that a write changes: a server has one for each key, or one for all. */
interface WrittenRecord {
  readonly address: string;
  /** The credentials that are sent. */
  readonly secrets: readonly Secret[];
}

/**
 * Has environments of one server and key written one after another. Each write observes the server first and verifies it after: two at once
 * would undo each other where a server replaces its whole record.
 */
export class ServerWrites {
  readonly #writing = new Map<WrittenRecord, Promise<void>>();

  /** Writes to a server, once the writes before it have ended. */
  async write<T>(record: WrittenRecord, write: () => Promise<T>): Promise<T> {
    const before = [...this.#writing].filter(([one]) => isSameRecord(one, record));
    const writing = Promise.all(before.map(([, ended]) => ended)).then(write);
    const ended = writing.then(
      () => {},
      () => {},
    );
    this.#writing.set(record, ended);
    try {
      return await writing;
    } finally {
      this.#writing.delete(record);
    }
  }
}

/** Reports whether two requests reach the same record, as far as their address and their credentials show. */
export function isSameRecord(one: WrittenRecord, { address, secrets }: WrittenRecord): boolean {
  return (
    one.address === address &&
    one.secrets.length === secrets.length &&
    secrets.every((secret, index) => one.secrets[index]?.sameAs(secret) === true)
  );
}
