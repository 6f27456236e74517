import type { DispatchController, Dispatcher, DispatchHandler } from '../model/dispatcher.ts';
import {
  type FaultDetail,
  classifyFault,
  foreignCode,
  type Phase,
  type WireFault,
  withoutText,
} from './fault-error.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

interface WireRequest {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadlines: Deadlines;
  /** The most bytes that are read of an answer, packed or unpacked. */
  readonly largestBody: number;
  readonly signal: AbortSignal | undefined;
  /** Reports whether the body of a status is read. If not, the answer is complete without it. */
  readonly wantsBody: (status: number) => boolean;
  /** Called as the first byte goes out. */
  readonly onSent: () => void;
}

/** In milliseconds: until there is a connection, then until an answer begins; and for the whole request. */
interface Deadlines {
  readonly connect: number;
  readonly headers: number;
  readonly total: number;
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** `reply`: a status came, whatever became of the body. `fault`: none did. */
export type WireAnswer =
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers: ReplyHeaders;
      readonly body: Uint8Array | WireFault;
    }
  | { readonly kind: 'fault'; readonly fault: WireFault };

/** Sends one request, once, and never throws. No redirect is followed and nothing is tried again. */
export async function exchange(
  dispatcher: Dispatcher,
  origin: string,
  request: WireRequest,
): Promise<WireAnswer> {
  if (request.signal?.aborted === true) return toAbortedAnswer(request.signal.reason);
  const { answer, encoding } = await new Promise<BodyEnding>((resolve) => {
    const pending = new PendingExchange(request, resolve);
    const { method, path, headers, body } = request;
    try {
      dispatcher.dispatch(
        { origin, method, path, headers: { ...headers }, body, headersTimeout: 0, bodyTimeout: 0 },
        pending,
      );
    } catch (thrown) {
      pending.onResponseError(null, thrown);
    }
  });
  if (answer.kind === 'fault' || !(answer.body instanceof Uint8Array)) return answer;
  await socketIsFree();
  return { ...answer, body: await unpack(answer.body, encoding, request.largestBody) };
}

function toAbortedAnswer(reason: unknown): WireAnswer {
  return { kind: 'fault', fault: { kind: 'aborted', reason, phase: 'connect', cause: undefined } };
}

/** A socket can be reused one turn of the event loop after an answer; a request before that opens a new one. */
function socketIsFree(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function readHeader(headers: ReplyHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}

interface BodyEnding {
  readonly answer: WireAnswer;
  readonly encoding: ContentEncoding;
}

/** One request under way. Its own timers hold whatever arrives and however slowly; the first ending is the only one. */
class PendingExchange implements DispatchHandler {
  readonly #request: WireRequest;
  readonly #resolve: (ending: BodyEnding) => void;
  readonly #total: NodeJS.Timeout;
  #step: NodeJS.Timeout;
  #phase: Phase = 'connect';
  #over = false;
  #controller: DispatchController | undefined;
  #head: { readonly status: number; readonly headers: ReplyHeaders } | undefined;
  #encoding: ContentEncoding = 'identity';
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(request: WireRequest, resolve: (ending: BodyEnding) => void) {
    this.#request = request;
    this.#resolve = resolve;
    const { connect, total } = request.deadlines;
    this.#total = setTimeout(() => this.#fail({ kind: 'timeout', after: total }), total);
    this.#step = setTimeout(() => this.#fail({ kind: 'timeout', after: connect }), connect);
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: DispatchController): void {
    this.#controller = controller;
    if (this.#over) {
      controller.abort(new Error('given up'));
      return;
    }
    this.#phase = 'headers';
    this.#request.onSent();
    const { headers } = this.#request.deadlines;
    clearTimeout(this.#step);
    this.#step = setTimeout(() => this.#fail({ kind: 'timeout', after: headers }), headers);
  }

  onRequestUpgrade(): void {
    this.#fail({ kind: 'malformed' });
  }

  onResponseStart(_: DispatchController, status: number, headers: ReplyHeaders): void {
    if (this.#over || status < 200) return;
    clearTimeout(this.#step);
    this.#phase = 'body';
    this.#head = { status, headers };
    if (!this.#request.wantsBody(status)) {
      this.#end({ kind: 'reply', status, headers, body: new Uint8Array() });
      return;
    }
    const encoding = contentEncoding(readHeader(headers, 'content-encoding'));
    if (encoding === null) this.#fail({ kind: 'foreign-encoding' });
    else this.#encoding = encoding;
  }

  onResponseData(_: DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    this.#size += chunk.length;
    if (this.#size > this.#request.largestBody) this.#fail({ kind: 'body-too-large' });
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#over || this.#head === undefined) return;
    this.#end({ kind: 'reply', ...this.#head, body: Buffer.concat(this.#chunks) }, true);
  }

  onResponseError(_: DispatchController | null, error: unknown): void {
    if (!this.#over)
      this.#fault(classifyFault(error, this.#phase, this.#request.deadlines.connect));
  }

  readonly #onAbort = (): void => {
    this.#fail({ kind: 'aborted', reason: this.#request.signal?.reason });
  };

  #fail(detail: FaultDetail): void {
    this.#fault({ ...detail, phase: this.#phase, cause: undefined });
  }

  #fault(fault: WireFault): void {
    this.#end(
      this.#head === undefined
        ? { kind: 'fault', fault }
        : { kind: 'reply', ...this.#head, body: fault },
    );
  }

  #end(answer: WireAnswer, complete = false): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#step);
    clearTimeout(this.#total);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#resolve({ answer, encoding: this.#encoding });
    if (!complete) this.#controller?.abort(new Error('given up'));
  }
}

export type ContentEncoding = 'identity' | 'gzip' | 'deflate' | 'br';

/** The one encoding of a body; null if there are several, or one that is not supported. */
export function contentEncoding(header: string | undefined): ContentEncoding | null {
  const names = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length > 1) return null;
  const [name = 'identity'] = names;
  switch (name) {
    case 'identity':
    case 'gzip':
    case 'deflate':
    case 'br':
      return name;
    case 'x-gzip':
      return 'gzip';
    default:
      return null;
  }
}

/** Unpacks a body, and stops as soon as it is larger than `most` bytes: the packed content may be a bomb. */
export async function unpack(
  bytes: Uint8Array,
  encoding: ContentEncoding,
  most: number,
): Promise<Uint8Array | WireFault> {
  if (encoding === 'identity') return bytes;
  const zlib = await import('node:zlib');
  const options = { maxOutputLength: most };
  return new Promise((resolve) => {
    const done = (error: Error | null, unpacked: Uint8Array) =>
      resolve(error === null ? unpacked : unpackFault(error));
    switch (encoding) {
      case 'gzip':
        return zlib.gunzip(bytes, options, done);
      case 'deflate':
        return zlib.inflate(bytes, options, done);
      case 'br':
        return zlib.brotliDecompress(bytes, options, done);
    }
  });
}

function unpackFault(error: Error): WireFault {
  const tooLarge = foreignCode(error) === 'ERR_BUFFER_TOO_LARGE';
  return {
    kind: tooLarge ? 'body-too-large' : 'undecodable',
    phase: 'body',
    cause: withoutText(error),
  };
}

export type Reply = Extract<WireAnswer, { kind: 'reply' }>;

/** Reports whether a reply declares JSON. */
export function isJsonReply({ headers }: Reply): boolean {
  const type = readHeader(headers, 'content-type') ?? '';
  return type === 'application/json' || /^application\/([\w.-]+\+)?json *(;|$)/i.test(type);
}
