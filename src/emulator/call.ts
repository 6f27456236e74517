import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, createJsonAnswer } from './http/answer.ts';
import type { JsonObject } from './json.ts';
import type { Knobs } from './options.ts';
import type { Store } from './store/store.ts';

/** The state of a service while it listens. */
export interface Service {
  readonly store: Store;
  readonly serverMcp: JsonObject | undefined;
  readonly knobs: Knobs;
  /** The start of the service, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The time, in whole milliseconds since 1970. Call it once per reading of the store. */
  readonly now: () => number;
  /** The session key of an id. Each run of the service has its own keys; none is ever stored. */
  readonly sessionKey: (id: string) => string;
}

/** The input of a handler: the service and the parts of the request. */
export interface Call {
  readonly service: Service;
  readonly authorized: boolean;
  readonly query: URLSearchParams;
  /** The part of the path that the route names `{id}`, decoded; empty if the route has none. */
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

export type Methods = Readonly<Record<string, (call: Call) => Promise<Answer>>>;

/** The paths of a service with their methods, in the order in which they are tried. `{id}` is one part of a path. */
export type Routes = readonly (readonly [pattern: string, methods: Methods])[];

/** The routes, and one that answers an OpenAPI document of them; no key is needed. */
export function withOpenApi(info: JsonObject, routes: Routes): Routes {
  const entries = routes.map(([pattern, methods]) => {
    const names = Object.keys(methods).map((name) => [name.toLowerCase(), {}] as const);
    return [pattern, Object.fromEntries(names)] as const;
  });
  const document = { openapi: '3.1.0', info, paths: Object.fromEntries(entries) };
  return [...routes, ['/openapi.json', { GET: async () => createJsonAnswer(200, document) }]];
}
