import type * as Tls from 'node:tls';
import { Client, type Dispatcher, Pool } from 'undici';
import { SetpointError } from '../model/error.ts';
import { isLoopback } from '../model/address.ts';
import { withoutText } from './wire-fault.ts';

/** What sends requests, until it is destroyed. */
export type Sender = Pick<Dispatcher, 'dispatch'> & {
  readonly destroy: (reason: Error) => Promise<void>;
};

export interface NetworkSettings {
  readonly base: URL;
  /** PEM text to trust besides the built-in authorities. */
  readonly ca: string | null;
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
  const local = isLoopback(settings.base.hostname);
  const tls = {
    timeout: settings.connectTimeout,
    ...(local ? {} : { rejectUnauthorized: true }),
    ...(settings.ca === null ? {} : { secureContext: await trusting(settings.ca) }),
  };
  const limits = { maxHeaderSize: LARGEST_HEADERS, connect: tls };
  if (settings.proxy === null || !mayProxy(settings.base))
    return new Connections(settings.base.origin, limits);
  const { proxyAgent } = await import('./proxy.ts');
  return proxyAgent({
    ...limits,
    httpProxy: '',
    httpsProxy: settings.proxy,
    noProxy: settings.bypass ?? '',
    requestTls: tls,
    proxyTls: tls,
  });
}

/** Whether a service may be reached through a proxy. */
export function mayProxy(base: URL): boolean {
  return base.protocol === 'https:' && !isLoopback(base.hostname);
}

/** The address of a proxy as a URL; a bare `host:port` is http. Null if there is none. */
export function proxyAddress(text: string | null): string | null {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '') return null;
  const address = trimmed.includes('://') ? trimmed : `http://${trimmed}`;
  if (/^(https?|socks5?):$/.test(URL.canParse(address) ? new URL(address).protocol : '')) {
    return address;
  }
  throw new SetpointError(
    'usage',
    'HTTPS_PROXY does not hold the address of a proxy, such as http://proxy.example:3128.',
    { hint: 'Correct HTTPS_PROXY, or unset it.' },
  );
}

async function trusting(ca: string) {
  const tls: typeof Tls & { getCACertificates?: () => string[] } = await import('node:tls');
  const { X509Certificate } = await import('node:crypto');
  try {
    for (const [text] of ca.matchAll(CERTIFICATE)) void new X509Certificate(text);
    return tls.createSecureContext({
      ca: [...(tls.getCACertificates?.() ?? tls.rootCertificates), ca],
    });
  } catch (thrown) {
    throw notCertificates(withoutText(thrown));
  }
}

export function notCertificates(cause?: Error): SetpointError {
  return new SetpointError('file-unreadable', 'server.ca_file holds no certificates in PEM form.', {
    hint: 'Give the file of the authority itself: text with BEGIN CERTIFICATE lines.',
    cause,
  });
}

/**
 * Whether a service is reached through the proxy of HTTPS_PROXY: `none` is set; only `https` to other machines is sent through
 * one; NO_PROXY names the host (`bypassed`); or it is `used`, and `via` is its host, without what may be a secret in it.
 */
export type ProxyUse =
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
export class Connections {
  readonly #first: Client;
  readonly #more: () => Pool;
  #pool: Pool | null = null;

  constructor(origin: string, options: Client.Options) {
    this.#first = new Client(origin, options);
    this.#more = () => new Pool(origin, options);
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#first.stats.size === 0) return this.#first.dispatch(options, handler);
    this.#pool ??= this.#more();
    return this.#pool.dispatch(options, handler);
  }

  async destroy(reason: Error): Promise<void> {
    await Promise.all([this.#first.destroy(reason), this.#pool?.destroy(reason)]);
  }
}
