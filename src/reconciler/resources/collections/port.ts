import {
  isSecretItemMember,
  listItemNames,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import { asSetpointError, SetpointError } from '../../model/error.ts';
import { memberFacts } from '../../model/path-facts.ts';
import { formatPath, type Path } from '../../model/path.ts';
import type { WriteAnswer } from '../../model/ports.ts';
import { MASK, Secret, UnseenSecret } from '../../model/secret.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import {
  collectSecrets,
  createRecord,
  isList,
  isRecord,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import type { AskedItems } from '../../reconcile/contract.ts';
import { askFor, readJsonReply, sendOnce, retrying } from '../../service/request.ts';
import { isMissingPath } from '../../service/dialects.ts';
import { readHeader, type Reply } from '../../service/exchange.ts';
import { createFaultError } from '../../service/fault-error.ts';
import { connectionFor } from '../../service/connect.ts';
import { concealRecord } from '../../service/conceal.ts';
import { encode } from '../../service/json.ts';
import {
  notInSnapshot,
  type ResourceReader,
  type Reading,
  type ResourceWriter,
} from '../../service/port.ts';
import { formatRefusedMembers, type RefusedPlace } from '../../service/refused-members.ts';
import { ServiceError } from '../../service/service-error.ts';
import { createStatusError } from '../../service/status-error.ts';
import {
  ABSENT,
  LACKING,
  type Asking,
  type Call,
  type Get,
  type ItemRequest,
  type CollectionCodec,
  type Wires,
} from './wire.ts';

/** A collection of the service, and how it is read and written. */
export interface CollectionKind {
  readonly form: CollectionForm;
  readonly reader: ResourceReader<ListReader>;
  readonly writer: ResourceWriter<ItemWriter>;
  readonly wires: Wires;
}

export interface ListReader {
  /** Lists the items of a service; null if it has no such collection. Throws a SetpointError if they cannot be read or trusted. */
  list(
    settings: Pick<ObservedState, 'dialect' | 'release' | 'answer'>,
    asked: CollectionQuery,
    signal?: AbortSignal,
  ): Promise<Listing | null>;
}

export interface CollectionQuery extends AskedItems {
  /** True if undeclared items are to be removed. Then everything is also requested. */
  readonly isExhaustive?: boolean;
}

export interface ItemWriter {
  /** One request for each call, never repeated automatically. */
  send(request: ItemRequest): Promise<ItemAnswer>;
}

/**
 * `astray`: the service did it, to something else than the item. `isMissing`: the service answered that it has no item of that name.
 */
export type ItemAnswer = (
  | WriteAnswer
  | { readonly kind: 'astray'; readonly error: SetpointError }
) & { readonly isMissing?: boolean };

const NOTHING: Pick<DesiredState, 'items'> = { items: new Map() };

/** Reads a collection, or fails. A list that cannot be believed is an error and never a shorter list. */
export function listReader(form: CollectionForm, wires: Wires): ResourceReader<ListReader> {
  const { block } = form;
  return {
    open: (reading) => ({
      list: async (
        { dialect, release, answer },
        { declared, desired = NOTHING, all, isExhaustive = false, isReferred = false },
        signal,
      ) => {
        const wire = wires[dialect.name];
        if (wire === undefined) return null;
        const get = getting(reading, signal);
        const getSecret = gettingSecrets(reading, signal);
        const asked = isReferred ? [] : listItemNames(declared);
        const names = all === true || isExhaustive ? 'all' : asked;
        const asking: Asking = {
          names,
          declared,
          desired,
          isExhaustive,
          isReferred,
          answer,
          get,
          reveals: reading.reveals === true && !isReferred,
          getSecret,
          // Loads the cryptography of Node, which few plans need.
          compareBySignature: async (path, signing) => {
            const events = await import('../../service/signed-event.ts');
            const to = connectionFor(reading.connection, path);
            return events.compareBySignature(to, path, signing, signal);
          },
          unlike: unlikeFor(reading),
        };
        const items = await reading.read(block, () => wire.list(asking));
        if (items === null) return null;
        const listing = createListing(wire, release, concealItems(form, items));
        const stored = names === 'all' || isReferred ? undefined : await wire.stored?.(asking);
        return stored === undefined ? listing : { ...listing, stored };
      },
    }),
    saved: ({ environment: { name, dialect, release, ...saved } }) => ({
      list: async () => {
        const items = (saved as Readonly<Record<string, unknown>>)[block] as
          | readonly ValueRecord[]
          | null
          | undefined;
        if (items === undefined)
          throw notInSnapshot(
            `The snapshot does not contain the ${block} of ${name}.`,
            `Take one with them: setpoint get settings,${block} -o json=snapshot.json.`,
          );
        const wire = dialect === null ? undefined : wires[dialect];
        if (items === null || wire === undefined) return null;
        const listed = items.map((item) => restoreSavedItem(form, item));
        if (listed.some((item) => item === null))
          throw notInSnapshot(
            `The snapshot masks names or descriptions of the ${block} of ${name}.`,
          );
        return createListing(
          wire,
          release,
          listed.filter((item) => item !== null),
        );
      },
    }),
  };
}

/** Items whose members show what documents may show of their type. */
export function concealItems(
  { block }: CollectionForm,
  items: readonly ListedItem[],
): readonly ListedItem[] {
  const { type } = memberFacts('File', block);
  return items.map((item) => {
    const { members, stored } = item;
    const own = stored === undefined ? {} : { stored: concealRecord(stored, type) };
    return { ...item, members: concealRecord(members, type), ...own };
  });
}

/** An item of a document; null if it masks a part of a text. What it masks whole is not known. */
function restoreSavedItem(
  form: CollectionForm,
  { name, ...members }: ValueRecord,
): ListedItem | null {
  if (typeof name !== 'string' || name.includes(MASK)) return null;
  const unmasked = unmaskSecrets(form, [], createRecord(members));
  return unmasked === null ? null : { name, members: unmasked as ValueRecord };
}

function unmaskSecrets(form: CollectionForm, path: Path, value: Value): Value | null {
  if (isRecord(value)) {
    const inner = Object.entries(value).map(
      ([key, one]) => [key, unmaskSecrets(form, [...path, key], one), one] as const,
    );
    return inner.some(([, made, one]) => made === null && one !== null)
      ? null
      : createRecord(inner.map(([key, made]) => [key, made]));
  }
  if (isList(value)) {
    const items = value.map((one) => unmaskSecrets(form, path, one));
    return items.some((made, index) => made === null && value[index] !== null) ? null : items;
  }
  if (isSecretItemMember(form, path)) return value === null ? null : new UnseenSecret();
  if (value === MASK) return new UnseenSecret();
  return typeof value === 'string' && value.includes(MASK) ? null : value;
}

export function createListing(
  { replaces, describes, whole, fills, leaves, resends }: CollectionCodec,
  release: string | null,
  items: readonly ListedItem[],
): Listing {
  return {
    items,
    replaces: replaces(release),
    describes,
    ...(whole === undefined ? {} : { whole }),
    ...(fills === undefined ? {} : { fills }),
    ...(leaves === undefined ? {} : { leaves }),
    ...(resends === undefined ? {} : { resends }),
  };
}

/** GETs paths of a service, each again if that may help. */
export function getting(
  reading: Pick<Reading, 'connection' | 'limits'>,
  signal?: AbortSignal,
): Get {
  return asking(reading, signal, (place, reply) => {
    const read = readJsonReply(place, reply);
    if ('error' in read) throw read.error;
    return read.json;
  });
}

/** GETs secrets of a service that it answers as bare text, each again if that may help. Throws if an answer cannot be read. */
function gettingSecrets(
  reading: Pick<Reading, 'connection' | 'limits'>,
  signal?: AbortSignal,
): Asking['getSecret'] {
  const get = asking(reading, signal, (place, { body, headers }) => {
    if (!(body instanceof Uint8Array)) throw createFaultError(place, body);
    if (!/^text\/plain\b/i.test(readHeader(headers, 'content-type') ?? ''))
      throw new ServiceError('bad-response', `${place} was not answered with plain text.`);
    return new Secret(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
  });
  return (path) => get(path);
}

function asking<T>(
  { connection, limits }: Pick<Reading, 'connection' | 'limits'>,
  signal: AbortSignal | undefined,
  read: (place: string, reply: Reply) => T,
): (
  path: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<T | typeof ABSENT | typeof LACKING> {
  return (path, headers) => {
    const to = connectionFor(connection, path);
    const { clock, random } = to;
    const ask = askFor(to, limits, signal);
    const [bare = path] = path.split('?');
    const place = to.place('GET', bare);
    const once = async () => {
      const { reply } = await ask(path, headers);
      if (isMissingPath(place, reply)) return LACKING;
      if (reply.status === 404) return ABSENT;
      if (reply.status !== 200) throw createStatusError(to, place, reply);
      return read(place, reply);
    };
    const answered = retrying(once, { clock, place, random }, limits)(signal);
    return to === connection ? answered : answered.catch(throwForAutomation);
  };
}

/** Throws an error of the automation service with the member of the file that has its address. */
function throwForAutomation(thrown: unknown): never {
  if (!(thrown instanceof ServiceError)) throw thrown;
  throw thrown.reword({ hint: thrown.hint.replaceAll('server.url', 'server.automation_url') });
}

function unlikeFor({ connection }: Reading): Asking['unlike'] {
  return (path) => {
    const [bare = path] = path.split('?');
    const to = connectionFor(connection, path);
    return new ServiceError(
      'bad-response',
      `${to.place('GET', bare)} was answered with a list that cannot be believed: an item has no name, or its pages do not end.`,
    );
  };
}

/** Creates the writer of a block. Servers may repeat the request: of an answer only the members that a refusal names are shown, and why. */
export function itemWriter(block: string, wires: Wires): ResourceWriter<ItemWriter> {
  const theirs = new Map(Object.values(wires).flatMap((wire) => [...(wire.theirs ?? [])]));
  return (writing) => ({
    send: async (request): Promise<ItemAnswer> => {
      const { limits, send } = writing;
      let call: Call;
      try {
        call =
          typeof request.call === 'function' ? await request.call(getting(writing)) : request.call;
      } catch (thrown) {
        return {
          kind: 'not-applied',
          retry: false,
          reached: false,
          error: asSetpointError(thrown),
        };
      }
      const { body, refusals = {}, headersTimeout = 0, astray, ...sent } = call;
      const connection = connectionFor(writing.connection, sent.path);
      let isMissing = false;
      const answer = await send(`write ${block}`, () =>
        sendOnce(connection, {
          ...sent,
          ...(headersTimeout === 0 ? {} : { headersTimeout }),
          body: body === null ? null : encode(body),
          timeout: Math.max(connection.timeout, headersTimeout),
          limits,
          refusals: [400, 404, 422, ...Object.keys(refusals).map(Number)],
          refused: (place, reply) => {
            isMissing = reply.status === 404 && !isMissingPath(place, reply);
            const known = refusals[reply.status];
            const answer = readRefusalBody(place, reply);
            const named = formatRefusedMembers(
              answer,
              [...connection.secrets, ...collectSecrets(body ?? undefined)],
              (at) => formatMember(block, request, at, theirs),
              body,
            );
            const said =
              typeof known === 'function'
                ? known(answer)
                : { why: known ?? (named || undefined), hint: AGAIN };
            return said === null ? null : itemRefusal(place, reply.status, request, said);
          },
        }),
      );
      if (answer.kind !== 'done') return { ...answer, isMissing };
      const wrong = astray?.(answer.answer) ?? null;
      if (wrong === null) return { kind: 'stored' };
      const { why, hint } = wrong;
      return { kind: 'astray', error: new SetpointError('not-converged', why, { hint }) };
    },
  });
}

const AGAIN = 'Run setpoint plan again to see what the service has now.';

/** The path in the file of a place in the body of a request; the item for a place that is no member of the file. */
function formatMember(
  block: string,
  { name, shows }: ItemRequest,
  place: RefusedPlace,
  theirs: ReadonlyMap<string, string>,
): string {
  const names = place.map((part) => theirs.get(String(part)) ?? String(part));
  const start = names.findIndex((one) => Object.hasOwn(shows, one));
  const path = [block, name];
  let value: Value | undefined = start === -1 ? null : shows;
  for (const part of names.slice(start)) {
    // Below a value that has no members a server names variants of its type.
    if (part === '?' || (!isRecord(value) && !isList(value))) break;
    path.push(part);
    value = isList(value) ? value[Number(part)] : value[part];
  }
  return formatPath(path);
}

/** Reads the body of a refusal. */
function readRefusalBody(place: string, reply: Reply): Value {
  const read = readJsonReply(place, reply);
  return 'json' in read ? read.json : null;
}

function itemRefusal(
  place: string,
  status: number,
  { kind, name }: ItemRequest,
  { why, hint }: { readonly why: string | undefined; readonly hint: string },
): ServiceError {
  const otherwise =
    status === 404
      ? `it has no ${name}; another client may have removed it`
      : status === 400
        ? 'that name already exists'
        : 'it does not accept this name or value';
  return new ServiceError(
    'settings-refused',
    `${place} was refused: ${why ?? otherwise} (status ${status}, to ${kind} ${name}). This request changed nothing.`,
    { hint },
  );
}
