import type {
  DispatchController,
  Dispatcher,
  DispatchHandler,
} from '../../reconciler/model/dispatcher.ts';
import type { WireAnswer } from '../../reconciler/service/exchange.ts';
import { classifyFault } from '../../reconciler/service/fault-error.ts';

/** The end of an answer that is read while it arrives. `invalid`: the answer does not come from an API server. */
export type StreamEnd = WireAnswer | { readonly kind: 'ended' } | { readonly kind: 'invalid' };

type ReplyHeaders = Extract<WireAnswer, { kind: 'reply' }>['headers'];

interface StreamOptions {
  /** Returns whether to go on; what it throws ends the answer. */
  readonly onChunk: (chunk: Uint8Array) => 'on' | 'stop';
  readonly signal: AbortSignal;
  /** The longest silence, in milliseconds: after that its connection counts as lost. */
  readonly silence: number;
}

/** Sends a GET, and hands on what is answered, part by part. Never throws. */
export function readStream(
  dispatcher: Dispatcher,
  request: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  options: StreamOptions,
): Promise<StreamEnd> {
  const { path, headers } = request;
  return new Promise((resolve) => {
    const handler = new StreamHandler(options, resolve);
    const sent = { method: 'GET', path, headers, headersTimeout: 30_000, bodyTimeout: 0 } as const;
    dispatcher.dispatch({ ...sent, headers: { ...headers } }, handler);
  });
}

class StreamHandler implements DispatchHandler {
  readonly #options: StreamOptions;
  readonly #resolve: (end: StreamEnd) => void;
  #controller: DispatchController | undefined;
  #silence: NodeJS.Timeout;
  #isOver = false;

  constructor(options: StreamOptions, resolve: (end: StreamEnd) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#silence = this.#wait();
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    if (this.#isOver || this.#options.signal.aborted) controller.abort(new Error('given up'));
  }

  onResponseStart(_: DispatchController, status: number, headers: ReplyHeaders): void {
    if (status >= 300) this.#end({ kind: 'reply', status, headers, body: new Uint8Array() });
  }

  onResponseData(_: DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#silence.refresh();
    try {
      if (this.#options.onChunk(chunk) === 'stop') this.#end({ kind: 'ended' });
    } catch {
      // Nothing of the answer is repeated.
      this.#end({ kind: 'invalid' });
    }
  }

  onResponseEnd(): void {
    this.#end({ kind: 'ended' });
  }

  onResponseError(_: DispatchController | null, error: unknown): void {
    this.#end({ kind: 'fault', fault: classifyFault(error, 'body', 0) });
  }

  #wait(): NodeJS.Timeout {
    const silent = new Error('The answer was silent.');
    return setTimeout(() => this.onResponseError(null, silent), this.#options.silence);
  }

  readonly #onAbort = (): void => this.#end({ kind: 'ended' });

  #end(end: StreamEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#silence);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#resolve(end);
    this.#controller?.abort(new Error('given up'));
  }
}
