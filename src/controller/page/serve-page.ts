import { randomBytes, createPrivateKey, X509Certificate } from 'node:crypto';
import {
  type RequestListener,
  type Server,
  createServer,
  type IncomingMessage,
  type ServerOptions,
} from 'node:http';
import { Server as TlsServer, createServer as createTlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono/tiny';
import {
  asSetpointError,
  SetpointError,
  ERRORS,
  usageError,
} from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import type { Watching } from '../watch/watching.ts';
import { Access, inUrl, computeClientNetwork } from './access.ts';
import type { Binding, RouteContext } from './answers.ts';
import { Credentials, type CredentialKind, type CredentialSource } from './credentials.ts';
import type { ListenOptions } from './listen-options.ts';
import { probeRoutes, routes } from './routes.ts';
import { Streams } from './streams.ts';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { Shares } from './fair-shares.ts';

export interface PageOptions extends ListenOptions, Pick<RouteContext, 'metrics' | 'failed'> {
  readonly clock: Clock;
  /** The source of new credentials; null if they do not change. */
  readonly source?: CredentialSource | null | undefined;
  /** Called when another certificate or token is in use. */
  readonly taken?: ((kind: CredentialKind) => void) | undefined;
  /** Other bounds of time, in milliseconds, than those of BOUNDS. */
  readonly bounds?: Partial<Bounds> | undefined;
}

export interface PageServer {
  /** The address that it listens on, without a slash at the end. */
  readonly url: string;
  /** Stops listening and ends every stream; resolves when requests are answered. What is still open after a second is cut. */
  close(): Promise<void>;
}

/** `look` is the time between two looks at the credentials. */
type Bounds = DoorBounds & { readonly look: number };

/** Serves the page of a controller, its health and its metrics. Throws a usage error if it cannot listen. */
export async function servePage(watching: Watching, options: PageOptions): Promise<PageServer> {
  const { clock, host, port, tls, metrics, failed } = options;
  const { look, ...bounds } = options.bounds ?? {};
  const boot = randomBytes(9).toString('base64url');
  const streams = new Streams(watching, boot, (thrown) => failed(asSetpointError(thrown)));
  const access = new Access(options, clock);
  const app = routes({
    watching,
    clock,
    streams,
    boot,
    metrics,
    failed,
    access,
  });
  try {
    const door = await openDoor({
      what: 'page',
      host,
      port,
      tls,
      bounds,
      listener: createRequestListener(app),
    });
    const credentials = followed(door.server, look);
    return {
      url: door.url,
      close: async () => {
        credentials?.close();
        streams.close();
        await door.close();
      },
    };
  } catch (thrown) {
    streams.close();
    throw thrown;
  }

  function followed(server: Server, every: number | undefined): Credentials | null {
    const { source = null, taken = () => {} } = options;
    if (source === null) return null;
    const user = {
      takeCertificate: (certificate: Certificate) => {
        if (server instanceof TlsServer) server.setSecureContext(secureContext(certificate));
      },
      takeToken: (token: Secret) => {
        access.take(token);
        streams.review();
      },
      problem: (kind: CredentialKind, problem: SetpointError | null) =>
        watching.conditions.set('page', problem?.message ?? null, kind),
      taken,
    };
    return new Credentials(options, source, user, every);
  }
}

/** The address of the probes. `metrics` is null if they are not served there. */
export interface ProbesOptions
  extends
    Pick<ListenOptions, 'host' | 'port'>,
    Pick<RouteContext, 'metrics' | 'failed' | 'clock'> {}

/** Serves the health of a controller, and its metrics if they are given, on a port of their own: what is asked of the page does not delay them. */
export async function serveProbes(
  watching: Watching,
  { host, port, metrics, failed, clock }: ProbesOptions,
): Promise<Pick<Door, 'url' | 'close'>> {
  const open = { host, port, publicOrigin: null, token: null, tls: null, allowActions: false };
  const access = new Access(open, clock);
  const app = probeRoutes({ watching, clock, access, metrics, failed });
  return openDoor({ what: 'probes', host, port, tls: null, listener: createRequestListener(app) });
}

function createRequestListener(app: Hono<Binding>): RequestListener {
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}

/** The address of a door, its handler, and the name of the service for messages. */
interface DoorOptions extends Pick<ListenOptions, 'host' | 'port' | 'tls'> {
  readonly what: 'page' | 'probes';
  readonly listener: RequestListener;
  /** Other bounds, in milliseconds, than the usual ones. */
  readonly bounds?: Partial<DoorBounds> | undefined;
}

/** A port that answers requests. */
interface Door {
  /** The address that it listens on, without a slash at the end. */
  readonly url: string;
  readonly server: Server;
  /** Stops listening; resolves when requests are answered. What is still open after a second is cut. */
  close(): Promise<void>;
}

/** Bounds of time, in milliseconds. `silence` is after how long a connection on which nothing moves is cut; streams move every 15 s. */
interface DoorBounds extends Pick<
  ServerOptions,
  'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval'
> {
  readonly silence: number;
}

const BOUNDS: DoorBounds = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5000,
  silence: 120_000,
};
const LARGEST_HEAD = 8 * 1024;
/** More than the system holds until they are accepted: what has just come in is never the oldest. */
const MOST_CONNECTIONS = 1000;
const CLOSE_WITHIN = 1000;

/** Opens a port. Throws a usage error if it may not, and not-listening if it cannot listen now. */
async function openDoor(options: DoorOptions): Promise<Door> {
  const { host, port, tls, what, listener } = options;
  const { silence, ...times } = { ...BOUNDS, ...options.bounds };
  const bounds = { ...times, maxHeaderSize: LARGEST_HEAD };
  const server =
    tls === null
      ? createServer(bounds, listener)
      : createTlsServer(
          { ...bounds, handshakeTimeout: times.headersTimeout, ...secureContext(tls) },
          listener,
        );
  server.setTimeout(silence);
  shareConnections(server);
  await listening(server, host, port, what);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `${tls === null ? 'http' : 'https'}://${inUrl(host)}:${bound}`,
    server,
    close: () => closeServer(server),
  };
}

/**
 * Bounds the connections of a port, fairly by the addresses that they come from: if there are too many, the address that has most gives up
 * its oldest one on which no whole request is being answered. So requests that never end, or a client that opens all it can, do not lock
 * others out.
 */
function shareConnections(server: Server): void {
  const shares = new Shares<{ readonly socket: Socket; readonly name: string }>(MOST_CONNECTIONS);
  /** The request that each connection is answering. Under TLS a request has another socket than its connection, at the same address and port. */
  const requests = new Map<string, IncomingMessage>();
  server.on('connection', (socket: Socket) => {
    const owner = computeClientNetwork(socket.remoteAddress ?? '');
    const connection = { socket, name: formatSocketName(socket) };
    const isIdle = ({ name }: { readonly name: string }): boolean =>
      requests.get(name)?.complete !== true;
    const left = shares.add(owner, connection, isIdle);
    socket.once('close', () => {
      shares.delete(owner, connection);
    });
    left?.socket.destroy();
  });
  server.prependListener('request', (request: IncomingMessage, response) => {
    const name = formatSocketName(request.socket);
    requests.set(name, request);
    response.once('close', () => {
      if (requests.get(name) === request) requests.delete(name);
    });
  });
}

function formatSocketName({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

type Certificate = NonNullable<ListenOptions['tls']>;

/** Creates the TLS context. Throws if the certificate and the key do not match, which OpenSSL accepts if they are of two kinds. */
function secureContext({ key, cert }: Certificate): SecureContextOptions {
  const text = String(key.reveal());
  const context = { key: text, cert, minVersion: 'TLSv1.2' } as const;
  try {
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(text));
    if (!isPair) throw new Error('the key is another one');
    createSecureContext(context);
    return context;
  } catch (cause) {
    throw new SetpointError('usage', 'The certificate and the key of --tls cannot be used.', {
      hint: 'Both are PEM files, and the key is that of the certificate, without a passphrase.',
      cause,
    });
  }
}

function listening(
  server: Server,
  host: string,
  port: number,
  what: DoorOptions['what'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const { code = '' } = cause;
      const why = REASONS[code] ?? '';
      const message = `The ${what} cannot be served on ${inUrl(host)}:${port}${why}.`;
      // Other obstacles may be gone a moment later: another process that has the port, an address that is not there yet.
      if (code === 'EACCES') reject(usageError(message, ERRORS['not-listening'].hint));
      else reject(new SetpointError('not-listening', message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: ': the port is in use',
  EACCES: ': this user may not use the port',
  EADDRNOTAVAIL: ': this machine has no such address',
  ENOTFOUND: ': no address has this name',
};

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
