import type { IncomingMessage, ServerResponse } from 'node:http';

import { sendAnswer, type Answer } from './answer.ts';
import { isLoopback } from './host-check.ts';
import { listen } from './listen.ts';
import { answerRequest, type Service } from './routes.ts';
import { readServerMcp, type ServerMcp } from './server-mcp.ts';
import { openStore } from './store.ts';

export interface EmulatorOptions {
  /** TCP port, 0 to 65535. Default: 0, a free one. */
  readonly port?: number;
  /** Name or address to listen on. Default: 127.0.0.1. Anything off loopback needs an `apiKey`. */
  readonly host?: string;
  /** Path of the file that keeps the store, created at the first store. Default: none, the store lives in memory. */
  readonly data?: string;
  /** What the X-Session-API-Key header must be. Default: none, the header is ignored; an empty key counts as none. */
  readonly apiKey?: string;
  /** mcp entries that the server owns and puts first in every load. Default: none. */
  readonly serverMcp?: ServerMcp;
  /** Names, without port, that a Host header may hold besides those of loopback. Default: none. */
  readonly allowHosts?: readonly string[];
}

export interface Emulator {
  /** Where it answers, without a slash at the end: `http://127.0.0.1:41234`, `http://[::1]:41234`. */
  readonly url: string;
  /** Stops listening and resolves when the answers under way are sent; connections still open after 1 s are cut. */
  close(): Promise<void>;
}

/**
 * Starts the embedded service: the settings of one user, stored and loaded as a real server does. It runs no agents,
 * limits no rates, logs nothing.
 *
 * Requests must name loopback or one of `allowHosts` in Host (else 421) and carry no Origin (else 403); bodies hold at
 * most 1 MiB (else 413).
 *
 * Rejects with an Error, one sentence or two for people, when `host` is off loopback and there is no key, when `data`
 * is there but was not written by this service, when `serverMcp` breaks the rules of mcp entries, and when the port
 * cannot be had.
 *
 * Source: specification 4.2, 4.3 and 5; observed: every case of the contract.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', data, apiKey, serverMcp, allowHosts = [] } = options;
  if (!isLoopback(host) && !apiKey) {
    throw new Error(
      `The embedded service will not listen on ${host}, which is off loopback, without an API key.`,
    );
  }
  const service: Service = {
    store: await openStore(data),
    serverMcp: serverMcp && readServerMcp(serverMcp),
    apiKey,
    allowHosts,
  };
  const listening = await listen(port, host, (request, response) => {
    void respond(request, response, service);
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${listening.port}`, close: () => listening.close() };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
): Promise<void> {
  let answer: Answer;
  try {
    answer = await answerRequest(request, service);
  } catch {
    answer = { kind: 'crash' };
  }
  sendAnswer(answer, response);
}
