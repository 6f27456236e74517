import { fieldNamed, isNativePath, type SpecifiedField } from '../model/field.ts';
import { holdsMask } from '../model/secret-words.ts';
import { type Path, pathNamed } from '../model/path.ts';
import type { SetpointError } from '../model/error.ts';
import type { WriteAnswer } from '../model/ports.ts';
import {
  holdsNothing,
  isEmpty,
  isRecord,
  assignPath,
  createRecord,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { encode } from './json.ts';
import type { Places } from './native.ts';
import type { Writing } from './port.ts';
import { sendOnce } from './request.ts';
import { type Reply } from './exchange.ts';
import { ServiceError } from './service-error.ts';
import {
  KEYED,
  convertToMcpLists,
  OTHERS,
  USUAL_TRANSPORT,
  listRecordEntries,
  createEntryIdentity,
  MCP_LISTS,
  type McpList,
} from '../model/mcp.ts';
import { Secret } from '../model/secret.ts';

/** The body of a write, or why the service must not be sent it. */
export type BodyToStore = { readonly record: ValueRecord } | Unsendable;

/** The value to send, or the reason that it must not be sent. */
export type Sendable = { readonly value: Value } | Unsendable;

interface Unsendable {
  readonly problem: string;
}

/** The way a merging service receives each part of a write. */
interface Merging {
  readonly places: Places;
  /** The members whose changes are sent, each with the name of those changes. */
  readonly diffs: ReadonlyMap<string, string>;
  readonly ofNative: (path: Path, value: Value) => Sendable;
  readonly ofField: (field: SpecifiedField, value: Value) => Sendable;
  /** The effect of storing a mask on the service. */
  readonly withMask: string;
}

/** The fields of a write, each in its place: a field of the specification may be inside a native part that is written as a whole. */
export function buildStoreBody(fields: ValueRecord, service: Merging): BodyToStore {
  const { places, diffs, ofNative, ofField } = service;
  let record: ValueRecord = createRecord({});
  const put = (path: Path, value: Value): void => {
    const at = path.map((key, index) => (index === 0 ? (diffs.get(key) ?? key) : key));
    record = assignPath(record, at, value);
  };
  const isNamed = (name: string): number => Number(fieldNamed(name) !== undefined);
  const names = Object.keys(fields).toSorted((a, b) => isNamed(a) - isNamed(b));
  for (const name of names) {
    const [field, path, declared] = [fieldNamed(name), pathNamed(name), fields[name] ?? null];
    const at = field === undefined ? path : places.get(field.name);
    if (at === undefined || (field === undefined && !isNativePath(path)))
      return { problem: `these services have no ${name}` };
    const sent = field === undefined ? ofNative(path, declared) : ofField(field, declared);
    if ('problem' in sent) return sent;
    put(at, sent.value);
  }
  return holdsMask(record) ? { problem: service.withMask } : { record };
}

/** Explains why a body must not be sent; null if it may be. */
export function bodyProblem(body: BodyToStore): string | null {
  return 'problem' in body ? body.problem : null;
}

interface Storing {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  /** Statuses that refuse what was sent, and the error for one of them, which shows nothing of the answer. */
  readonly refusals: readonly number[];
  readonly refusal: (place: string, reply: Reply) => SetpointError;
}

/** Sends the body of a write to a service that merges it, once. Nothing is sent if the body has a problem. */
export async function storeBody(
  { connection, limits, send }: Writing,
  body: BodyToStore,
  { method, path, refusals, refusal }: Storing,
): Promise<WriteAnswer> {
  const place = connection.place(method, path);
  if ('problem' in body) {
    const message = `${place} was not sent: ${body.problem}.`;
    const error = new ServiceError('settings-refused', message);
    return { kind: 'not-applied', retry: false, reached: false, error };
  }
  const answer = await send('write settings', () =>
    sendOnce(connection, {
      method,
      path,
      body: encode(body.record),
      timeout: connection.timeout,
      limits,
      refusals,
      refused: refusal,
    }),
  );
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}

export { convertToMcpLists as listsOf };

const API_KEY = createRecord({ strategy: 'api_key' });

/** Servers by name, or the name that two of them would have. */
export type Servers = { readonly servers: ValueRecord } | { readonly twice: string };

/**
 * The servers that the lists of a write stand for. A server keeps the name that it was read with; a new one is called as the file
 * names it, or after its address, so that the same address always gives the same name.
 */
export function convertServerLists(config: Value): Servers {
  if (!isRecord(config)) return { servers: createRecord({}) };
  const others = config[OTHERS];
  const servers = new Map<string, Value>(isRecord(others) ? Object.entries(others) : []);
  const nameless: [McpList, ValueRecord][] = [];
  for (const list of MCP_LISTS) {
    for (const entry of listRecordEntries(config[list])) {
      const name = readServerName(entry);
      if (name === null) nameless.push([list, entry]);
      else if (servers.has(name)) return { twice: name };
      else servers.set(name, serverToSend(list, entry));
    }
  }
  for (const [list, entry] of nameless)
    servers.set(
      chooseUnusedName(deriveServerName(list, entry), servers),
      serverToSend(list, entry),
    );
  return { servers: createRecord(servers) };
}

/** States that two servers would have one name, which is the key of one server there. */
export function twiceProblem(name: string): string {
  return `two servers of mcp_config would have the name ${name}, but names are unique there; one of them may be unmanaged, or in a list that the file does not declare`;
}

/** Returns the trimmed name of the entry of a server. Null if it has none. */
export function readServerName({ name }: ValueRecord): string | null {
  const text = name instanceof Secret ? String(name.reveal()) : name;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}

/** Host and path of an address; what may not be shown of it is in no name. */
function deriveServerName(list: McpList, entry: ValueRecord): string {
  const { shown } = createEntryIdentity(list, entry);
  const words = shown.replace(/^[a-z]+:\/\//i, '').replaceAll(/[^A-Za-z0-9.]+/g, '-');
  return words.replaceAll(/^-+|-+$/g, '') || 'server';
}

function chooseUnusedName(name: string, servers: ReadonlyMap<string, Value>): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!servers.has(candidate)) return candidate;
  }
}

function serverToSend(list: McpList, entry: ValueRecord): ValueRecord {
  const { name: _, api_key: key, auth, transport, ...rest } = entry;
  // The server takes an absent member for one that holds nothing.
  const members = Object.entries(rest).filter(([, value]) => !holdsNothing(value));
  const how = isRecord(auth) && KEYED.has(auth['strategy'] ?? null) ? auth : API_KEY;
  const keyed = isEmpty(key) ? null : createRecord({ ...how, value: key ?? null });
  // A key replaces any other way to authenticate; without its key, `auth` for a key counts as none.
  const sent = keyed ?? (how === auth && key !== undefined ? null : (auth ?? null));
  const reached = transport ?? (list === 'stdio_servers' ? null : USUAL_TRANSPORT[list]);
  return createRecord([
    ...members,
    ...(reached === null ? [] : [['transport', reached] as const]),
    ...(sent === null ? [] : [['auth', sent] as const]),
  ]);
}
