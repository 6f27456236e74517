import { parseUrlCached, isReservedHeader } from '../model/address.ts';
import type { Dispatcher } from '../model/dispatcher.ts';
import { SetpointError } from '../model/error.ts';
import type { Clock } from '../model/ports.ts';
import type { Secret } from '../model/secret.ts';
import { Slots } from '../model/slots.ts';
import type { ServerSettings } from '../model/state.ts';
import { cachedFor } from './answerer.ts';
import { exchange, type Method, type Reply, type WireAnswer } from './exchange.ts';
import type { IdentityUse } from './fault-error.ts';
import {
  type ClientIdentity,
  notCertificates,
  selectProxy,
  type KnownOrganization,
  Networks,
  type Turns,
} from './network.ts';

/**
 * The options of a connection.
 * - `timeout`: milliseconds that one request may take, in total.
 * - `ca`: PEM text of additional certificate authorities to trust.
 * - `identity`: the client certificate, for a server that asks for one.
 * - `proxy`: the values of HTTPS_PROXY and NO_PROXY; loopback never goes through a proxy.
 * - `networks`: the part that the connections of a run share. Default: networks of its own.
 * - `dispatcher`: replaces the network; it is not closed with the connection.
 * - `random`: from 0 to 1, for the spread of waits. Default: Math.random.
 */
export interface ConnectOptions {
  readonly timeout: number;
  readonly ca?: string | null;
  readonly identity?: ClientIdentity | null;
  readonly proxy?: { readonly url: string | null; readonly bypass: string | null };
  readonly networks?: Networks;
  readonly dispatcher?: Dispatcher;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly random?: () => number;
  /** True if reads determine for every secret whether it is stored, even with one more request. Default: false. */
  readonly asksSecrets?: boolean;
}

interface RequestCounts {
  readonly get: number;
  readonly post: number;
}

interface ConnectionRequest {
  readonly method: Method;
  /** From the root of the service; the path prefix of its address is prepended. */
  readonly path: string;
  readonly body: string | null;
  /** Headers of this request alone, in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds; the phases of the request also have limits of their own. */
  readonly timeout: number;
  /** Milliseconds until an answer begins. Default: 10,000. */
  readonly headersTimeout?: number;
  /** Bytes of an answer. Default: 1 MiB. */
  readonly largestBody?: number;
  readonly signal?: AbortSignal | undefined;
  readonly wantsBody: (status: number) => boolean;
}

/** One service as it can be reached. `origin` is what may be shown of its address; `requests` counts what was sent. */
export interface Connection {
  readonly origin: string;
  readonly requests: RequestCounts;
  close(): Promise<void>;

  /** To the automation service, where it has another address. */
  readonly beside?: Connection;
  /** For the rest of this folder. */
  readonly base: Readonly<URL>;
  readonly clock: Clock;
  /** The greatest age of the answers that caches gave since it was set to null, in seconds; null if none did. */
  readonly caches: { age: number | null };
  /** The status with which the last read was refused for now, such as 429; null if it was answered. */
  readonly refusal: { status: number | null };
  readonly timeout: number;
  readonly sendsKey: boolean;
  /** The dialect of the service, if the file declares it. */
  readonly dialect: ServerSettings['dialect'];
  /** True if reads determine for every secret whether it is stored. */
  readonly asksSecrets: boolean;
  /** True if there may be a proxy in between. */
  readonly proxied: boolean;
  /** Sent with every request, and never shown. */
  readonly secrets: readonly Secret[];
  readonly random: () => number;
  /** The turns at which requests may be sent, if the service limits them. */
  readonly turns: Pick<Turns, 'read' | 'write'>;
  /** Limits how many reads are under way at once. */
  readonly slots: Slots;
  /** The organisations that a run has requested. */
  readonly organizations: KnownOrganization[];
  /** A request in messages: method, and the visible part of the address. */
  place(method: Method, path: string): string;
  send(request: ConnectionRequest): Promise<WireAnswer>;
}

/** The reads of one environment that are under way at once, as many as browsers have with one host. */
export const READS_AT_ONCE = 6;
const CONNECT_MS = 5_000;
const HEADERS_MS = 10_000;
const LARGEST_BODY = 1_048_576;
/** The time for an environment, in requests, and how long a service may refuse all of them. */
export const TARGET_REQUESTS = 4;
const LONGEST_TIMER = 2_147_483_647;

/**
 * Prepares requests to a service; sends nothing. Throws a SetpointError if an address, a header or a certificate authority
 * cannot be used.
 */
export function connect(server: ServerSettings, options: ConnectOptions): Connection {
  const { automation, ...own } = server;
  const connection = connectTo(own, options);
  if (automation === undefined) return connection;
  const { requests } = connection;
  const beside = connectTo({ ...own, ...automation }, options, requests);
  return {
    ...connection,
    beside,
    async close() {
      await beside.close();
      await connection.close();
    },
  };
}

/** The path of an automation service: it has none in common with an Agent Server. */
export const AUTOMATION_PATH = '/api/automation';

/** Returns the connection for a path: to the automation service, where it has another address. */
export function connectionFor(connection: Connection, path: string): Connection {
  const isBeside = path === AUTOMATION_PATH || path.startsWith(`${AUTOMATION_PATH}/`);
  return isBeside ? (connection.beside ?? connection) : connection;
}

function connectTo(
  server: ServerSettings,
  options: ConnectOptions,
  requests: { get: number; post: number } = { get: 0, post: 0 },
): Connection {
  const base = baseAddress(server);
  const headers = requestHeaders(server, options.userAgent);
  const { ca = null } = options;
  if (ca !== null && !ca.includes('-----BEGIN CERTIFICATE-----')) throw notCertificates();
  const prefix = base.pathname.replace(/\/+$/, '');
  const shownPrefix = server.origin === base.origin ? prefix : '';
  const timeout = Math.min(options.timeout, LONGEST_TIMER);
  const caches: Connection['caches'] = { age: null };
  const refusal: Connection['refusal'] = { status: null };
  const { networks = new Networks() } = options;
  const network = chooseNetwork(base, options, networks, Math.min(CONNECT_MS, timeout));
  const { clock, random = Math.random } = options;
  const patience = TARGET_REQUESTS * timeout;
  const turns = networks.paces.open(base.origin, { clock, random, patience });
  return {
    origin: server.origin,
    requests,
    turns,
    slots: new Slots(READS_AT_ONCE),
    organizations: networks.organizations,
    base,
    clock,
    caches,
    refusal,
    timeout,
    proxied: findProxy(base, options) !== null,
    sendsKey: sendsKey(server),
    dialect: server.dialect,
    secrets: [...(server.apiKey === null ? [] : [server.apiKey]), ...server.headers.values()],
    random,
    asksSecrets: options.asksSecrets === true,
    place: (method, path) => `${method} ${server.origin}${shownPrefix}${path}`,
    async send(request) {
      const { method } = request;
      const dispatcher = await network.dispatcher();
      const answered = turns.sent();
      const answer = await exchange(dispatcher, base.origin, {
        ...toExchange(request, prefix, headers),
        onSent() {
          requests[method === 'GET' ? 'get' : 'post'] += 1;
        },
      });
      answered(answer);
      if (method === 'GET' && answer.kind === 'reply') noteRead(answer, caches, refusal);
      networks.onExchange?.(method, answer.kind === 'reply' ? answer.status : null);
      return answer.kind === 'fault'
        ? { ...answer, fault: { ...answer.fault, identity: describeIdentity(options, network) } }
        : withSharedBody(answer, networks);
    },
    async close() {
      await network.release();
      if (options.networks === undefined) await networks.close();
    },
  };
}

function withSharedBody(reply: Reply, { bodies }: Networks): Reply {
  return reply.body instanceof Uint8Array ? { ...reply, body: bodies.same(reply.body) } : reply;
}

function describeIdentity(
  { identity = null, clock }: ConnectOptions,
  network: { asksIdentity(): boolean },
): IdentityUse {
  if (identity === null) return network.asksIdentity() ? 'missing' : 'none';
  return identity.expires < clock.now() ? 'expired' : 'sent';
}

function noteRead(
  reply: Reply,
  caches: Connection['caches'],
  refusal: Connection['refusal'],
): void {
  refusal.status = reply.status === 429 || reply.status >= 500 ? reply.status : null;
  const age = cachedFor(reply);
  if (age !== null) caches.age = Math.max(age, caches.age ?? 0);
}

function findProxy(base: Readonly<URL>, { proxy }: ConnectOptions): string | null {
  return proxy === undefined ? null : selectProxy(base, proxy);
}

/** The network of a connection: one of the networks that a run shares, or the dispatcher that replaces it. */
function chooseNetwork(
  base: Readonly<URL>,
  options: ConnectOptions,
  networks: Networks,
  connectTimeout: number,
): {
  readonly dispatcher: () => Promise<Dispatcher>;
  readonly asksIdentity: () => boolean;
  readonly release: () => Promise<void>;
} {
  const { ca = null, identity = null, dispatcher } = options;
  if (dispatcher !== undefined)
    return {
      dispatcher: () => Promise.resolve(dispatcher),
      asksIdentity: () => false,
      release: () => Promise.resolve(),
    };
  const proxy = findProxy(base, options);
  const bypass = options.proxy?.bypass ?? null;
  return networks.use({ base, ca, identity, proxy, bypass, connectTimeout });
}

function toExchange(
  { method, path, body, signal, wantsBody, ...request }: ConnectionRequest,
  prefix: string,
  headers: Readonly<Record<string, string>>,
) {
  return {
    method,
    path: `${prefix}${path}`,
    headers: {
      ...headers,
      ...request.headers,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    body,
    deadlines: {
      connect: Math.min(CONNECT_MS, request.timeout),
      headers: Math.min(request.headersTimeout ?? HEADERS_MS, request.timeout),
      total: request.timeout,
    },
    largestBody: request.largestBody ?? LARGEST_BODY,
    signal,
    wantsBody,
  };
}

function baseAddress(server: ServerSettings): Readonly<URL> {
  const base = URL.canParse(server.url) ? parseUrlCached(server.url) : null;
  if (base !== null && (base.protocol === 'https:' || base.protocol === 'http:')) return base;
  throw new SetpointError('usage', `${server.origin} is not an http or https address.`);
}

/**
 * The headers of every request, by lower-case name. Each value is checked before anything else sees it, since libraries
 * quote what they refuse. What server.headers names wins over what setpoint would send.
 */
export function requestHeaders(
  server: ServerSettings,
  userAgent: string,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };
  if (server.apiKey !== null) {
    const key = headerValue(server.apiKey, 'server.api_key');
    if (server.auth !== 'bearer') headers['x-session-api-key'] = key;
    if (server.auth !== 'session-key') headers['authorization'] = `Bearer ${key}`;
  }
  for (const [name, secret] of server.headers) {
    const value = headerValue(secret, `server.headers.${name}`);
    const lower = name.toLowerCase();
    if (isReservedHeader(lower) || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) {
      throw new SetpointError('settings-invalid', `server.headers must not contain "${name}".`, {
        hint: 'Remove it; setpoint sets what a request needs to be sent.',
      });
    }
    headers[lower] = value;
  }
  return headers;
}

/** Reports whether anything is sent that a service could take for a key. */
export function sendsKey(server: ServerSettings): boolean {
  const names = [...server.headers.keys()].map((name) => name.toLowerCase());
  return (
    server.apiKey !== null || names.includes('authorization') || names.includes('x-session-api-key')
  );
}

function headerValue(secret: Secret, path: string): string {
  const value = String(secret.reveal());
  if (/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value)) return value;
  const ref = secret.ref === null ? '' : ` (${secret.ref})`;
  throw new SetpointError(
    'reference-missing',
    `The value of ${path}${ref} has a character that no header can carry, such as a line break.`,
    { hint: 'Set it again, without line breaks around or inside it.' },
  );
}
