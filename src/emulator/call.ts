import type { IncomingHttpHeaders } from 'node:http';
import type { Routes } from './http/route.ts';
import type { JsonObject } from './json.ts';
import type { Knobs } from './options.ts';
import type { Store } from './store/store.ts';

/** The state of a service while it listens. */
export interface Service {
  readonly routes: Routes;
  readonly store: Store;
  readonly serverMcp: JsonObject | undefined;
  readonly apiKey: string | undefined;
  readonly allowHosts: readonly string[];
  readonly knobs: Knobs;
  /** When the service was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The time, in whole milliseconds since 1970. Call it once per reading of the store. */
  readonly now: () => number;
  readonly sessionKey: (sandboxId: string) => string;
  /** Whether this list of sandboxes is answered as empty; each call counts one. */
  readonly takeEmptyList: () => boolean;
}

/** What a handler is given: the service and the parts of the request. */
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
