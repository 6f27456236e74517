import type { IncomingMessage } from 'node:http';
import type { Call, Service } from './call.ts';
import {
  getConversations,
  getStartTasks,
  searchConversations,
  startConversation,
} from './conversations/conversation-handlers.ts';
import { isAnsweredHost, isAuthorized } from './http/access.ts';
import { type Answer, detail } from './http/answer.ts';
import { readBody } from './http/body.ts';
import {
  pauseSandbox,
  resumeSandbox,
  searchSandboxes,
  searchSandboxSpecs,
  startSandbox,
} from './sandboxes/sandbox-handlers.ts';
import { loadSettings, resetSettings, storeSettings } from './settings/settings-handlers.ts';

type Methods = Readonly<Record<string, (call: Call) => Promise<Answer>>>;

const routes: readonly (readonly [pattern: string, methods: Methods])[] = [
  ['/api/settings', { GET: loadSettings, POST: storeSettings }],
  ['/api/reset-settings', { POST: resetSettings }],
  ['/api/v1/sandboxes', { POST: startSandbox }],
  ['/api/v1/sandboxes/search', { GET: searchSandboxes }],
  ['/api/v1/sandboxes/{id}/pause', { POST: pauseSandbox }],
  ['/api/v1/sandboxes/{id}/resume', { POST: resumeSandbox }],
  ['/api/v1/sandbox-specs/search', { GET: searchSandboxSpecs }],
  ['/api/v1/app-conversations', { GET: getConversations, POST: startConversation }],
  ['/api/v1/app-conversations/search', { GET: searchConversations }],
  ['/api/v1/app-conversations/start-tasks', { GET: getStartTasks }],
];

/** The answer to a request. Host and Origin are checked first, then the body's size, the route, and in the handler the key. */
export async function answerRequest(request: IncomingMessage, service: Service): Promise<Answer> {
  const { headers, method = '' } = request;
  if (!isAnsweredHost(headers.host, service.allowHosts)) return detail(421, 'Misdirected Request');
  if (headers.origin !== undefined) return detail(403, 'Requests from web pages are refused');
  const body = await readBody(request);
  if (body === undefined) return detail(413, 'Content Too Large');
  const { path, query } = partsOf(request.url ?? '');
  const route = routeOf(path);
  if (route === undefined) return detail(404, 'Not Found');
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (handler === undefined) return notAllowed(route.methods);
  return handler({
    service,
    authorized: isAuthorized(headers['x-session-api-key'], service.apiKey),
    query: new URLSearchParams(query),
    id: route.id,
    contentType: headers['content-type'],
    body,
  });
}

function partsOf(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: '' };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function routeOf(path: string): { readonly methods: Methods; readonly id: string } | undefined {
  for (const [pattern, methods] of routes) {
    const id = matchPath(pattern, path);
    if (id !== undefined) return { methods, id };
  }
  return undefined;
}

function notAllowed(methods: Methods): Answer {
  const allow = Object.keys(methods).join(', ');
  return { kind: 'json', status: 405, body: { detail: 'Method Not Allowed' }, allow };
}

/**
 * The part of a path at the pattern's `{id}`, percent-decoded; empty if the pattern has none. Undefined if the path does not
 * match, or cannot be decoded.
 */
export function matchPath(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const id = decoded(path.slice(before.length, path.length - after.length));
  return id === '' || id?.includes('/') === true ? undefined : id;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
