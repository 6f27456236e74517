import type { IncomingMessage } from 'node:http';
import type { Service } from './call.ts';
import { isAnsweredHost, isAuthorized } from './http/access.ts';
import { type Answer, detail } from './http/answer.ts';
import { readBody } from './http/body.ts';
import { type Methods, routeOf, type Routes } from './http/route.ts';

/** The answer to a request. Host and Origin are checked first, then the body's size, the route, and in the handler the key. */
export async function answerRequest(request: IncomingMessage, service: Service): Promise<Answer> {
  const { headers, method = '' } = request;
  if (!isAnsweredHost(headers.host, service.allowHosts)) return detail(421, 'Misdirected Request');
  if (headers.origin !== undefined) return detail(403, 'Requests from web pages are refused');
  const body = await readBody(request);
  if (body === undefined) return detail(413, 'Content Too Large');
  const { path, query } = partsOf(request.url ?? '');
  const { routes } = service;
  const route = routeOf(routes, path, method);
  if (route === undefined) return notFound(path, query, routes);
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (handler === undefined) return notAllowed(route.methods);
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

/** A slash at the end is redirected away. Source: contract "secrets: an empty name cannot be deleted". */
function notFound(path: string, query: string, routes: Routes): Answer {
  const bare = path.replace(/\/$/, '');
  if (bare !== path && routeOf(routes, bare, '') !== undefined)
    return { kind: 'redirect', to: query === '' ? bare : `${bare}?${query}` };
  return detail(404, 'Not Found');
}

/** A 405 names the path's first method alone. Source: contract "secrets: methods". */
function notAllowed(methods: Methods): Answer {
  const [allow = ''] = Object.keys(methods);
  return { kind: 'json', status: 405, body: { detail: 'Method Not Allowed' }, allow };
}
