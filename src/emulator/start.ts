import type { IncomingMessage, ServerResponse } from 'node:http';

import { sendAnswer, type Answer } from './http/answer.ts';
import type { Service } from './call.ts';
import type { EmulatorOptions } from './emulator-options.ts';
import { isLoopback } from './http/host-check.ts';
import { readKnobs } from './knobs.ts';
import { listen } from './http/listen.ts';
import { answerRequest } from './routes.ts';
import { readServerMcp } from './settings/server-mcp.ts';
import { sessionKeys } from './sandboxes/session-keys.ts';
import { openStore } from './store/store.ts';

export type { EmulatorOptions } from './emulator-options.ts';

export interface Emulator {
  /** Where it answers, without a slash at the end: `http://127.0.0.1:41234`, `http://[::1]:41234`. */
  readonly url: string;
  /** Stops listening and resolves when the answers under way are sent; connections still open after 1 s are cut. */
  close(): Promise<void>;
}

/**
 * Starts the embedded service: the settings, the sandboxes and the conversations of one user, kept and answered as a real
 * server does. It runs no agents: what it tells of sandboxes and conversations is made up. It limits no rates, logs
 * nothing, and nothing goes on in it between requests: it remembers what was asked for and when, and works out from the
 * time how far that has come. So services that come and go on one store are one service.
 *
 * With a key, every endpoint asks for it. The server whose exchanges were recorded left those under /api/v1 open; later
 * ones ask too.
 *
 * Requests must name loopback or one of `allowHosts` in Host (else 421) and carry no Origin (else 403); bodies hold at
 * most 1 MiB (else 413).
 *
 * Rejects with an Error, one sentence or two for people, when `host` is off loopback and there is no key, when `data`
 * is there but was not written by this service, when `serverMcp` breaks the rules of mcp entries, when another
 * option has no value that it takes, and when the port is in use.
 *
 * Source: specification 4 and 5; every case of the contract; behaviour 3 for all under /api/v1.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', data, apiKey, serverMcp, allowHosts = [] } = options;
  if (!isLoopback(host) && !apiKey) {
    throw new Error(
      `The embedded service will not listen on ${host}, which is off loopback, without an API key.`,
    );
  }
  const knobs = readKnobs(options);
  const now = () => Math.floor((options.now ?? Date.now)());
  const service: Service = {
    store: await openStore(data),
    serverMcp: serverMcp && readServerMcp(serverMcp),
    apiKey,
    allowHosts,
    knobs,
    startedAt: now(),
    now,
    sessionKey: sessionKeys(),
    takeEmptyList: countdown(knobs.emptyLists),
  };
  const listening = await listen(port, host, (request, response) => {
    void respond(request, response, service);
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${listening.port}`, close: () => listening.close() };
}

/** True for the first times that it is called, that many, then false. */
function countdown(times: number): () => boolean {
  let left = times;
  return () => {
    left -= 1;
    return left >= 0;
  };
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
