import type * as Tls from 'node:tls';
import { buildConnector, Client, Pool } from 'undici';
import type { DispatchedRequest, Dispatcher, DispatchHandler } from '../model/dispatcher.ts';
import { SetpointError } from '../model/error.ts';
import { isLoopbackHost } from '../model/address.ts';
import { withoutText } from './fault-error.ts';
import { readHeader, type Method, type WireAnswer } from './exchange.ts';
import type { Organization } from '../model/state.ts';
import type { Clock, Variables } from '../model/ports.ts';
import type { Secret } from '../model/secret.ts';
import { type RequestNotSentError, type Refusal, retryAfter } from './service-error.ts';
import { Pace, type Waiting } from './pace.ts';
import { ServerWrites } from './server-writes.ts';

/** Sends requests until it is destroyed. */
export type Sender = Dispatcher & {
  readonly destroy: (reason: Error) => Promise<void>;
  readonly asksIdentity?: boolean;
};

/** A client certificate with its chain, and its private key, as PEM text. `expires` is a time in milliseconds. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
  readonly expires: number;
}

interface NetworkSettings {
  readonly base: URL;
  /** PEM text to trust in addition to what Node trusts. */
  readonly ca: string | null;
  readonly identity: ClientIdentity | null;
  readonly proxy: string | null;
  readonly bypass: string | null;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const LARGEST_HEADERS = 16_384;

/**
 * The network to one service. Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED is, except on loopback.
 * The proxy carries https: alone, as a tunnel: it sees the host, and no header.
 */
export async function openNetwork(settings: NetworkSettings): Promise<Sender> {
  const local = isLoopbackHost(settings.base.hostname);
  const { ca, identity } = settings;
  const base = { timeout: settings.connectTimeout, ...(local ? {} : { rejectUnauthorized: true }) };
  const tls = { ...base, ...(await secureContext(ca, identity)) };
  const limits = { maxHeaderSize: LARGEST_HEADERS };
  if (settings.proxy === null || !mayProxy(settings.base))
    return new Connections(settings.base.origin, limits, tls);
  const { proxyAgent } = await import('./proxy.ts');
  return proxyAgent({
    ...limits,
    httpProxy: '',
    httpsProxy: settings.proxy,
    noProxy: settings.bypass ?? '',
    requestTls: tls,
    // The client certificate is for the service alone.
    proxyTls: { ...base, ...(await secureContext(ca, null)) },
  });
}

/** Reports whether a service may be reached through a proxy. */
export function mayProxy(base: URL): boolean {
  return base.protocol === 'https:' && !isLoopbackHost(base.hostname);
}

/** The proxy that the variables name, and what bypasses it; null if they name none. */
export interface ProxyVariables {
  readonly url: string | null;
  readonly bypass: string | null;
}

/** Reads HTTPS_PROXY, or ALL_PROXY without it, and NO_PROXY; each in lower case too, as curl does. */
export function readProxyVariables(env: Variables): ProxyVariables {
  const read = (name: string): string | null => env[name] ?? env[name.toLowerCase()] ?? null;
  return { url: read('HTTPS_PROXY') ?? read('ALL_PROXY'), bypass: read('NO_PROXY') };
}

/** Returns the address of the proxy for a service; null if it is reached directly. Throws a usage error if the variable has none. */
export function selectProxy(base: URL, { url, bypass }: ProxyVariables): string | null {
  return mayProxy(base) && !isBypassed(base, bypass ?? '') ? proxyAddress(url) : null;
}

/** The address of a proxy as a URL; a bare `host:port` is http. Null if there is none. */
function proxyAddress(text: string | null): string | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') return null;
  const address = trimmed.includes('://') ? trimmed : `http://${trimmed}`;
  if (/^https?:$/.test(URL.canParse(address) ? new URL(address).protocol : '')) {
    return address;
  }
  const isSocks = /^socks/i.test(address);
  throw new SetpointError(
    'usage',
    isSocks
      ? 'HTTPS_PROXY or ALL_PROXY names a SOCKS proxy, which setpoint cannot use.'
      : 'HTTPS_PROXY or ALL_PROXY is not the address of a proxy, such as http://proxy.example:3128.',
    {
      hint: isSocks
        ? 'Set HTTPS_PROXY to an http: proxy, or name the host in NO_PROXY to reach it directly.'
        : 'Correct the variable, or unset it.',
    },
  );
}

/** Without an authority or identity, the defaults of Node apply. */
async function secureContext(
  ca: string | null,
  identity: ClientIdentity | null,
): Promise<{ readonly secureContext?: Tls.SecureContext }> {
  if (ca === null && identity === null) return {};
  const { createSecureContext } = await import('node:tls');
  const { X509Certificate } = await import('node:crypto');
  try {
    const { cert, key } = identity ?? {};
    // The option `ca` would replace what Node trusts: built in, of the system, and of NODE_EXTRA_CA_CERTS.
    const context = createSecureContext({ cert, key });
    for (const [text] of ca?.matchAll(CERTIFICATE) ?? []) {
      void new X509Certificate(text);
      (context.context as { addCACert(pem: string): void }).addCACert(text);
    }
    return { secureContext: context };
  } catch (thrown) {
    throw notCertificates(withoutText(thrown));
  }
}

export function notCertificates(cause?: Error): SetpointError {
  return new SetpointError(
    'file-unreadable',
    'server.ca_file contains no certificates in PEM form.',
    {
      hint: 'Give the file of the authority itself: text with BEGIN CERTIFICATE lines.',
      cause,
    },
  );
}

/**
 * The use of the proxy of HTTPS_PROXY for a service: `none` is set; only `https` to other machines is sent through one; NO_PROXY names the
 * host (`bypassed`); or it is `used`, and `via` is its host, without possible secrets in it.
 */
type ProxyUse =
  | { readonly kind: 'none' | 'not-https' | 'bypassed' }
  | { readonly kind: 'used'; readonly via: string };

/** Throws a usage error if HTTPS_PROXY is not an address. */
export function proxyUse(base: URL, proxy: string | null, bypass: string | null): ProxyUse {
  const address = proxyAddress(proxy);
  if (address === null) return { kind: 'none' };
  if (!mayProxy(base)) return { kind: 'not-https' };
  if (isBypassed(base, bypass ?? '')) return { kind: 'bypassed' };
  return { kind: 'used', via: new URL(address).host };
}

/** As undici reads NO_PROXY: `*`, or hosts with what lies under them, separated by commas or blanks, each with a port or without. */
function isBypassed(base: URL, bypass: string): boolean {
  if (bypass === '*') return true;
  const port = base.port === '' ? 443 : Number(base.port);
  return bypass
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
      const name = host.replace(/^\*?\./, '').toLowerCase();
      const named = base.hostname === name || base.hostname.endsWith(`.${name}`);
      return named && (only === undefined || Number(only) === 0 || Number(only) === port);
    });
}

/**
 * The connections to one origin. Most origins of a run are asked one thing at a time, and a client for that takes undici half of the
 * work of a pool. What is sent while that is busy goes to a pool: no request waits for another one's answer.
 */
class Connections {
  readonly #first: Client;
  readonly #more: () => Pool;
  #pool: Pool | null = null;
  /** True once the server has asked for a client certificate. */
  asksIdentity = false;

  constructor(origin: string, limits: Client.Options, tls: buildConnector.BuildOptions) {
    const connector = buildConnector(tls);
    const connect: buildConnector.connector = (target, callback) =>
      connector(target, (...connected) => {
        const [, socket] = connected;
        // A server sends its signature algorithms only if it asks for a certificate.
        const asked: unknown = (socket as Partial<Tls.TLSSocket> | undefined)?.getSharedSigalgs?.();
        this.asksIdentity ||= Array.isArray(asked) && asked.length > 0;
        callback(...connected);
      });
    this.#first = new Client(origin, { ...limits, connect });
    this.#more = () => new Pool(origin, { ...limits, connect });
  }

  dispatch(options: DispatchedRequest, handler: DispatchHandler): boolean {
    if (this.#first.stats.size === 0) return this.#first.dispatch(options, handler);
    this.#pool ??= this.#more();
    return this.#pool.dispatch(options, handler);
  }

  async destroy(reason: Error): Promise<void> {
    await Promise.all([this.#first.destroy(reason), this.#pool?.destroy(reason)]);
  }
}

/** The network to one origin while a connection uses it. */
export interface Network {
  readonly dispatcher: () => Promise<Sender>;
  /** Reports whether the server has asked for a client certificate, as far as it is known. */
  readonly asksIdentity: () => boolean;
  /** Ends the use. The sockets are closed once they are unused. */
  readonly release: () => Promise<void>;
}

interface Open {
  readonly key: string;
  readonly opening: Promise<Sender>;
  users: number;
}

/** The known or pending organisation for an address and the credentials sent to it. */
export interface KnownOrganization {
  readonly address: string;
  readonly secrets: readonly Secret[];
  /** The time of the request, on the monotonic clock. */
  readonly at: number;
  readonly asked: Promise<Organization | null>;
}

/** Receives the method of a request and the status of its answer; null if none came. */
export type OnExchange = (method: Method, status: number | null) => void;

/**
 * The networks of one run. Connections to the same origin with the same authorities and proxy share one, so that sockets are reused. An
 * unused one stays open until another is opened, because the next environment often has the same origin.
 */
export class Networks {
  /** Receives every exchange with a service, whatever its result. */
  readonly onExchange: OnExchange | undefined;
  readonly paces = new Paces();
  readonly writes = new ServerWrites();
  readonly bodies = new RecentBodies();
  /** The requested organisations. */
  readonly organizations: KnownOrganization[] = [];
  readonly #open = new Map<string, Open>();
  #idle: Open | null = null;

  constructor(onExchange?: OnExchange) {
    this.onExchange = onExchange;
  }

  use(settings: NetworkSettings): Network {
    let used: Open | null = null;
    let sender: Sender | null = null;
    return {
      dispatcher: async () => {
        used ??= this.#take(settings);
        sender = await used.opening;
        return sender;
      },
      asksIdentity: () => sender?.asksIdentity === true,
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
    const key = networkKey(settings);
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

function networkKey({
  base,
  ca,
  identity,
  proxy,
  bypass,
  connectTimeout,
}: NetworkSettings): string {
  return JSON.stringify([base.origin, ca, identity, proxy, bypass, connectTimeout]);
}

/** The number of stored bodies, and bytes of the largest one. */
const MOST = 8;
const LARGEST = 64 * 1024;

/**
 * The bodies that a run was answered lately. Services of a fleet often answer alike: a body with the same bytes is the same object, so
 * that what is made of it (see onceFor) is made once.
 */
export class RecentBodies {
  readonly #bodies: Uint8Array[] = [];
  #next = 0;

  same(body: Uint8Array): Uint8Array {
    const known = this.#bodies.find((one) => hasEqualBytes(one, body));
    if (known !== undefined) return known;
    if (body.length <= LARGEST) this.#bodies[this.#next++ % MOST] = body;
    return body;
  }
}

function hasEqualBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
}

/** The request of an environment, as its turn is asked for. */
type Asking = Omit<Waiting, 'order' | 'patience'>;

/** The turns of one environment's requests. */
export interface Turns {
  /** Waits for the turn of a read. Rejects with a NotSent, or with the error of an interruption. */
  read(asking: Asking): Promise<void>;
  /** Explains why a write is not sent now; null if it may be. */
  write(place: string): RequestNotSentError | null;
  /** Reports a request: the returned function takes the answer. */
  sent(): (answer: WireAnswer) => void;
}

/** The paces of one run, one for each origin that has refused a request for too many. Others see no wait. */
export class Paces {
  readonly #paces = new Map<string, Pace>();
  readonly #recent = new RecentCounts();
  #opened = 0;

  /** Counts the requests to an origin that wait for their turn. */
  waiting(origin: string): number {
    return this.#paces.get(origin)?.waiting ?? 0;
  }

  /** The turns of an environment, which come before those of environments that are opened later. */
  open(
    origin: string,
    { clock, random, patience }: Pick<Waiting, 'patience'> & { clock: Clock; random: () => number },
  ): Turns {
    const order = this.#opened++;
    return {
      read: async (asking) => this.#paces.get(origin)?.turn({ ...asking, order, patience }),
      write: (place) => this.#paces.get(origin)?.writeTurn(place) ?? null,
      sent: () => {
        const sentAt = clock.monotonic();
        return (answer) => {
          const refusal = findRateLimit(answer, clock);
          const pace = this.#paces.get(origin);
          if (refusal === null) {
            if (answer.kind === 'fault') return pace?.recordLoss(sentAt);
            this.#recent.add(origin, clock.monotonic());
            return pace?.recordAnswer(sentAt);
          }
          const limited = pace ?? new Pace(clock, random);
          this.#paces.set(origin, limited);
          limited.recordRefusal(sentAt, refusal, this.#recent.of(origin, clock.monotonic()));
        };
      },
    };
  }
}

/** 429, or 503 with the time to come back; null for any other answer. */
function findRateLimit(answer: WireAnswer, clock: Clock): Refusal | null {
  if (answer.kind === 'fault' || (answer.status !== 429 && answer.status !== 503)) return null;
  const { status, headers } = answer;
  const after = retryAfter(
    readHeader(headers, 'retry-after'),
    readHeader(headers, 'date'),
    clock.now(),
  );
  return status === 503 && after === null ? null : { status, after };
}

const SECOND = 1_000;

/** Counts the requests of each origin in about the last second. Stores the origins of two seconds at most. */
class RecentCounts {
  #now = new Map<string, number>();
  #before = new Map<string, number>();
  #from = Number.NEGATIVE_INFINITY;

  add(origin: string, at: number): void {
    this.#turn(at);
    this.#now.set(origin, (this.#now.get(origin) ?? 0) + 1);
  }

  of(origin: string, at: number): number {
    this.#turn(at);
    const left = 1 - (at - this.#from) / SECOND;
    return (this.#now.get(origin) ?? 0) + (this.#before.get(origin) ?? 0) * left;
  }

  #turn(at: number): void {
    const passed = at - this.#from;
    if (passed < SECOND) return;
    this.#before = passed < 2 * SECOND ? this.#now : new Map();
    this.#now = new Map();
    this.#from = passed < 2 * SECOND ? this.#from + SECOND : at;
  }
}
