import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../model/address.ts';
import type { Clock } from '../model/ports.ts';
import type { Secret } from '../model/secret.ts';
import type { ListenOptions } from './listen-options.ts';
import { Sessions, type Session } from './sessions.ts';
import { Throttle } from './throttle.ts';

/** Who asks: anybody, somebody with a session of the login form, or a tool that sent the token. */
export type Visitor =
  | { readonly kind: 'anybody' | 'tool'; readonly session: null }
  | { readonly kind: 'person'; readonly session: Session };

/** A token that was refused; `wait` is in how many seconds the next one may be tried, 0 for now. */
export interface Refused {
  readonly kind: 'refused';
  readonly wait: number;
}

const ANYBODY: Visitor = { kind: 'anybody', session: null };
const TOOL: Visitor = { kind: 'tool', session: null };

/** Who may read, and who may act. */
export class Access {
  readonly #options: ListenOptions;
  readonly #clock: Clock;
  readonly #throttle = new Throttle();
  readonly sessions = new Sessions();
  /** Whether reading needs a login: if other machines can reach the page. */
  readonly readingTakesLogin: boolean;
  /** Whether browsers see https. */
  readonly isSecure: boolean;
  readonly #cookie: string;

  constructor(options: ListenOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.readingTakesLogin = !isLoopback(inUrl(options.host)) || options.publicOrigin !== null;
    this.isSecure = options.tls !== null || options.publicOrigin !== null;
    this.#cookie = this.isSecure ? '__Host-setpoint' : 'setpoint';
  }

  get canLogIn(): boolean {
    return this.#options.token !== null;
  }

  get canAct(): boolean {
    return this.#options.allowActions && this.canLogIn;
  }

  /**
   * Whether a Host header may be answered. Anybody may read on loopback, so a name that somebody made to resolve to this machine (DNS
   * rebinding) is refused. Where reading takes a login, such a name has no session, and nothing is shown.
   */
  isAnswered(host: string | undefined): boolean {
    if (this.readingTakesLogin && this.#options.publicOrigin === null) return true;
    const name = URL.canParse(`http://${host ?? ''}`) ? new URL(`http://${host ?? ''}`) : null;
    if (name === null || name.pathname !== '/' || name.username !== '') return false;
    return isLoopback(name.hostname) || `https://${host ?? ''}` === this.#options.publicOrigin;
  }

  /** Whether a request that changes something comes from a page of ours. Browsers say so; a tool sends neither header. */
  isFromHere(request: IncomingMessage): boolean {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    const { host = '', origin } = request.headers;
    const own = this.#options.publicOrigin ?? `${this.isSecure ? 'https' : 'http'}://${host}`;
    return origin === own;
  }

  visitor(request: IncomingMessage): Visitor | Refused {
    const { authorization, cookie = '' } = request.headers;
    if (authorization !== undefined && this.canLogIn) {
      const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const refused = this.tried(bearer ?? '', request);
      return refused ?? TOOL;
    }
    const id = cookie
      .split(/; */)
      .find((one) => one.startsWith(`${this.#cookie}=`))
      ?.slice(this.#cookie.length + 1);
    const session = this.sessions.find(id, this.#clock.now());
    return session === null ? ANYBODY : { kind: 'person', session };
  }

  /** Null if a text is the token. */
  tried(text: string, request: IncomingMessage): Refused | null {
    const address = this.#addressOf(request);
    const now = this.#clock.monotonic();
    const wait = this.#throttle.wait(address, now);
    if (wait > 0) return { kind: 'refused', wait };
    if (this.#options.token !== null && isToken(this.#options.token, text)) return null;
    this.#throttle.failed(address, now);
    return { kind: 'refused', wait: 0 };
  }

  /** The header that gives a browser its session, or takes it. */
  setCookie(session: Session | null): string {
    const value = session === null ? '; Max-Age=0' : session.id;
    return `${this.#cookie}=${value}; Path=/; HttpOnly; SameSite=Strict${this.isSecure ? '; Secure' : ''}`;
  }

  /** Behind a proxy it is the last address that the proxy has added; of IPv6 the network. */
  #addressOf(request: IncomingMessage): string {
    const forwarded = this.#options.publicOrigin === null ? '' : lastForwarded(request);
    const address = forwarded === '' ? (request.socket.remoteAddress ?? '') : forwarded;
    return address.includes(':') && !address.includes('.')
      ? address.split(':').slice(0, 4).join(':')
      : address;
  }
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
  const verdict = token.compareWith((value) =>
    timingSafeEqual(sha256(value), sha256(text)) ? 'same' : 'different',
  );
  return verdict === 'same';
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
