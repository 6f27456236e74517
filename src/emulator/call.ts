import type { JsonObject } from './json/json.ts';
import type { Knobs } from './knobs.ts';
import type { Store } from './store/store.ts';

/** What the service is for as long as it listens. */
export interface Service {
  readonly store: Store;
  readonly serverMcp: JsonObject | undefined;
  readonly apiKey: string | undefined;
  readonly allowHosts: readonly string[];
  readonly knobs: Knobs;
  /** When it was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The time, in whole milliseconds since 1970; to be asked once for each look at the store. */
  readonly now: () => number;
  readonly sessionKey: (sandboxId: string) => string;
  /** Whether the list of sandboxes that is asked for now is one of those that come out empty. */
  readonly takeEmptyList: () => boolean;
}

/** What a handler may use of the service and of the request. */
export interface Call {
  readonly service: Service;
  readonly authorized: boolean;
  readonly query: URLSearchParams;
  /** What stands in the path where the route has `{id}`, decoded; empty where it has none. */
  readonly id: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}
