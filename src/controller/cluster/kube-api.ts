import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'undici';
import { SetpointError, type ErrorCode } from '../../reconciler/model/error.ts';
import type { Clock, Variables } from '../../reconciler/model/ports.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import { readOptional, readText } from '../../reconciler/host/read-text.ts';
import {
  exchange,
  readHeader,
  type Method,
  type WireAnswer,
} from '../../reconciler/service/exchange.ts';
import type { WireFault } from '../../reconciler/service/fault-error.ts';
import { readStream, type StreamEnd } from './kube-stream.ts';
import { ObjectStream, type RawObject } from './object-stream.ts';

/** The address of the API server of the cluster that this process runs in, and the folder with the token of its service account. */
export interface Cluster {
  readonly origin: string;
  readonly folder: string;
  readonly namespace: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const LARGEST_FILE = 1024 * 1024;
/** One object: etcd accepts 1.5 MiB, and JSON may be six times as large. */
const LARGEST_ANSWER = 10 * 1024 * 1024;
/** Milliseconds for a page of a list: with all its tries, and without a byte of it. */
const WITHIN = 30_000;
/** The longest silence of a watch, in milliseconds: the API server sends a bookmark about once a minute. */
const LONGEST_SILENCE = 180_000;

/** Null if this process does not run in a cluster, or its pod mounts no token. */
export function detectCluster(variables: Variables): Cluster | null {
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
  /** The type of the body. Default: application/json. */
  readonly contentType?: string;
  /** Milliseconds for the request with all its tries. */
  readonly within: number;
  /** The members of the purpose that differ for this request: errors name it. */
  readonly about?: Partial<Omit<Purpose, 'code' | 'offered'>>;
}

export type KubeAnswer =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'conflict' | 'none' };

interface Page {
  readonly kind: 'page';
  readonly resourceVersion: string;
  /** The beginning of the next page; null if this is the last one. */
  readonly next: string | null;
}

/** `none`: there are no such objects. */
export type ListAnswer = Page | { readonly kind: 'gone' } | { readonly kind: 'none' };

interface ListText {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly unknown[];
}

interface Reading {
  /** Bytes that are read of a member of an object; above that it has no text. */
  readonly most: (member: string) => number;
  readonly signal: AbortSignal;
}

export interface ListReading extends Reading {
  readonly onObject: (object: RawObject) => void;
}

export interface WatchReading extends Reading {
  readonly onEvent: (type: string, object: RawObject) => 'on' | 'stop';
}

/** The purpose of a request to the API server, as its errors name it. */
export interface Purpose {
  readonly code: ErrorCode;
  /** The task as a phrase: `keep the locks`. */
  readonly purpose: string;
  /** Objects, in the plural: `leases`. */
  readonly what: string;
  /** Null is all of them. */
  readonly namespace: string | null;
  /** The remedy if the service account lacks permission. */
  readonly rule: string;
  /** The remedy if the cluster has no such objects. */
  readonly offered: string;
}

/** This service account may not do that (403): it is the same the next time. */
export class KubeForbidden extends SetpointError {}

/**
 * One API server, as the service account of this process may use it. Its token and its authority are read again for each request: both are
 * replaced.
 */
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
        if (answer.status === 404 && method !== 'POST') return { kind: 'none' };
        if (answer.status >= 200 && answer.status < 300) return this.#done(answer);
      }
      const pause = computeKubePause(answer, tries);
      if (pause === null || this.#clock.monotonic() + pause >= until)
        throw this.#error(answer, request);
      await this.#clock.sleep(pause);
    }
  }

  /** Reads one page of a list, object by object: none is in memory after it was handed on. An object may come again if the request is sent again. */
  async list(
    { path, ...about }: Pick<KubeRequest, 'about' | 'path'>,
    reading: ListReading,
  ): Promise<ListAnswer> {
    const until = this.#clock.monotonic() + WITHIN;
    for (let tries = 1; ; tries += 1) {
      const end = await this.#page(path, reading);
      if (end.kind === 'page') return end;
      if (end.kind === 'ended' && reading.signal.aborted) return { kind: 'none' };
      if (end.kind === 'ended' || end.kind === 'invalid') throw this.notApi();
      if (end.kind === 'reply' && end.status === 410) return { kind: 'gone' };
      if (end.kind === 'reply' && end.status === 404) return { kind: 'none' };
      const pause = computeKubePause(end, tries);
      if (pause === null || this.#clock.monotonic() + pause >= until)
        throw this.#error(end, { method: 'GET', ...about });
      await this.#clock.sleep(pause);
    }
  }

  async #page(path: string, { onObject, most, signal }: ListReading): Promise<Page | StreamEnd> {
    const pages: Page[] = [];
    const stream = new ObjectStream({
      depth: 2,
      most,
      onObject,
      onAnswer: (text) => {
        const { metadata, items } = JSON.parse(text) as Partial<ListText>;
        if (!Array.isArray(items) || metadata?.resourceVersion === undefined) return;
        const { resourceVersion, continue: next = '' } = metadata;
        pages.push({ kind: 'page', resourceVersion, next: next === '' ? null : next });
      },
    });
    const onChunk = (chunk: Uint8Array): 'on' => {
      stream.push(chunk);
      return 'on';
    };
    const request = { path, headers: this.#headers() };
    const end = await readStream(this.#pool(), request, { onChunk, signal, silence: WITHIN });
    return end.kind === 'ended' ? (pages[0] ?? end) : end;
  }

  /**
   * Hands on each event of a watch until the API server ends it, an event stops it, or the signal aborts. Throws a SetpointError if it does not begin, and if it
   * breaks off; `gone` if what is watched from is too old, or there are no such objects any more.
   */
  async watch(
    { path, ...about }: Pick<KubeRequest, 'about' | 'path'>,
    { onEvent, most, signal }: WatchReading,
  ): Promise<'ended' | 'gone'> {
    let object: RawObject | null = null;
    let next: 'on' | 'stop' = 'on';
    const stream = new ObjectStream({
      depth: 1,
      most,
      onObject: (one) => {
        object = one;
      },
      onAnswer: (text) => {
        const { type = '' } = JSON.parse(text) as { readonly type?: string };
        if (object !== null && next === 'on') next = onEvent(type, object);
        object = null;
      },
    });
    const onChunk = (chunk: Uint8Array): 'on' | 'stop' => {
      stream.push(chunk);
      return next;
    };
    const request = { path, headers: this.#headers() };
    const options = { onChunk, signal, silence: LONGEST_SILENCE };
    const end = await readStream(this.#pool(), request, options);
    if (end.kind === 'ended' || signal.aborted) return 'ended';
    if (end.kind === 'reply' && [404, 410].includes(end.status)) return 'gone';
    throw end.kind === 'invalid' ? this.notApi() : this.#error(end, { method: 'GET', ...about });
  }

  async close(): Promise<void> {
    await this.#network?.pool.destroy();
  }

  #done(answer: Extract<WireAnswer, { kind: 'reply' }>): KubeAnswer {
    if (answer.body instanceof Uint8Array) {
      try {
        return { kind: 'done', value: JSON.parse(Buffer.from(answer.body).toString('utf8')) };
      } catch {
        // An API server answers JSON only.
      }
    }
    throw this.notApi();
  }

  /** States that there are no such objects. */
  notOffered(): SetpointError {
    return createKubeStatusError(this.#asked, 'GET', 404);
  }

  /** States that something else answers. */
  notApi(): SetpointError {
    const message = 'The server at the address of the API server is not a Kubernetes API server.';
    const hint = 'Check KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.';
    return new SetpointError(this.#asked.code, message, { hint });
  }

  #error(
    answer: WireAnswer,
    { method, about }: Pick<KubeRequest, 'about' | 'method'>,
  ): SetpointError {
    if (answer.kind === 'reply')
      return createKubeStatusError({ ...this.#asked, ...about }, method, answer.status);
    return createKubeFaultError(this.#asked.code, answer.fault);
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
      const options = { connect, connections: 16, maxHeaderSize: 16_384 };
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

/** Milliseconds until a request is sent again; null if that would not help. */
function computeKubePause(answer: WireAnswer, tries: number): number | null {
  const usual = 100 * 2 ** tries;
  if (answer.kind === 'fault') return answer.fault.kind === 'tls' ? null : usual;
  const { status, headers } = answer;
  // A token that has just been replaced is read again.
  if (status === 401) return tries === 1 ? usual : null;
  if (status !== 429 && status !== 410 && status < 500) return null;
  const seconds = Number(readHeader(headers, 'retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(usual, seconds * 1000) : usual;
}

/** The error of a status. Other parts of the answer are not repeated. */
function createKubeStatusError(
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

function createKubeFaultError(code: ErrorCode, fault: WireFault): SetpointError {
  if (fault.kind !== 'tls')
    return createUnreachedProblem(code, fault.kind === 'timeout', fault.cause);
  return new SetpointError(code, 'The certificate of the API server cannot be trusted.', {
    hint: 'ca.crt next to the token must be the certificate authority of the cluster.',
    cause: fault.cause,
  });
}

function createUnreachedProblem(
  code: ErrorCode,
  isLate: boolean,
  cause: Error | undefined,
): SetpointError {
  const message = isLate
    ? 'The API server did not answer in time.'
    : 'The API server cannot be reached.';
  return new SetpointError(code, message, {
    hint: 'Check that the network policy lets this pod reach the API server.',
    cause,
  });
}
