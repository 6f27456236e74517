import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIT_HOSTS, GIT_TOKENS } from '../fixture/loop/git-loop.ts';

/** What stands in for git providers while a real server runs. */
export interface GitHosts {
  /** Variables by which a server finds them, and nothing else of a network. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * GitHub and GitLab at hosts of their own, on loopback: a proxy connects a server with these hosts and with no other, and a certificate
 * that the server is told to trust is theirs.
 */
export async function startGitHosts(): Promise<GitHosts> {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-git-hosts-'));
  const { key, cert, path } = certificateIn(folder);
  const hosts = createSecure({ key, cert }, (request, response) => {
    const status = isConfirmed(request) ? 200 : 401;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ id: 1, login: 'bot', username: 'bot', email: 'bot@example.com' }),
    );
  });
  const port = await listening(hosts);
  const sockets = new Set<Socket>();
  const proxy = createServer((_, response) => void response.writeHead(502).end());
  proxy.on('connect', ({ url = '' }: IncomingMessage, socket: Socket): void => {
    const isHere = GIT_HOSTS.some((host) => url === `${host}:443`);
    socket.on('error', () => {});
    if (!isHere) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on('close', () => sockets.delete(one));
    }
    upstream.on('error', () => socket.destroy());
  });
  const address = `http://127.0.0.1:${await listening(proxy)}`;
  return {
    variables: {
      HTTPS_PROXY: address,
      HTTP_PROXY: address,
      NO_PROXY: '127.0.0.1,localhost',
      SSL_CERT_FILE: path,
    },
    async close() {
      for (const one of sockets) one.destroy();
      await Promise.all([hosts, proxy].map((one) => new Promise((done) => one.close(done))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The paths at which servers ask each product for the owner of a token. */
const PATHS = { github: /^\/api\/v3(\/|$)/, gitlab: /^\/api\/v4\/user$/ } as const;

function isConfirmed({ url = '', headers }: IncomingMessage): boolean {
  return (['github', 'gitlab'] as const).some(
    (product) =>
      PATHS[product].test(url) && (headers.authorization ?? '').includes(GIT_TOKENS[product]),
  );
}

function certificateIn(folder: string) {
  const [key, path] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = GIT_HOSTS.map((host) => `DNS:${host}`).join(',');
  const what = ['-subj', `/CN=${GIT_HOSTS[0]}`, '-addext', `subjectAltName=${names}`, '-days', '2'];
  const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', path];
  execFileSync('openssl', ['req', ...made, ...what], { stdio: 'pipe' });
  return { key: readFileSync(key), cert: readFileSync(path), path };
}

async function listening(server: ReturnType<typeof createServer | typeof createSecure>) {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
