import type { IncomingMessage } from 'node:http';
import type { Service } from './call.ts';
import type { Dialogue } from './dialects.ts';
import { isAnsweredHost, isAuthorized } from './http/access.ts';
import { type Answer, detail } from './http/answer.ts';
import { readBody } from './http/body.ts';
import { type Methods, routeOf } from './http/route.ts';

/** The answer to a request. Host and Origin are checked first, then the body's size, the route, and in the handler the key. */
export async function answerRequest(request: IncomingMessage, service: Service): Promise<Answer> {
  const { headers, method = '' } = request;
  if (!isAnsweredHost(headers.host, service.allowHosts)) return detail(421, 'Misdirected Request');
  if (headers.origin !== undefined) return detail(403, 'Requests from web pages are refused');
  const body = await readBody(request);
  if (body === undefined) return detail(413, 'Content Too Large');
  const { path, query } = partsOf(request.url ?? '');
  const { dialogue } = service;
  const route = routeOf(dialogue.routes, path);
  if (route === undefined) return notFound(path, query, dialogue);
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (handler === undefined) return notAllowed(route.methods, dialogue);
  return handler({
    service,
    authorized: isAuthorized(headers['x-session-api-key'], service.apiKey),
    query: new URLSearchParams(query),
    id: route.id,
    headers,
    contentType: headers['content-type'],
    body,
  });
}

function partsOf(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: '' };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

function notFound(path: string, query: string, { routes, redirectsSlash }: Dialogue): Answer {
  const bare = path.replace(/\/$/, '');
  if (redirectsSlash && bare !== path && routeOf(routes, bare) !== undefined)
    return { kind: 'redirect', to: query === '' ? bare : `${bare}?${query}` };
  return detail(404, 'Not Found');
}

function notAllowed(methods: Methods, { allows }: Dialogue): Answer {
  const names = Object.keys(methods);
  const allow = (allows === 'all' ? names : names.slice(0, 1)).join(', ');
  return { kind: 'json', status: 405, body: { detail: 'Method Not Allowed' }, allow };
}
