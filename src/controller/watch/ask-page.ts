import { isLoopbackHost } from '../../reconciler/model/address.ts';
import type { WatchedDocument } from '../../reconciler/model/documents.gen.ts';
import { SetpointError, usageError } from '../../reconciler/model/error.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import { exchange, type WireAnswer } from '../../reconciler/service/exchange.ts';
import { createFaultError } from '../../reconciler/service/fault-error.ts';
import { openNetwork, selectProxy, readProxyVariables } from '../../reconciler/service/network.ts';

/** The address of a controller's page, and the login for it. */
export interface PageAddress {
  /** `https://setpoint.example.com`. */
  readonly url: string;
  /** The token of the page; null if none is known. */
  readonly token: Secret | null;
  readonly env: Variables;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

const LARGEST_ANSWER = 128 * 1024 * 1024;
const DONE = new Error('done');

/**
 * Asks the page of a running controller for its environments. No redirect is followed, and the token crosses no network in clear text. Throws a
 * SetpointError.
 */
export async function askPage(address: PageAddress): Promise<WatchedDocument> {
  const { token, env, timeout, signal } = address;
  const base = pageUrl(address);
  const network = await openNetwork({
    base,
    ca: null,
    identity: null,
    proxy: selectProxy(base, readProxyVariables(env)),
    bypass: readProxyVariables(env).bypass,
    connectTimeout: timeout,
  });
  try {
    const answer = await exchange(network, base.origin, {
      method: 'GET',
      path: '/api/environments',
      headers: {
        'user-agent': `setpoint/${VERSION}`,
        accept: 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token.reveal()}` }),
      },
      body: null,
      deadlines: { connect: timeout, headers: timeout, total: timeout },
      largestBody: LARGEST_ANSWER,
      signal,
      wantsBody: (status) => status === 200,
      onSent: () => {},
    });
    return parseWatchAnswer(answer, base.origin, token !== null);
  } finally {
    await network.destroy(DONE);
  }
}

function pageUrl({ url, token }: PageAddress): URL {
  const base = URL.canParse(url) ? new URL(url) : null;
  const isWeb = base?.protocol === 'https:' || base?.protocol === 'http:';
  if (
    base === null ||
    !isWeb ||
    base.username !== '' ||
    base.password !== '' ||
    base.pathname !== '/'
  )
    throw usageError(
      '--server takes the address of the page, without a path.',
      'Write --server https://setpoint.example.com.',
    );
  if (base.protocol === 'http:' && token !== null && !isLoopbackHost(base.hostname))
    throw usageError(
      `The token would cross the network to ${base.origin} in clear text.`,
      'Use the https address of the page.',
    );
  return base;
}

function parseWatchAnswer(answer: WireAnswer, origin: string, hasToken: boolean): WatchedDocument {
  const place = `The page at ${origin}`;
  if (answer.kind === 'fault') throw reachable(createFaultError(`GET ${origin}`, answer.fault));
  const { status, body } = answer;
  if (status === 401)
    throw new SetpointError(
      'unauthorized',
      hasToken ? `${place} refuses the token.` : `${place} takes a token.`,
      {
        hint: 'Set SETPOINT_WATCH_TOKEN, or SETPOINT_WATCH_TOKEN_FILE, to the token of the controller.',
      },
    );
  if (status === 429)
    throw new SetpointError('rate-limited', `${place} was sent too many wrong tokens.`);
  if (!(body instanceof Uint8Array) && status === 200)
    throw reachable(createFaultError(`GET ${origin}`, body));
  const found = status === 200 && body instanceof Uint8Array ? parseWatchedDocument(body) : null;
  if (found !== null) return found;
  throw new SetpointError('bad-response', `${place} is not the page of a controller.`, {
    hint: 'Name the address that setpoint watch --listen serves.',
  });
}

function reachable({ code, message, hint }: SetpointError): SetpointError {
  return new SetpointError(code, message, {
    hint: code === 'unreachable' ? 'Check the address, and that the controller runs.' : hint,
  });
}

function parseWatchedDocument(body: Uint8Array): WatchedDocument | null {
  try {
    const value = JSON.parse(new TextDecoder().decode(body)) as Partial<WatchedDocument> | null;
    const isOurs = value?.kind === 'watched' && Array.isArray(value.environments);
    return isOurs ? (value as WatchedDocument) : null;
  } catch {
    return null;
  }
}
