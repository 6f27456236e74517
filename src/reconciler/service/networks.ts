import type { Method } from './exchange.ts';
import { openNetwork, type NetworkSettings, type Sender } from './network.ts';
import { Paces } from './paces.ts';
import { RecentBodies } from './recent-bodies.ts';

/** The network to one origin while a connection uses it. */
export interface Network {
  readonly dispatcher: () => Promise<Sender>;
  /** Ends the use. The sockets are closed once nobody uses them. */
  readonly release: () => Promise<void>;
}

interface Open {
  readonly key: string;
  readonly opening: Promise<Sender>;
  users: number;
}

/** Receives the method of a request and the status of its answer; null if none came. */
export type OnExchange = (method: Method, status: number | null) => void;

/**
 * The networks of one run. Connections to the same origin with the same authorities and proxy share one, so that sockets are used
 * again. One that nobody uses stays open until another is opened, because the next environment often has the same origin.
 */
export class Networks {
  /** Told of every exchange with a service, whatever became of it. */
  readonly onExchange: OnExchange | undefined;
  readonly paces = new Paces();
  readonly bodies = new RecentBodies();
  readonly #open = new Map<string, Open>();
  #idle: Open | null = null;

  constructor(onExchange?: OnExchange) {
    this.onExchange = onExchange;
  }

  use(settings: NetworkSettings): Network {
    let used: Open | null = null;
    return {
      dispatcher: () => {
        used ??= this.#take(settings);
        return used.opening;
      },
      release: async () => {
        if (used === null) return;
        const ended = used;
        used = null;
        ended.users -= 1;
        if (ended.users === 0) await this.#replaceIdle(ended);
      },
    };
  }

  /** Closes what is idle; what is in use is closed when it is released. */
  async close(): Promise<void> {
    await this.#replaceIdle(null);
  }

  #take(settings: NetworkSettings): Open {
    const key = keyOf(settings);
    const known = this.#open.get(key) ?? { key, opening: openNetwork(settings), users: 0 };
    known.users += 1;
    if (this.#idle === known) this.#idle = null;
    this.#open.set(key, known);
    return known;
  }

  async #replaceIdle(next: Open | null): Promise<void> {
    const before = this.#idle;
    this.#idle = next;
    if (before === null || before.users > 0) return;
    this.#open.delete(before.key);
    // Nothing waits for the sockets to be gone: what a run has found out is shown first.
    const dispatcher = await before.opening.catch(() => null);
    setImmediate(() => void dispatcher?.destroy(CLOSED));
  }
}

/** Given to undici, which otherwise makes an error with a stack for each socket that it closes. */
const CLOSED = new Error('closed');

function keyOf({ base, ca, proxy, bypass, connectTimeout }: NetworkSettings): string {
  return JSON.stringify([base.origin, ca, proxy, bypass, connectTimeout]);
}
