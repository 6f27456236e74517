import { CONNECTION_ID } from '../effects/agent-server/settings.ts';
import { CONNECTIONS_FORM, LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { type ListedItem } from '../model/collection.ts';
import { SetpointError } from '../model/error.ts';
import { MODEL_PART } from '../model/field.ts';
import { UnseenSecret } from '../model/secret.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { collection } from './collections/collection.ts';
import {
  createRemovals,
  type Asking,
  type Get,
  type ItemRequest,
  type ItemWork,
  type CollectionState,
  type UnsupportedItem,
  type Wires,
} from './collections/wire.ts';

const PATH = '/api/llm/provider-connections';
const PROFILES = '/api/profiles';

/** The addresses and keys that LLM profiles share. A server knows them by ids that it makes, and takes one name twice. */
const WIRES: Wires = {
  'agent-server': {
    list: listProviderConnections,
    replaces: () => 'in-place',
    describes: true,
    hasIds: true,
    requests: createConnectionRequests,
    rename: renameCall,
    unfit: unfitConnections,
  },
};

export const PROVIDER_CONNECTIONS = collection(CONNECTIONS_FORM, WIRES);

async function listProviderConnections(asking: Asking): Promise<readonly ListedItem[] | null> {
  const { names, declared, isExhaustive, get, unlike } = asking;
  const json = await get(PATH);
  if (typeof json === 'symbol') return null;
  const entries = isList(json) ? json.map(readConnection) : [null];
  const items = entries.filter((item) => item !== null);
  if (items.length < entries.length) throw unlike(PATH);
  const twice = items.find(
    ({ name }, index) =>
      (isExhaustive || (names !== 'all' && names.includes(name))) && isLater(items, name, index),
  );
  if (twice !== undefined && !asking.isReferred) throw createDuplicateError(twice.name);
  if (!isExhaustive && declared.every(({ members }) => members !== null)) return items;
  const holders = await listConnectionUsers(asking);
  const llm = readPath(asking.answer, [...MODEL_PART, CONNECTION_ID]);
  return items.map((item) => ({
    ...item,
    heldBy: (holders.get(item.id) ?? []).map((name) => ({ block: LLM_PROFILES_FORM.block, name })),
    ...(item.id === llm ? { isActive: true } : {}),
  }));
}

function isLater(items: readonly ListedItem[], name: string, index: number): boolean {
  return items.findIndex((one) => one.name === name) < index;
}

function createDuplicateError(name: string): SetpointError {
  return new SetpointError(
    'unfit-for-service',
    `This service has two provider connections named ${name}. The file cannot specify which one it means. Nothing was sent.`,
    { hint: 'Rename or remove one of them on the service.' },
  );
}

/** The members of the file, and what a list shows of each. */
const MEMBERS = [
  ['provider', 'provider'],
  ['base_url', 'base_url'],
  ['api_key', 'api_key_set'],
] as const;

function readConnection(entry: Value): (ListedItem & { readonly id: string }) | null {
  if (!isRecord(entry)) return null;
  const { id, display_name: name, provider = null, base_url: url = null } = entry;
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  const key = entry['api_key_set'] === true ? new UnseenSecret() : null;
  const shows = MEMBERS.flatMap(([own, theirs]) => (Object.hasOwn(entry, theirs) ? [own] : []));
  return { id, name, members: createRecord({ provider, base_url: url, api_key: key }), shows };
}

/** The LLM profiles that name each connection, by its id. */
async function listConnectionUsers({
  get,
  unlike,
}: Asking): Promise<ReadonlyMap<string, string[]>> {
  const json = await get(PROFILES);
  if (typeof json === 'symbol') return new Map();
  const profiles = isRecord(json) ? json['profiles'] : undefined;
  if (!isList(profiles)) throw unlike(PROFILES);
  const holders = new Map<string, string[]>();
  for (const profile of profiles) {
    if (!isRecord(profile)) continue;
    const { name, [CONNECTION_ID]: id } = profile;
    if (typeof name === 'string' && typeof id === 'string')
      holders.set(id, [...(holders.get(id) ?? []), name]);
  }
  return holders;
}

/** A change sends what changes, and nothing else: what is left out stays. */
function createConnectionRequests({ item, changes, there }: ItemWork): readonly ItemRequest[] {
  const { name, members } = item;
  if (members === null) return createRemovals({ item, there }, toConnectionPath, HELD);
  if (there === undefined) return [creation(name, members)];
  const changed = changes.map(({ path: [, , member = ''] }) => member);
  const body = createRecord(
    changed.map((member) => [member, toSentMember(member, members[member] ?? null)]),
  );
  const shows = createRecord([
    ...Object.entries(there.members),
    ...changed.map((member) => [member, members[member] ?? null] as const),
  ]);
  const isOfKey = changed.includes('api_key');
  const isRotation = isOfKey && !isEmpty(members['api_key'] ?? null);
  return [
    {
      kind: isOfKey ? 'store' : 'describe',
      name,
      shows,
      call: {
        method: 'PATCH',
        path: toConnectionPath(there),
        body,
        ...(isOfKey && !isRotation ? { refusals: KEPT } : {}),
      },
    },
  ];
}

/** Empty text takes a key away, which null does not. */
function toSentMember(member: string, value: Value): Value {
  return member === 'api_key' && isEmpty(value) ? '' : value;
}

/** A second one of the name is never made: what is there is read right before. */
function creation(name: string, members: ValueRecord): ItemRequest {
  const { provider = 'custom', base_url: url = null, api_key: key = null } = members;
  const body = createRecord({ display_name: name, provider, base_url: url, api_key: key });
  const form = { method: 'POST', path: PATH, body } as const;
  return {
    kind: 'store',
    name,
    shows: createRecord({ provider, base_url: url, api_key: new UnseenSecret() }),
    call: async (get) => {
      if (await hasOne(get, name)) throw createRaceError(name);
      return { ...form, refusals: FULL };
    },
    form,
  };
}

function renameCall(item: ListedItem, to: string): ItemRequest['call'] {
  return async (get) => {
    if (await hasOne(get, to)) throw createRaceError(to);
    return {
      method: 'PATCH',
      path: toConnectionPath(item),
      body: createRecord({ display_name: to }),
    };
  };
}

const HELD = { 409: 'an LLM profile or the settings of the agent still name it' };
const KEPT = {
  422: () => ({
    why: 'Agent Servers from 1.58 on do not take the key of a connection away',
    hint: 'Declare api_key as a reference, or remove the connection by null in its place.',
  }),
};
const FULL = { 409: 'the service takes no more provider connections' };

async function hasOne(get: Get, name: string): Promise<boolean> {
  const json = await get(PATH);
  const entries = typeof json !== 'symbol' && isList(json) ? json : [];
  return entries.some((entry) => isRecord(entry) && entry['display_name'] === name);
}

/** The connections of a server: one member of each by another. */
export async function mapConnections(
  get: Get,
  key: string,
  value: string,
): Promise<Map<string, string>> {
  const json = await get(PATH);
  const entries = typeof json !== 'symbol' && isList(json) ? json.filter(isRecord) : [];
  return new Map(
    entries.flatMap((entry): [string, string][] => {
      const [one, other] = [entry[key], entry[value]];
      return typeof one === 'string' && typeof other === 'string' ? [[one, other]] : [];
    }),
  );
}

function createRaceError(name: string): SetpointError {
  return new SetpointError(
    'contended',
    `Another client has just created the provider connection ${name}. Nothing was written.`,
  );
}

function toConnectionPath({ id = '' }: ListedItem): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** One without a key cannot be made. */
function unfitConnections({ items, listing }: CollectionState): readonly UnsupportedItem[] {
  const why = 'has no api_key, which a service needs to create it.';
  const hint = 'Declare api_key as a reference, such as ${env:API_KEY}.';
  return items.flatMap((item): UnsupportedItem[] => {
    const isThere = listing.items.some(({ name }) => name === item.name);
    const isWhole = item.members === null || isThere || !isEmpty(item.members['api_key'] ?? null);
    return isWhole ? [] : [{ item, why, hint }];
  });
}
