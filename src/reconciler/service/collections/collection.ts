import type {
  CollectionActuator,
  CollectionName,
  CollectionObserver,
  ItemRequest,
  ListedItem,
  Listing,
} from '../../model/collection.ts';
import type { DialectName } from '../../model/dialect.ts';
import { SetpointError } from '../../model/error.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import type { Value, ValueRecord } from '../../model/value.ts';
import { type Ask, askFor, jsonOf } from '../ask.ts';
import type { Connection } from '../connect.ts';
import { isMissingPath } from '../dialects.ts';
import { encode } from '../json.ts';
import { retrying, type TimeLimits } from '../retry.ts';
import { sendOnce } from '../send.ts';
import { ServiceError } from '../service-error.ts';
import { statusError } from '../status-error.ts';
import { CUSTOM_SECRETS } from './custom-secrets.ts';

/** How servers of one dialect are asked for a collection. */
export interface Wire extends Pick<Listing, 'describes'> {
  /** What is listed, from the root of the service; `page` is what the page before named as the next one. */
  readonly list: (page: string | null) => string;
  /** A page of the list, and the name of the next one; null if the answer is none. An item is null if it has no name. */
  readonly page: (json: Value) => Page | null;
  readonly replaces: (release: string | null) => Listing['replaces'];
  readonly request: (request: ItemRequest) => {
    readonly method: 'POST' | 'PUT' | 'DELETE';
    readonly path: string;
    readonly body: ValueRecord | null;
  };
}

export interface Page {
  readonly items: readonly (ListedItem | null)[];
  readonly next: string | null;
}

/** The collections that servers may have; a dialect that is left out has none. */
const COLLECTIONS: Readonly<Record<CollectionName, Partial<Record<DialectName, Wire>>>> = {
  secrets: CUSTOM_SECRETS,
};

/** A list as a server of a dialect would give it, of what was saved of one; null if such a server has none. */
export function savedListing(
  name: CollectionName,
  { dialect, release }: { readonly dialect: DialectName; readonly release: string | null },
  items: readonly ListedItem[],
): Listing | null {
  const wire = COLLECTIONS[name][dialect];
  if (wire === undefined) return null;
  return { items, replaces: wire.replaces(release), describes: wire.describes };
}

const MOST_PAGES = 1000;

/** Reads a collection to its last page, or fails. A list that cannot be believed is an error and never a shorter list. */
export function collectionObserver(connection: Connection, limits: TimeLimits): CollectionObserver {
  return {
    list: async (name, { dialect, release }, signal) => {
      const wire = COLLECTIONS[name][dialect.name];
      if (wire === undefined) return null;
      const ask = askFor(connection, limits, signal);
      const items = new Map<string, ListedItem>();
      const seen = new Set<string>();
      for (let next: string | null = null, pages = 1; ; pages += 1) {
        const page = await pageOf(connection, wire, wire.list(next), ask, limits, signal);
        if (page === null) return null;
        for (const item of page.items) items.set(item.name, item);
        next = page.next;
        if (next === null) break;
        if (seen.has(next) || pages === MOST_PAGES) throw unlike(connection, wire);
        seen.add(next);
      }
      return savedListing(name, { dialect: dialect.name, release }, [...items.values()]);
    },
  };
}

/** Null if the server has no such path. */
async function pageOf(
  connection: Connection,
  wire: Wire,
  path: string,
  ask: Ask,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Promise<{ readonly items: readonly ListedItem[]; readonly next: string | null } | null> {
  const { clock, random } = connection;
  const [bare = path] = path.split('?');
  const place = connection.place('GET', bare);
  const once = async () => {
    const { reply } = await ask(path);
    if (isMissingPath(place, reply)) return null;
    if (reply.status !== 200) throw statusError(connection, place, reply);
    const read = jsonOf(place, reply);
    if ('error' in read) throw read.error;
    const page = wire.page(read.json);
    if (page === null) throw unlike(connection, wire);
    const items = page.items.filter((item) => item !== null);
    if (items.length < page.items.length) throw unlike(connection, wire);
    return { items, next: page.next };
  };
  return retrying(once, { clock, place, random }, limits)(signal);
}

function unlike(connection: Connection, wire: Wire): ServiceError {
  const [path = ''] = wire.list(null).split('?');
  const place = connection.place('GET', path);
  return new ServiceError(
    'bad-response',
    `${place} was answered with a list that cannot be believed: an item has no name, or its pages do not end.`,
  );
}

/** What servers answer to these may repeat what was sent: nothing of it is read. */
export function collectionActuator(connection: Connection, limits: TimeLimits): CollectionActuator {
  return {
    send: async (name, { dialect }, request): Promise<WriteAnswer> => {
      const wire = COLLECTIONS[name][dialect.name];
      if (wire === undefined)
        throw new SetpointError('internal', `These services have no ${name}.`);
      const { method, path, body } = wire.request(request);
      const answer = await sendOnce(connection, {
        method,
        path,
        body: body === null ? null : encode(body),
        timeout: connection.timeout,
        limits,
        refusals: [400, 404, 422],
        refused: (place, { status }) => refusal(place, status, request),
      });
      return answer.kind === 'done' ? { kind: 'stored' } : answer;
    },
  };
}

function refusal(place: string, status: number, { kind, name }: ItemRequest): ServiceError {
  const why =
    status === 404
      ? `it has no ${name}, which somebody may have removed`
      : status === 400
        ? 'something of that name is there already'
        : `it takes no such name, description or value`;
  return new ServiceError(
    'settings-refused',
    `${place} was refused: ${why} (status ${status}, to ${kind} ${name}). Nothing was written by it.`,
    { hint: 'Run setpoint plan again: it reads what is there now.' },
  );
}
