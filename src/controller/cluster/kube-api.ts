import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Pool, type Dispatcher } from 'undici';
import { SetpointError, type ErrorCode } from '../../reconciler/model/error.ts';
import type { Clock, Variables } from '../../reconciler/model/ports.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import { readOptional, readText } from '../../reconciler/host/read-text.ts';
import {
  exchange,
  headerOf,
  type Method,
  type WireAnswer,
} from '../../reconciler/service/exchange.ts';
import { withoutText, type WireFault } from '../../reconciler/service/fault-error.ts';

/** Where the API server of the cluster is that this process runs in, and the folder with the token of its service account. */
export interface Cluster {
  readonly origin: string;
  readonly folder: string;
  readonly namespace: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const LARGEST_FILE = 1024 * 1024;
/** A page of objects: each may have 1.5 MiB in etcd. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
/** The longest line of a watch: one object. */
const LONGEST_LINE = 4 * 1024 * 1024;
/** How long a watch may be silent, in milliseconds: the API server sends a bookmark about once a minute. */
const LONGEST_SILENCE = 180_000;

/** Null if this process does not run in a cluster, or its pod mounts no token. */
export function clusterHere(variables: Variables): Cluster | null {
  const {
    KUBERNETES_SERVICE_HOST: host = '',
    KUBERNETES_SERVICE_PORT: port = '443',
    SETPOINT_SERVICE_ACCOUNT: folder = SERVICE_ACCOUNT,
  } = variables;
  if (host === '' || readOptional(join(folder, 'token'), LARGEST_FILE) === null) return null;
  return {
    origin: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    folder,
    namespace: readOptional(join(folder, 'namespace'), LARGEST_FILE)?.trim() ?? 'default',
  };
}

/** The path of objects of one kind in a namespace, null is all of them, or of one of them. `api` is such as /api/v1. */
export function kubePath(
  api: string,
  namespace: string | null,
  plural: string,
  name?: string,
): string {
  const scope = namespace === null ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${api}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

export interface KubeRequest {
  readonly method: Method;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Of the body. Default: application/json. */
  readonly contentType?: string;
  /** Milliseconds for the request with all its tries. */
  readonly within: number;
  /** What of the purpose is another one for this request: errors name it. */
  readonly about?: Partial<Omit<Purpose, 'code' | 'offered'>>;
  /** Whether it goes on from a place that may be too old by now: that is answered as `gone`, and not asked for again. */
  readonly expires?: boolean;
}

/** `gone`: what was asked for is too old (410). */
export type KubeAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'conflict' | 'gone' | 'none' };

/** What is asked of the API server, as its errors name it. */
export interface Purpose {
  readonly code: ErrorCode;
  /** What it is asked for: `keep the locks`. */
  readonly purpose: string;
  /** Objects, in the plural: `leases`. */
  readonly what: string;
  /** Null is all of them. */
  readonly namespace: string | null;
  /** What to do if the service account may not. */
  readonly rule: string;
  /** What to do if the cluster has no such objects. */
  readonly offered: string;
}

/** This service account may not do that (403): it is the same the next time. */
export class KubeForbidden extends SetpointError {}

/** One API server, as the service account of this process may use it. Its token and its authority are read anew for each request: both are replaced. */
export class KubeApi {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #asked: Purpose;
  #network: { readonly ca: string; readonly pool: Pool } | null = null;

  constructor(cluster: Cluster, clock: Clock, asked: Purpose) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#asked = asked;
  }

  /** Throws a SetpointError for every answer but those of KubeAnswer. */
  async ask(request: KubeRequest): Promise<KubeAnswer> {
    const { method, within } = request;
    const until = this.#clock.monotonic() + within;
    for (let tries = 1; ; tries += 1) {
      const left = until - this.#clock.monotonic();
      const answer = await this.#send(request, Math.max(1, left));
      if (answer.kind === 'reply') {
        if (answer.status === 409) return { kind: 'conflict' };
        if (answer.status === 410 && request.expires === true) return { kind: 'gone' };
        if (answer.status === 404 && method !== 'POST') return { kind: 'none' };
        if (answer.status >= 200 && answer.status < 300) return this.#done(answer);
      }
      const after = answer.kind === 'reply' ? headerOf(answer.headers, 'retry-after') : undefined;
      const pause = pauseOf(answer, after, tries);
      if (pause === null || this.#clock.monotonic() + pause >= until)
        throw this.#error(answer, request);
      await this.#clock.sleep(pause);
    }
  }

  /**
   * Hands on each line of a watch until the API server ends it, a line stops it, or the signal aborts. Throws a SetpointError if it does not begin, and if it breaks off;
   * `gone` if what is watched from is too old, or there are no such objects any more.
   */
  async watch(
    path: string,
    onLine: (line: string) => 'on' | 'stop',
    signal: AbortSignal,
    about?: KubeRequest['about'],
  ): Promise<'ended' | 'gone'> {
    const ended = await new Promise<WatchEnd>((resolve) => {
      const handler = new WatchHandler(onLine, resolve, signal);
      this.#pool().dispatch(
        { method: 'GET', path, headers: this.#headers(), headersTimeout: 30_000, bodyTimeout: 0 },
        handler,
      );
    });
    if (ended.kind === 'ended' || signal.aborted) return 'ended';
    if (ended.kind === 'status' && [404, 410].includes(ended.status)) return 'gone';
    throw ended.kind === 'status'
      ? statusError({ ...this.#asked, ...about }, 'GET', ended.status)
      : unreached(this.#asked.code, false, ended.cause);
  }

  async close(): Promise<void> {
    await this.#network?.pool.destroy();
  }

  #done(answer: Extract<WireAnswer, { kind: 'reply' }>): KubeAnswer {
    if (answer.body instanceof Uint8Array) {
      try {
        return { kind: 'done', value: JSON.parse(Buffer.from(answer.body).toString('utf8')) };
      } catch {
        // What is no JSON is none of an API server.
      }
    }
    throw this.notApi();
  }

  /** That there are no such objects. */
  notOffered(): SetpointError {
    return statusError(this.#asked, 'GET', 404);
  }

  /** That something else answers. */
  notApi(): SetpointError {
    const message = 'What answers at the address of the API server is none.';
    const hint = 'Check KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.';
    return new SetpointError(this.#asked.code, message, { hint });
  }

  #error(answer: WireAnswer, { method, about }: KubeRequest): SetpointError {
    if (answer.kind === 'reply')
      return statusError({ ...this.#asked, ...about }, method, answer.status);
    return faultError(this.#asked.code, answer.fault);
  }

  #headers(): Record<string, string> {
    return {
      accept: 'application/json',
      authorization: `Bearer ${this.#file('token').trim()}`,
      'user-agent': `setpoint/${VERSION}`,
    };
  }

  async #send(
    { method, path, body, contentType = 'application/json' }: KubeRequest,
    total: number,
  ): Promise<WireAnswer> {
    return exchange(this.#pool(), this.#cluster.origin, {
      method,
      path,
      headers: {
        ...this.#headers(),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      deadlines: { connect: total, headers: total, total },
      largestBody: LARGEST_ANSWER,
      signal: undefined,
      // Without its body, an answer costs a connection: those that are usual are read.
      wantsBody: (status) => (status >= 200 && status < 300) || status === 404 || status === 409,
      onSent: () => {},
    });
  }

  #pool(): Pool {
    const ca = this.#file('ca.crt');
    if (this.#network?.ca !== ca) {
      void this.#network?.pool.close();
      const connect = { ca, rejectUnauthorized: true, timeout: 4_000 };
      // Without a limit of its own undici asks node:http for one, which the command leaves out.
      const options = { connect, connections: 8, maxHeaderSize: 16_384 };
      this.#network = { ca, pool: new Pool(this.#cluster.origin, options) };
    }
    return this.#network.pool;
  }

  #file(name: string): string {
    const path = join(this.#cluster.folder, name);
    try {
      const read = readText(path, LARGEST_FILE);
      if ('text' in read) return read.text;
      throw new SetpointError('file-unreadable', `${path} is not a text.`);
    } catch (thrown) {
      throw new SetpointError(
        this.#asked.code,
        `The service account cannot be used: ${path} cannot be read.`,
        {
          hint: 'Let the pod mount the token of its service account (automountServiceAccountToken).',
          cause: thrown,
        },
      );
    }
  }
}

type WatchEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'fault'; readonly cause: Error };

/** Cuts the answer to a watch into lines. One that is silent for long has lost its connection, and one line has a limit. */
class WatchHandler implements Dispatcher.DispatchHandler {
  readonly #onLine: (line: string) => 'on' | 'stop';
  readonly #resolve: (end: WatchEnd) => void;
  readonly #signal: AbortSignal;
  readonly #decoder = new TextDecoder();
  #controller: Dispatcher.DispatchController | undefined;
  #silence: NodeJS.Timeout;
  #rest = '';
  #over = false;

  constructor(
    onLine: (line: string) => 'on' | 'stop',
    resolve: (end: WatchEnd) => void,
    signal: AbortSignal,
  ) {
    this.#onLine = onLine;
    this.#resolve = resolve;
    this.#signal = signal;
    this.#silence = this.#wait();
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over || this.#signal.aborted) controller.abort(new Error('given up'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    if (status >= 300) this.#end({ kind: 'status', status });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    clearTimeout(this.#silence);
    this.#silence = this.#wait();
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LONGEST_LINE) {
      this.#end({ kind: 'fault', cause: new Error('A line of the watch is too long.') });
      return;
    }
    for (const line of lines) if (line !== '' && !this.#over) this.#take(line);
  }

  onResponseEnd(): void {
    this.#end({ kind: 'ended' });
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: unknown): void {
    this.#end({ kind: 'fault', cause: withoutText(error) });
  }

  #take(line: string): void {
    try {
      if (this.#onLine(line) === 'stop') this.#end({ kind: 'ended' });
    } catch (thrown) {
      this.#end({ kind: 'fault', cause: withoutText(thrown) });
    }
  }

  #wait(): NodeJS.Timeout {
    const silent = new Error('The watch was silent.');
    return setTimeout(() => this.#end({ kind: 'fault', cause: silent }), LONGEST_SILENCE);
  }

  readonly #onAbort = (): void => this.#end({ kind: 'ended' });

  #end(end: WatchEnd): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#silence);
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#resolve(end);
    this.#controller?.abort(new Error('given up'));
  }
}

/** Milliseconds until a request is sent again; null if that would not help. */
function pauseOf(answer: WireAnswer, retryAfter: string | undefined, tries: number): number | null {
  const usual = 100 * 2 ** tries;
  if (answer.kind === 'fault') return answer.fault.kind === 'tls' ? null : usual;
  const { status } = answer;
  // A token that has just been replaced is read anew.
  if (status === 401) return tries === 1 ? usual : null;
  if (status !== 429 && status !== 410 && status < 500) return null;
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(usual, seconds * 1000) : usual;
}

/** The error of a status. What the answer says besides is not repeated. */
function statusError(
  { code, purpose, what, namespace, rule, offered }: Purpose,
  method: Method,
  status: number,
): SetpointError {
  const because = ` (${status}).`;
  const where = namespace === null ? 'all namespaces' : `the namespace ${namespace}`;
  const failed = (message: string, hint: string): SetpointError =>
    new SetpointError(code, message, { hint });
  switch (status) {
    case 401:
      return failed(
        `The API server refuses the token of this service account${because}`,
        'Check that the service account exists, and that the pod mounts its token.',
      );
    case 403:
      return new KubeForbidden(
        code,
        `The API server does not let this service account ${VERBS[method] ?? 'use'} ${what} in ${where}${because}`,
        { hint: rule },
      );
    case 404:
      return failed(
        namespace === null
          ? `The API server has no ${what}${because}`
          : `The API server has no namespace ${namespace}, or no ${what} in it${because}`,
        offered,
      );
    case 429:
      return failed(
        `The API server refuses requests because there are too many${because}`,
        'Watch fewer environments with one controller, or more seldom.',
      );
    default:
      return failed(
        `The API server cannot ${purpose}${because}`,
        'Check the API server; nothing is written without a lock.',
      );
  }
}

const VERBS: Partial<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function faultError(code: ErrorCode, fault: WireFault): SetpointError {
  if (fault.kind !== 'tls') return unreached(code, fault.kind === 'timeout', fault.cause);
  return new SetpointError(code, 'The certificate of the API server cannot be trusted.', {
    hint: 'ca.crt beside the token must be the authority of the cluster.',
    cause: fault.cause,
  });
}

function unreached(code: ErrorCode, isLate: boolean, cause: Error | undefined): SetpointError {
  const message = isLate
    ? 'The API server did not answer in time.'
    : 'The API server cannot be reached.';
  return new SetpointError(code, message, {
    hint: 'Check that the network policy lets this pod reach the API server.',
    cause,
  });
}
