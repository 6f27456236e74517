import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Methods, Routes, Service } from '../call.ts';
import { type Answer, detail } from './answer.ts';
import { readBody } from './body.ts';

/** The content of a listening service, and the clients that it answers. */
export interface Door {
  readonly service: Service;
  readonly routes: Routes;
  readonly apiKey: string | undefined;
}

/** The answer to a request. Host and Origin are checked first, then the body's size, the route, and in the handler the key. */
export async function answerRequest(request: IncomingMessage, door: Door): Promise<Answer> {
  const { service, routes, apiKey } = door;
  const { headers, method = '' } = request;
  if (!isAnsweredHost(headers.host, apiKey)) return detail(421, 'Misdirected Request');
  if (headers.origin !== undefined) return detail(403, 'Requests from web pages are refused');
  const body = await readBody(request);
  if (body === undefined) return detail(413, 'Content Too Large');
  const { path, query } = targetParts(request.url ?? '');
  const route = findRoute(routes, path, method);
  if (route === undefined) return noRoute(path, query, routes);
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (handler === undefined) return notAllowed(route.methods);
  return handler({
    service,
    authorized: isAuthorized(headers['x-session-api-key'], apiKey),
    query: new URLSearchParams(query),
    id: route.id,
    headers,
    contentType: headers['content-type'],
    body,
  });
}

/** Reports whether a name or an address, without port and brackets, is this machine's loopback. */
export function isLoopbackName(name: string): boolean {
  const lower = name.toLowerCase();
  if (lower === 'localhost' || lower === '::1') return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(lower)?.slice(1);
  return octets !== undefined && octets.every((octet) => Number(octet) <= 255);
}

/**
 * Reports whether a Host header names loopback, with any port, or anything if a key is required. A web page whose own name was made to
 * resolve to this machine (DNS rebinding) sends that name, and has no key.
 */
function isAnsweredHost(header: string | undefined, apiKey: string | undefined): boolean {
  const found = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))(?::\d{1,5})?$/i.exec(header ?? '');
  const name = (found?.[1] ?? found?.[2])?.toLowerCase();
  if (name === undefined) return false;
  return isLoopbackName(name) || isKeyRequired(apiKey);
}

/**
 * Reports whether the X-Session-API-Key header is the service's key; if the service has none, every request is authorized. Compares in
 * constant time. Source: specification 5; contract "load with a wrong key".
 */
function isAuthorized(header: string | string[] | undefined, apiKey: string | undefined): boolean {
  if (!isKeyRequired(apiKey)) return true;
  return typeof header === 'string' && timingSafeEqual(hashKey(header), hashKey(apiKey));
}

function isKeyRequired(apiKey: string | undefined): apiKey is string {
  return apiKey !== undefined && apiKey !== '';
}

function hashKey(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function targetParts(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: '' };
  return { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** A slash at the end is redirected away. Source: contract "secrets: an empty name cannot be deleted". */
function noRoute(path: string, query: string, routes: Routes): Answer {
  const bare = path.replace(/\/$/, '');
  if (bare !== path && findRoute(routes, bare, '') !== undefined)
    return { kind: 'redirect', to: query === '' ? bare : `${bare}?${query}` };
  return detail(404, 'Not Found');
}

/** A 405 names the path's first method alone. Source: contract "secrets: methods". */
function notAllowed(methods: Methods): Answer {
  const [allow = ''] = Object.keys(methods);
  return { kind: 'json', status: 405, body: { detail: 'Method Not Allowed' }, allow };
}

interface Route {
  readonly methods: Methods;
  /** The part at `{id}`, decoded; empty if the pattern has none. */
  readonly id: string;
}

/** The first route of a path that has the method, else the first of the path. */
function findRoute(routes: Routes, path: string, method: string): Route | undefined {
  let first: Route | undefined;
  for (const [pattern, methods] of routes) {
    const id = matchPath(pattern, path);
    if (id === undefined) continue;
    if (Object.hasOwn(methods, method)) return { methods, id };
    first ??= { methods, id };
  }
  return first;
}

/**
 * The part of a path at the pattern's `{id}`, percent-decoded; empty if the pattern has none. Undefined if the path does not
 * match, or cannot be decoded.
 */
function matchPath(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const id = decodePathPart(path.slice(before.length, path.length - after.length));
  return id === '' || id?.includes('/') === true ? undefined : id;
}

function decodePathPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
