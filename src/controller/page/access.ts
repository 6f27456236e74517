import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../reconciler/model/address.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import type { ListenOptions } from './listen-options.ts';

/** The sender of a request: an anonymous client, a user with a session of the login form, or a tool that sent the token. */
export type Visitor =
  | { readonly kind: 'anybody' | 'tool'; readonly session: null }
  | { readonly kind: 'person'; readonly session: Session };

/** A token that was refused; `wait` is in how many seconds the next one may be tried, 0 for now. */
export interface RefusedLogin {
  readonly kind: 'refused';
  readonly wait: number;
}

const ANYBODY: Visitor = { kind: 'anybody', session: null };

/** Decides which visitors may read and which may act. */
export class Access {
  readonly #options: ListenOptions;
  #token: Secret | null;
  /** A visitor who has sent the current token. */
  #tool: Visitor = { kind: 'tool', session: null };
  readonly #clock: Clock;
  readonly #throttle = new Throttle();
  readonly sessions = new Sessions();
  /** True if reading needs a login: other machines can reach the page. */
  readonly readingTakesLogin: boolean;
  /** True if browsers see https. */
  readonly isSecure: boolean;

  constructor(options: ListenOptions, clock: Clock) {
    this.#options = options;
    this.#token = options.token;
    this.#clock = clock;
    this.readingTakesLogin = !isLoopbackHost(inUrl(options.host)) || options.publicOrigin !== null;
    this.isSecure = options.tls !== null || options.publicOrigin !== null;
  }

  get canLogIn(): boolean {
    return this.#token !== null;
  }

  get canAct(): boolean {
    return this.#options.allowActions && this.canLogIn;
  }

  /**
   * Reports whether a Host header may be answered. Anyone may read on loopback, so a foreign name that resolves to this machine (DNS
   * rebinding) is refused. Where reading requires a login, such a name has no session, and nothing is shown.
   */
  isAnswered(host: string | undefined): boolean {
    if (this.readingTakesLogin && this.#options.publicOrigin === null) return true;
    const name = URL.canParse(`http://${host ?? ''}`) ? new URL(`http://${host ?? ''}`) : null;
    if (name === null || name.pathname !== '/' || name.username !== '') return false;
    return isLoopbackHost(name.hostname) || `https://${host ?? ''}` === this.#options.publicOrigin;
  }

  /** Reports whether a request that changes something comes from our own page. Browsers send that; a tool sends neither header. */
  isSameOrigin(request: IncomingMessage): boolean {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    const { host = '', origin } = request.headers;
    const own = this.#options.publicOrigin ?? `${this.isSecure ? 'https' : 'http'}://${host}`;
    return origin === own;
  }

  /** Credentials of another scheme than Bearer are those of a proxy with a login of its own, which passes them on. */
  visitor(request: IncomingMessage): Visitor | RefusedLogin {
    const { authorization = '', cookie = '' } = request.headers;
    const bearer = /^Bearer(?: +(.*))?$/i.exec(authorization);
    if (bearer !== null && this.canLogIn)
      return this.checkToken(bearer[1] ?? '', request) ?? this.#tool;
    const begin = `${this.#buildCookieName(request)}=`;
    const id = cookie
      .split(/; */)
      .find((one) => one.startsWith(begin))
      ?.slice(begin.length);
    const session = this.sessions.find(id, this.#clock.now());
    return session === null ? ANYBODY : { kind: 'person', session };
  }

  /** Reports whether a visitor still has access to its request: a session may have ended since. */
  isStill(visitor: Visitor): boolean {
    const { kind, session } = visitor;
    if (session === null) return kind === 'anybody' || visitor === this.#tool;
    return this.sessions.find(session.id, this.#clock.now()) !== null;
  }

  /** Takes another token. What the one before has let in ends: it may be in wrong hands. */
  take(token: Secret): void {
    this.#token = token;
    this.#tool = { kind: 'tool', session: null };
    this.sessions.endAll();
  }

  /** Null if a text is the token, whatever else was tried; only failures are throttled. */
  checkToken(text: string, request: IncomingMessage): RefusedLogin | null {
    if (this.#token !== null && isToken(this.#token, text)) return null;
    const wait = this.#throttle.countFailure(
      this.#readClientAddress(request),
      this.#clock.monotonic(),
    );
    return { kind: 'refused', wait };
  }

  /** The header that gives a browser its session, or takes it. */
  setCookie(session: Session | null, request: IncomingMessage): string {
    const value = session === null ? '; Max-Age=0' : session.id;
    return `${this.#buildCookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict${this.isSecure ? '; Secure' : ''}`;
  }

  /** A browser has one cookie of a name for all ports of a machine: without TLS each port has its own. */
  #buildCookieName({ headers: { host = '' }, socket }: IncomingMessage): string {
    if (this.isSecure) return '__Host-setpoint';
    return `setpoint-${/:(\d{1,5})$/.exec(host)?.[1] ?? socket.localPort ?? 80}`;
  }

  /** Returns the reader for whom limits are counted: a session, or the origin of the request. */
  identifyReader({ session }: Visitor, request: IncomingMessage): string {
    return session === null ? this.#readClientAddress(request) : session.id;
  }

  /** Behind a proxy it is the last address that the proxy has added; of IPv6 the network. */
  #readClientAddress(request: IncomingMessage): string {
    const forwarded = this.#options.publicOrigin === null ? '' : lastForwarded(request);
    return computeClientNetwork(
      forwarded === '' ? (request.socket.remoteAddress ?? '') : forwarded,
    );
  }
}

/** An address; of IPv6 its network, which one client has all of. */
export function computeClientNetwork(address: string): string {
  return address.includes(':') && !address.includes('.')
    ? address.split(':').slice(0, 4).join(':')
    : address;
}

/** A host as a URL has it. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function lastForwarded(request: IncomingMessage): string {
  return (
    [request.headers['x-forwarded-for'] ?? ''].flat().join(',').split(',').at(-1)?.trim() ?? ''
  );
}

/** In constant time, whatever the text is. */
function isToken(token: Secret, text: string): boolean {
  return token.fits((value) => timingSafeEqual(hashToBuffer(value), hashToBuffer(text)));
}

function hashToBuffer(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A visitor who has logged in. */
export interface Session {
  readonly id: string;
  /** The token that each form of this session carries, and no other site knows. */
  readonly formToken: string;
  readonly endsAt: number;
  /** The name that was given at the login; empty if none was. */
  readonly who: string;
  /** The result of the last action, shown once. */
  said: string | null;
}

const LASTS = 12 * 3_600_000;
const MOST_SESSIONS = 100;

/** The sessions of logged-in users, in memory: a restart logs all of them out. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  start(now: number, who = ''): Session {
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MOST_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    const session = { id: random(), formToken: random(), endsAt: now + LASTS, who, said: null };
    this.#sessions.set(session.id, session);
    return session;
  }

  find(id: string | undefined, now: number): Session | null {
    const found = id === undefined ? undefined : this.#sessions.get(id);
    if (found === undefined) return null;
    if (now < found.endsAt) return found;
    this.#sessions.delete(found.id);
    return null;
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }

  endAll(): void {
    this.#sessions.clear();
  }
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

const WINDOW = 60_000;
const MOST_FAILURES = 10;
/** Addresses that are counted at once; of more, the oldest is forgotten. */
const MOST_ADDRESSES = 10_000;

/** Counts the wrong tokens of an address in a minute. Times are milliseconds. */
export class Throttle {
  readonly #failures = new Map<string, number>();
  #began = Number.NEGATIVE_INFINITY;

  /** Counts one more; in how many seconds the address may try again, 0 if it may now. */
  countFailure(address: string, now: number): number {
    if (now - this.#began >= WINDOW) {
      this.#began = now;
      this.#failures.clear();
    }
    const count = (this.#failures.get(address) ?? 0) + 1;
    const [oldest] = this.#failures.keys();
    if (count === 1 && this.#failures.size >= MOST_ADDRESSES && oldest !== undefined)
      this.#failures.delete(oldest);
    this.#failures.set(address, count);
    return count <= MOST_FAILURES ? 0 : Math.max(1, Math.ceil((this.#began + WINDOW - now) / 1000));
  }
}

/** No script and no style but ours, no frame, no form that leads elsewhere. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** On every answer. No other site may read, embed or open the page, and no proxy or cache may store it. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Cache-Control': 'no-store',
};
