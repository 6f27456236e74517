import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Routes, type Service, withOpenApi } from './call.ts';
import { collectionRoutes } from './collections/collection.ts';
import { settingsV0GitProviders } from './collections/git-providers.ts';
import { settingsV0Secrets } from './collections/settings-v0-secrets.ts';
import { answerRequest, type Door, isLoopbackName } from './http/answer-request.ts';
import { sendAnswer, type Answer } from './http/answer.ts';
import { readRequiredBody } from './http/body.ts';
import { listen } from './http/listen.ts';
import { openVault } from './native/vault.ts';
import {
  type EmulatorDialect,
  emulatorDialects,
  type EmulatorOptions,
  isEmulatorDialect,
  readKnobs,
} from './options.ts';
import { readServerMcp } from './settings/mcp-config.ts';
import { settingsRoutes } from './settings/routes.ts';
import { openStore } from './store/store.ts';
import { v1Routes, appServerDeletion, settingsV0Deletion } from './v1/conversations.ts';

export type { EmulatorOptions } from './options.ts';

/** A running embedded service. */
export interface Emulator {
  /** Its address, without a slash at the end: `http://127.0.0.1:41234`, `http://[::1]:41234`. */
  readonly url: string;
  /** Stops listening and resolves when open requests are answered; connections still open after 1 s are cut. */
  close(): Promise<void>;
}

/**
 * Starts the embedded service: the settings, the custom secrets, the git providers, the sandboxes and the conversations of one user, stored
 * and answered as a real server of its `dialect` does; an Agent Server has settings and named collections alone. It runs no agents: its
 * answers about sandboxes and conversations are made up. It has no rate limit, logs nothing, and runs nothing between requests: it stores
 * the requests with their times, and computes their progress from the time. So several services on one store, one after another, act as
 * one; of another dialect, as after an upgrade.
 *
 * With a key, every endpoint requires it. The server whose exchanges were recorded left those under /api/v1 open; later ones also require
 * it there.
 *
 * Without a key, requests must name loopback in Host (else 421); they carry no Origin (else 403); bodies have at most 1 MiB (else
 * 413).
 *
 * Rejects with an Error whose message is for people if `host` is off loopback and there is no key, if `data` exists but was not written by
 * this service, if `serverMcp` breaks the rules of mcp entries, if another option has an invalid value, and if the port is in use.
 *
 * Source: specification 4 and 5; every case of the contract; behaviour 3 for sandboxes and conversations, behaviour 4 and 5 for the
 * settings of later releases.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = '127.0.0.1', data, apiKey, serverMcp } = options;
  if (!isLoopbackName(host) && !apiKey) {
    throw new Error(
      `The embedded service will not listen on ${host}, which is off loopback, without an API key.`,
    );
  }
  const { dialect = 'settings-v0' } = options;
  if (!isEmulatorDialect(dialect))
    throw new Error(`The embedded service's dialect is not one of ${emulatorDialects.join(', ')}.`);
  const knobs = readKnobs(options);
  const now = () => Math.floor((options.now ?? Date.now)());
  const secret = randomBytes(32);
  const routes = await loadRoutes(dialect, apiKey);
  const service: Service = {
    store: await openStore(data),
    serverMcp: serverMcp && readServerMcp(serverMcp),
    knobs,
    startedAt: now(),
    now,
    sessionKey: (id) => createHmac('sha256', secret).update(id).digest('base64url'),
  };
  const listening = await listen(port, host, (request, response) => {
    void respond(request, response, { service, routes, apiKey });
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${listening.port}`, close: () => listening.close() };
}

/** Loads the paths of a dialect. `apiKey` is the service's key, with which it keeps secrets out of its store. */
async function loadRoutes(dialect: EmulatorDialect, apiKey: string | undefined): Promise<Routes> {
  if (dialect === 'agent-server') {
    const { agentServerRoutes } = await import('./agent-server/routes.ts');
    return agentServerRoutes(apiKey);
  }
  if (dialect === 'app-server') {
    const { appServerKind, appServerRoutes } = await import('./app-server/routes.ts');
    return [...appServerRoutes(appServerKind(apiKey)), ...v1Routes, ...appServerDeletion];
  }
  const vault = openVault(apiKey);
  const collections = [...settingsV0Secrets(vault), ...settingsV0GitProviders(vault)];
  const routes = [...settingsRoutes(vault), ...collectionRoutes(collections, readRequiredBody)];
  return [
    ...withOpenApi({ title: 'OpenHands', version: '0.62.0' }, routes),
    ...v1Routes,
    ...settingsV0Deletion,
  ];
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  door: Door,
): Promise<void> {
  let answer: Answer;
  try {
    answer = await answerRequest(request, door);
  } catch {
    answer = { kind: 'crash' };
  }
  sendAnswer(answer, response);
}
