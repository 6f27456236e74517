import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Received {
  readonly status: number;
  /** Without parameters; empty if there is none. */
  readonly mediaType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

function escaped(path: string): string {
  return path.replaceAll(/[^!-~]/gu, encodeURIComponent);
}

/** One request on a connection of its own. */
export function send(url: string, sent: Sent = {}): Promise<Received> {
  const { method = 'GET', path = '/api/settings', headers = {}, body } = sent;
  const start = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = {
      method,
      // As it is given: a URL would take `..` out of it.
      path: `${new URL(url).pathname.replace(/\/$/, '')}${escaped(path)}`,
      headers: { ...length, ...headers },
      agent: false,
    };
    const request = start(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          mediaType: (response.headers['content-type'] ?? '').split(';', 1)[0] ?? '',
          text: Buffer.concat(chunks).toString('utf8'),
          headers: response.headers,
        }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}
