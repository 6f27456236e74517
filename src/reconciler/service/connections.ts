import { Client, Pool, type Dispatcher } from 'undici';

/**
 * The connections to one origin. Most origins of a run are asked one thing at a time, and a client for that takes undici half of the
 * work of a pool. What is sent while that is busy goes to a pool: no request waits for another one's answer.
 */
export class Connections {
  readonly #first: Client;
  readonly #more: () => Pool;
  #pool: Pool | null = null;

  constructor(origin: string, options: Client.Options) {
    this.#first = new Client(origin, options);
    this.#more = () => new Pool(origin, options);
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#first.stats.size === 0) return this.#first.dispatch(options, handler);
    this.#pool ??= this.#more();
    return this.#pool.dispatch(options, handler);
  }

  async destroy(reason: Error): Promise<void> {
    await Promise.all([this.#first.destroy(reason), this.#pool?.destroy(reason)]);
  }
}
