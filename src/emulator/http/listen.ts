import { createServer, type RequestListener, type Server } from 'node:http';

const closeGraceMs = 1000;

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a port, or on a free one for 0. Rejects with an Error that names host and port if it cannot. */
export async function listen(
  port: number,
  host: string,
  listener: RequestListener,
): Promise<Listening> {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000 },
    (request, response) => {
      response.once('finish', () => {
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      if (!server.listening) response.shouldKeepAlive = false;
      listener(request, response);
    },
  );
  await startServer(server, port, host);
  let closed: Promise<void> | undefined;
  return {
    port: readServerPort(server) ?? port,
    close: () => (closed ??= stopServer(server)),
  };
}

function startServer(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const why = REASONS[cause.code ?? ''] ?? '';
      const message = `The embedded service cannot listen on ${host} port ${port}${why}.`;
      reject(new Error(message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: ': the port is in use',
  EACCES: ': this user may not use it',
  EADDRNOTAVAIL: ': this machine has no such address',
};

function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), closeGraceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function readServerPort(server: Server): number | undefined {
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}
