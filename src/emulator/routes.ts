import type { IncomingMessage } from 'node:http';

import { detail, type Answer } from './answer.ts';
import { isAnsweredHost } from './host-check.ts';
import type { JsonObject } from './json.ts';
import { isAuthorized } from './key-check.ts';
import { readBody } from './read-body.ts';
import { loadSettings, resetSettings, storeSettings, type Call } from './settings-handlers.ts';
import type { Store } from './store.ts';

export interface Service {
  readonly store: Store;
  readonly serverMcp: JsonObject | undefined;
  readonly apiKey: string | undefined;
  readonly allowHosts: readonly string[];
}

type Handler = (call: Call) => Promise<Answer>;

const routes: ReadonlyMap<string, ReadonlyMap<string, Handler>> = new Map([
  [
    '/api/settings',
    new Map([
      ['GET', loadSettings],
      ['POST', storeSettings],
    ]),
  ],
  ['/api/reset-settings', new Map([['POST', resetSettings]])],
]);

/** The answer to a request: who asks is looked at first, then what is asked for, then the body, last the key. */
export async function answerRequest(request: IncomingMessage, service: Service): Promise<Answer> {
  const { headers } = request;
  if (!isAnsweredHost(headers.host, service.allowHosts)) return detail(421, 'Misdirected Request');
  if (headers.origin !== undefined) return detail(403, 'Requests from web pages are refused');
  const body = await readBody(request);
  if (body === undefined) return detail(413, 'Content Too Large');
  const methods = routes.get(pathOf(request.url ?? ''));
  if (methods === undefined) return detail(404, 'Not Found');
  const handler = methods.get(request.method ?? '');
  if (handler === undefined) return notAllowed(methods);
  return handler({
    store: service.store,
    serverMcp: service.serverMcp,
    authorized: isAuthorized(headers['x-session-api-key'], service.apiKey),
    contentType: headers['content-type'],
    body,
  });
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

function notAllowed(methods: ReadonlyMap<string, Handler>): Answer {
  const allow = [...methods.keys()].join(', ');
  return { kind: 'json', status: 405, body: { detail: 'Method Not Allowed' }, allow };
}
