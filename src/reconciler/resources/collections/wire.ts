import type { ItemRequest, ListedItem, Listing } from '../../model/collection.ts';
import type { DialectName } from '../../model/dialect.ts';
import { SetpointError } from '../../model/error.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { MASK } from '../../model/secret.ts';
import type { ObservedState } from '../../model/state.ts';
import type { Value, ValueRecord } from '../../model/value.ts';
import { askFor, jsonOf, sendOnce, type Ask } from '../../service/request.ts';
import type { Connection } from '../../service/connect.ts';
import { isMissingPath } from '../../service/dialects.ts';
import { encode } from '../../service/json.ts';
import { notInSnapshot, type ReaderOf, type Reading, type WriterOf } from '../../service/port.ts';
import { retrying, type TimeLimits } from '../../service/retry.ts';
import { ServiceError } from '../../service/service-error.ts';
import { statusError } from '../../service/status-error.ts';
import type { CollectionNames } from './plan.ts';

/** A collection of the service, and what messages call its items. */
export interface CollectionKind extends CollectionNames {
  /** `custom secrets` */
  readonly noun: string;
  readonly reader: ReaderOf<ListReader>;
  readonly writer: WriterOf<ItemWriter>;
}

/** How servers of one dialect are asked for a collection. */
export interface Wire extends Pick<Listing, 'describes'> {
  /** What is listed, from the root of the service; `page` is what the page before named as the next one. */
  readonly list: (page: string | null) => string;
  /** A page of the list, and the name of the next one; null if the answer is none. An item is null if it has no name. */
  readonly page: (json: Value) => ItemPage | null;
  readonly replaces: (release: string | null) => Listing['replaces'];
  readonly request: (request: ItemRequest) => {
    readonly method: 'POST' | 'PUT' | 'DELETE';
    readonly path: string;
    readonly body: ValueRecord | null;
  };
}

export interface ItemPage {
  readonly items: readonly (ListedItem | null)[];
  readonly next: string | null;
}

/** How a collection is asked for, by dialect; servers of a dialect that is left out have none. */
export type Wires = Partial<Readonly<Record<DialectName, Wire>>>;

export interface ListReader {
  /** All that a service has, or null if it has no such collection. Throws a SetpointError if that cannot be read or believed. */
  list(
    settings: Pick<ObservedState, 'dialect' | 'release'>,
    signal?: AbortSignal,
  ): Promise<Listing | null>;
}

export interface ItemWriter {
  /** One request for each call, never repeated by itself. */
  send(settings: Pick<ObservedState, 'dialect'>, request: ItemRequest): Promise<WriteAnswer>;
}

const MOST_PAGES = 1000;

/** Reads a collection to its last page, or fails. A list that cannot be believed is an error and never a shorter list. */
export function listReader(block: string, wires: Wires): ReaderOf<ListReader> {
  return {
    open: (reading) => ({
      list: async ({ dialect, release }, signal) => {
        const wire = wires[dialect.name];
        if (wire === undefined) return null;
        const items = await reading.read(block, () => itemsOnAllPages(reading, wire, signal));
        return items === null ? null : listingOf(wire, release, items);
      },
    }),
    saved: ({ environment: { name, dialect, release, ...saved } }) => ({
      list: async () => {
        const items = (saved as Readonly<Record<string, unknown>>)[block] as
          | readonly ListedItem[]
          | null
          | undefined;
        if (items === undefined)
          throw notInSnapshot(
            `The snapshot does not contain the ${block} of ${name}.`,
            `Take one with them: setpoint get settings,${block} -o json=snapshot.json.`,
          );
        if (items?.some((item) => `${item.name} ${item.description}`.includes(MASK)) === true)
          throw notInSnapshot(
            `The snapshot masks names or descriptions of the ${block} of ${name}.`,
          );
        const wire = dialect === null ? undefined : wires[dialect];
        return items === null || wire === undefined ? null : listingOf(wire, release, items);
      },
    }),
  };
}

function listingOf(wire: Wire, release: string | null, items: readonly ListedItem[]): Listing {
  return { items, replaces: wire.replaces(release), describes: wire.describes };
}

/** Null if the server has no such list. */
async function itemsOnAllPages(
  { connection, limits }: Reading,
  wire: Wire,
  signal: AbortSignal | undefined,
): Promise<readonly ListedItem[] | null> {
  const ask = askFor(connection, limits, signal);
  const items = new Map<string, ListedItem>();
  const seen = new Set<string>();
  for (let next: string | null = null, pages = 1; ; pages += 1) {
    const page = await pageOf(connection, wire, wire.list(next), ask, limits, signal);
    if (page === null) return null;
    for (const item of page.items) items.set(item.name, item);
    next = page.next;
    if (next === null) return [...items.values()];
    if (seen.has(next) || pages === MOST_PAGES) throw unlike(connection, wire);
    seen.add(next);
  }
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
export function itemWriter(block: string, wires: Wires): WriterOf<ItemWriter> {
  return ({ connection, limits, send }) => ({
    send: async ({ dialect }, request): Promise<WriteAnswer> => {
      const wire = wires[dialect.name];
      if (wire === undefined)
        throw new SetpointError('internal', `These services have no ${block}.`);
      const { method, path, body } = wire.request(request);
      const answer = await send(`write ${block}`, () =>
        sendOnce(connection, {
          method,
          path,
          body: body === null ? null : encode(body),
          timeout: connection.timeout,
          limits,
          refusals: [400, 404, 422],
          refused: (place, { status }) => itemRefusal(place, status, request),
        }),
      );
      return answer.kind === 'done' ? { kind: 'stored' } : answer;
    },
  });
}

function itemRefusal(place: string, status: number, { kind, name }: ItemRequest): ServiceError {
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
