import { randomBytes } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono/tiny';
import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { Secret } from '../../reconciler/model/secret.ts';
import type { Watching } from '../watch/watching.ts';
import { Access } from './access.ts';
import type { Binding, RouteContext } from './answers.ts';
import { Credentials, type CredentialKind, type CredentialSource } from './credentials.ts';
import { openDoor, secureContext, type Certificate, type Door, type DoorBounds } from './door.ts';
import type { ListenOptions } from './listen-options.ts';
import { probeRoutes, routes } from './routes.ts';
import { Streams } from './streams.ts';

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
