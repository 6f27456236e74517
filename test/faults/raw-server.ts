import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import { loaded, RECORDED } from '../fixture/store-server.ts';

export interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Each request as it came, head and body. */
  readonly requests: readonly string[];
  /** All bytes that came, requests or not. */
  readonly received: () => number;
  readonly connections: () => number;
}

/** Answers the request of that number, counted from 0. */
export type Answer = (socket: Socket, request: string, number: number) => void;

/** A server that sends bytes, so that it can do what no http library would; closed after the test. */
export async function rawServer(answer: Answer, tls?: TlsOptions): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let received = 0;
  let connections = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    connections += 1;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  };
  const talk = (socket: Socket) => {
    let pending = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.length;
      pending += chunk.toString('latin1');
      for (let end = endOfRequest(pending); end > 0; end = endOfRequest(pending)) {
        const request = pending.slice(0, end);
        pending = pending.slice(end);
        requests.push(request);
        answer(socket, request, requests.length - 1);
      }
    });
  };
  const server = tls === undefined ? createServer(talk) : createTlsServer(tls, talk);
  server.on('connection', track);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    received: () => received,
    connections: () => connections,
  };
}

function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return 0;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length >= end ? end : 0;
}

/** A whole answer. */
export function answer(
  status: number,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const all = {
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`),
    bytes,
  ]);
}

export const SETTINGS = JSON.stringify(loaded({ language: 'en', llm_api_key: 'k' }, RECORDED));
export const STORED = '{"message":"Settings stored"}';
