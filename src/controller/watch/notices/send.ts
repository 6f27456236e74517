import type { Clock, Variables } from '../../../reconciler/model/ports.ts';
import { VERSION } from '../../../reconciler/model/version.ts';
import {
  exchange,
  readHeader,
  type Method,
  type WireAnswer,
} from '../../../reconciler/service/exchange.ts';
import {
  openNetwork,
  selectProxy,
  readProxyVariables,
  type Sender as Network,
} from '../../../reconciler/service/network.ts';
import { retryAfter } from '../../../reconciler/service/service-error.ts';
import type { WireFault } from '../../../reconciler/service/fault-error.ts';

/**
 * The result of a message. `not-taken`: surely it was not delivered; `again` is whether the same may be tried later, `after` how many
 * milliseconds later at the earliest, if the receiver gave a time. `unknown`: it may have been delivered. A problem is a sentence without
 * any part of the address.
 */
export type SendResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'not-taken';
      readonly again: boolean;
      readonly after: number | null;
      readonly problem: string;
    }
  | { readonly kind: 'unknown'; readonly problem: string };

/** A request to a receiver. All of it may be secret. */
export interface Outgoing {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Sends the notices of receivers, each request once. Never throws. */
export interface Sender {
  send(request: Outgoing): Promise<SendResult>;
  close(): Promise<void>;
}

const CLOSED = new Error('closed');
const CONNECT = 10_000;
const TOTAL = 30_000;
const LARGEST_ANSWER = 64 * 1024;

/** Over HTTP; the proxy is that of the variables, as for services. */
export function httpSender(env: Variables, clock: Pick<Clock, 'now'>): Sender {
  const networks = new Map<string, Promise<Network>>();
  const networkTo = (base: URL): Promise<Network> => {
    const known =
      networks.get(base.origin) ??
      openNetwork({
        base,
        ca: null,
        identity: null,
        proxy: selectProxy(base, readProxyVariables(env)),
        bypass: readProxyVariables(env).bypass,
        connectTimeout: CONNECT,
      });
    networks.set(base.origin, known);
    return known;
  };
  return {
    send: async ({ method, url, headers, body }) => {
      const base = URL.canParse(url) ? new URL(url) : null;
      if (base === null) return createRejection('Its address is not a url.', false);
      try {
        const answer = await exchange(await networkTo(base), base.origin, {
          method,
          path: `${base.pathname}${base.search}`,
          headers: {
            'user-agent': `setpoint/${VERSION}`,
            ...(body === null ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          body: body === null ? null : JSON.stringify(body),
          deadlines: { connect: CONNECT, headers: TOTAL, total: TOTAL },
          largestBody: LARGEST_ANSWER,
          signal: undefined,
          wantsBody: () => false,
          onSent: () => {},
        });
        return sendResult(answer, clock.now());
      } catch {
        networks.delete(base.origin);
        return createRejection('The network to it could not be opened.', true);
      }
    },
    close: async () => {
      for (const network of networks.values())
        await (await network.catch(() => null))?.destroy(CLOSED);
      networks.clear();
    },
  };
}

function sendResult(answer: WireAnswer, now: number): SendResult {
  if (answer.kind === 'fault') return faultResult(answer.fault);
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const problem = `It answered with status ${status}.`;
  const after = retryAfter(readHeader(headers, 'retry-after'), readHeader(headers, 'date'), now);
  if (status === 429 || (status === 503 && after !== null))
    return { kind: 'not-taken', again: true, after, problem };
  // The work of a server before it failed, or before it gave up on the request, is unknown.
  if (status >= 500 || status === 408) return { kind: 'unknown', problem };
  return createRejection(problem, false);
}

function faultResult({ phase, kind }: WireFault): SendResult {
  if (phase === 'connect')
    return createRejection(CONNECTING[kind] ?? 'It cannot be reached.', true);
  return { kind: 'unknown', problem: 'The connection ended before it answered.' };
}

const CONNECTING: Readonly<Partial<Record<WireFault['kind'], string>>> = {
  refused: 'It refuses connections.',
  'unknown-host': 'Its host is not known.',
  tls: 'Its certificate cannot be trusted.',
  timeout: 'It cannot be reached in time.',
  proxy: 'The proxy does not lead to it.',
};

function createRejection(problem: string, again: boolean): SendResult {
  return { kind: 'not-taken', again, after: null, problem };
}
