/**
 * Has environments of one server written one after another. Each write observes the server first and verifies it after: two at once would
 * undo each other where a server replaces its whole record.
 */
export class ServerWrites {
  readonly #last = new Map<string, Promise<void>>();

  /** Writes to a server, once the writes before it have ended. `server` is its address. */
  async write<T>(server: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(server);
    const writing = Promise.resolve(before).then(write);
    const ended = writing.then(
      () => {},
      () => {},
    );
    this.#last.set(server, ended);
    try {
      return await writing;
    } finally {
      if (this.#last.get(server) === ended) this.#last.delete(server);
    }
  }
}
