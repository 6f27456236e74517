import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ERRORS, SetpointError, usageError } from '../../reconciler/model/error.ts';
import { inUrl, computeClientNetwork } from './access.ts';
import type { ListenOptions } from './listen-options.ts';
import { Shares } from './shares.ts';

/** The address of a door, its handler, and the name of the service for messages. */
interface DoorOptions extends Pick<ListenOptions, 'host' | 'port' | 'tls'> {
  readonly what: 'page' | 'probes';
  readonly listener: RequestListener;
  /** Other bounds, in milliseconds, than the usual ones. */
  readonly bounds?: Partial<DoorBounds> | undefined;
}

/** A port that answers requests. */
export interface Door {
  /** The address that it listens on, without a slash at the end. */
  readonly url: string;
  readonly server: Server;
  /** Stops listening; resolves when requests are answered. What is still open after a second is cut. */
  close(): Promise<void>;
}

/** Bounds of time, in milliseconds. `silence` is after how long a connection on which nothing moves is cut; streams move every 15 s. */
export interface DoorBounds extends Pick<
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
export async function openDoor(options: DoorOptions): Promise<Door> {
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

export type Certificate = NonNullable<ListenOptions['tls']>;

/** Creates the TLS context. Throws if the certificate and the key do not match, which OpenSSL accepts if they are of two kinds. */
export function secureContext({ key, cert }: Certificate): SecureContextOptions {
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
