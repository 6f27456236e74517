import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import {
  asSetpointError,
  ERRORS,
  SetpointError,
  usageError,
} from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import type { Watching } from '../watch/watching.ts';
import { Access, inUrl } from './access.ts';
import type { Served } from './answers.ts';
import { Credentials, type CredentialKind, type CredentialSource } from './credentials.ts';
import type { ListenOptions } from './listen-options.ts';
import { routes } from './routes.ts';
import { Streams } from './streams.ts';

export interface PageOptions extends ListenOptions, Pick<Served, 'metrics' | 'failed'> {
  readonly clock: Clock;
  /** Where credentials are read again; null if they stay as they are. */
  readonly source?: CredentialSource | null | undefined;
  /** Told that another certificate or token is in use. */
  readonly taken?: ((kind: CredentialKind) => void) | undefined;
  /** Other bounds of time, in milliseconds, than those of BOUNDS. */
  readonly bounds?: Partial<Bounds> | undefined;
}

export interface PageServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** Stops listening and ends every stream; resolves when requests are answered. What is still open after a second is cut. */
  close(): Promise<void>;
}

/** `look` is the time between two looks at the credentials. */
type Bounds = typeof BOUNDS & { readonly silence: number; readonly look: number };

const BOUNDS: Pick<
  ServerOptions,
  | 'headersTimeout'
  | 'requestTimeout'
  | 'keepAliveTimeout'
  | 'connectionsCheckingInterval'
  | 'maxHeaderSize'
> = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 8 * 1024,
};
const MOST_CONNECTIONS = 500;
/** A connection on which nothing moves is cut. Streams move every 15 s. */
const SILENCE = 120_000;
const CLOSE_WITHIN = 1000;

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
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
  }) as RequestListener;
  try {
    const server = newServer(tls, listener, { ...BOUNDS, silence: SILENCE, ...bounds });
    await listening(server, host, port);
    const address = server.address();
    const credentials = followed(server, look);
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    return {
      url: `${tls === null ? 'http' : 'https'}://${inUrl(host)}:${bound}`,
      close: async () => {
        credentials?.close();
        streams.close();
        await closed(server);
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
        if (server instanceof TlsServer) server.setSecureContext(usable(certificate));
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

type Certificate = NonNullable<ListenOptions['tls']>;

function newServer(
  tls: ListenOptions['tls'],
  listener: RequestListener,
  { silence, ...bounds }: Omit<Bounds, 'look'>,
): Server {
  const server = tls === null ? createServer(bounds, listener) : tlsServer(tls, listener, bounds);
  server.maxConnections = MOST_CONNECTIONS;
  server.setTimeout(silence);
  return server;
}

function tlsServer(
  certificate: Certificate,
  listener: RequestListener,
  bounds: ServerOptions,
): Server {
  return createTlsServer({ ...bounds, ...usable(certificate) }, listener);
}

/** What TLS takes. Throws if the certificate and the key cannot be used together, which OpenSSL does not mind if they are of two kinds. */
function usable({ key, cert }: Certificate): SecureContextOptions {
  const text = String(key.reveal());
  const context = { key: text, cert, minVersion: 'TLSv1.2' } as const;
  try {
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(text));
    if (!isPair) throw new Error('the key is another one');
    createSecureContext(context);
    return context;
  } catch (cause) {
    throw new SetpointError(
      'usage',
      'The certificate of --tls-cert and the key of --tls-key cannot be used.',
      {
        hint: 'Both are PEM files, and the key is that of the certificate, without a passphrase.',
        cause,
      },
    );
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const { code = '' } = cause;
      const why = REASONS[code] ?? '';
      const message = `The page cannot be served on ${inUrl(host)}:${port}${why}.`;
      // What else is in the way may be gone a moment later: another process that has the port, an address that is not there yet.
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

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}
