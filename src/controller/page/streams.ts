import type { ServerResponse } from 'node:http';
import type { Watching } from '../watch/watching.ts';
import { sources, computeViewVersion, type LiveView } from './page-parts.ts';
import { SAFE_HEADERS } from './access.ts';
import { Shares } from './fair-shares.ts';

/** Computes the view of a stream. Streams with the same key show the same. Null once there is nothing to show. */
export interface ViewSource {
  readonly key: string;
  readonly view: () => Promise<LiveView | null>;
}

/** The reader of a stream. `name` is the same for all streams of one reader; `isAllowed` reports whether access continues. */
export interface Reader {
  readonly name: string;
  readonly isAllowed: () => boolean;
}

interface Stream {
  readonly source: ViewSource;
  readonly response: ServerResponse;
  readonly reader: Reader;
  /** The key of each part as the reader has it, and the order of the rows. */
  sent: ReadonlyMap<string, string>;
  order: string;
}

const MOST_STREAMS = 100;
/** The least time between two events of a stream, in milliseconds: what changes in between is sent together. */
const PAUSE = 1000;
/** The delay that joins a burst of changes, in milliseconds. */
const SOON = 50;
const KEEP_ALIVE = 15_000;
/** A reader who has not taken what was sent is cut off after this long. */
const LONGEST_STALL = 60_000;

export const EVENT_HEADERS: Readonly<Record<string, string>> = {
  ...SAFE_HEADERS,
  'Content-Type': 'text/event-stream; charset=utf-8',
  'X-Accel-Buffering': 'no',
};

/**
 * Server-sent events. They carry no news of their own: each brings a reader from what it has to what is shown now. So whatever
 * is lost or late is made up for by the next one, and a slow reader costs one event at most.
 */
export class Streams {
  /** With when each had last taken all that was sent. */
  readonly #streams = new Map<Stream, number>();
  readonly #shares = new Shares<Stream>(MOST_STREAMS);
  readonly #boot: string;
  readonly #failed: (thrown: unknown) => void;
  readonly #silence: () => void;
  readonly #keepAlive: NodeJS.Timeout;
  #turn: NodeJS.Timeout | null = null;
  #turnedAt = Number.NEGATIVE_INFINITY;
  #changed = false;

  constructor(
    watching: Pick<Watching, 'subscribe'>,
    boot: string,
    failed: (thrown: unknown) => void,
  ) {
    this.#boot = boot;
    this.#failed = failed;
    this.#silence = watching.subscribe(() => {
      this.#changed = true;
      this.#wake();
    });
    this.#keepAlive = setInterval(() => this.#sendKeepAlive(), KEEP_ALIVE).unref();
  }

  /**
   * Begins a stream, which ends once its reader may not have it. `version` is what the reader has; if it is that of now, nothing is sent until
   * something changes. If there are too many streams, the oldest one of the reader that has most of them ends.
   */
  async open(
    source: ViewSource,
    response: ServerResponse,
    version: string,
    reader: Reader,
  ): Promise<void> {
    const view = await source.view();
    if (view === null || response.destroyed || !reader.isAllowed()) {
      response.writeHead(204, SAFE_HEADERS).end();
      return;
    }
    response.writeHead(200, EVENT_HEADERS);
    const stream: Stream = { source, response, reader, sent: new Map(), order: '' };
    this.#streams.set(stream, performance.now());
    response.on('close', () => this.#forget(stream));
    response.on('error', () => this.#forget(stream));
    const left = this.#shares.add(reader.name, stream);
    if (left !== null) this.#end(left);
    response.write('retry: 3000\n\n');
    if (version === computeViewVersion(view, this.#boot)) recordSentParts(stream, view);
    else this.#trySend(stream, view);
  }

  /** Ends the streams whose readers may not have them any more. */
  review(): void {
    for (const stream of this.#streams.keys()) if (!stream.reader.isAllowed()) this.#end(stream);
  }

  close(): void {
    clearInterval(this.#keepAlive);
    if (this.#turn !== null) clearTimeout(this.#turn);
    this.#silence();
    for (const stream of this.#streams.keys()) this.#end(stream);
  }

  #end(stream: Stream): void {
    this.#forget(stream);
    stream.response.end();
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    this.#shares.delete(stream.reader.name, stream);
  }

  /** Sends soon after a change, and not more often than once in a pause. */
  #wake(): void {
    if (this.#turn !== null || this.#streams.size === 0) return;
    const wait = Math.max(SOON, this.#turnedAt + PAUSE - performance.now());
    this.#turn = setTimeout(() => {
      this.#turnedAt = performance.now();
      void this.#sendAll().finally(() => {
        this.#turn = null;
        if (this.#changed) this.#wake();
      });
    }, wait).unref();
  }

  /** Each source is computed once for all who look at it. */
  async #sendAll(): Promise<void> {
    this.#changed = false;
    this.review();
    const views = new Map<string, Promise<LiveView | null>>();
    for (const stream of this.#streams.keys()) {
      if (this.#isStalled(stream)) continue;
      const { source } = stream;
      const known = views.get(source.key);
      const computed = known ?? source.view();
      if (known === undefined) views.set(source.key, computed);
      const view = await computed.catch((thrown: unknown) => {
        this.#failed(thrown);
        return null;
      });
      if (view === null || !stream.reader.isAllowed()) this.#end(stream);
      else if (this.#streams.has(stream)) this.#trySend(stream, view);
    }
  }

  /** Sends a view. A view that cannot be rendered ends only its own stream, because the head is already sent. */
  #trySend(stream: Stream, view: LiveView): void {
    try {
      this.#send(stream, view);
    } catch (thrown) {
      this.#failed(thrown);
      this.#end(stream);
    }
  }

  #isStalled({ response }: Stream): boolean {
    return response.writableLength > 0;
  }

  #send(stream: Stream, view: LiveView): void {
    const order = view.order?.join(' ') ?? '';
    const parts = view.parts.filter(({ id, key }) => stream.sent.get(id) !== key);
    if (parts.length === 0 && order === stream.order) return;
    const version = computeViewVersion(view, this.#boot);
    const data = JSON.stringify({
      parts: sources(parts),
      order: order === stream.order ? null : view.order,
      version,
    });
    recordSentParts(stream, view);
    stream.response.write(`id: ${version}\ndata: ${data}\n\n`);
  }

  #sendKeepAlive(): void {
    const now = performance.now();
    this.review();
    for (const [stream, since] of this.#streams) {
      if (!this.#isStalled(stream)) {
        stream.response.write(':\n\n');
        this.#streams.set(stream, now);
      } else if (now - since > LONGEST_STALL) stream.response.destroy();
    }
    // Some changes come without an event: whether the controller stands still.
    this.#wake();
  }
}

function recordSentParts(stream: Stream, view: LiveView): void {
  stream.sent = new Map(view.parts.map(({ id, key }) => [id, key]));
  stream.order = view.order?.join(' ') ?? '';
}
