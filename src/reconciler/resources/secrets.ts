import { SECRETS_FORM } from '../model/collection-forms.ts';
import { secondName, waitingFor, type DesiredItem, type ListedItem } from '../model/collection.ts';
import { isMaskedSecret } from '../model/secret-words.ts';
import { isList, isRecord, createRecord, sameValue, type Value } from '../model/value.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { READS_AT_ONCE } from '../service/connect.ts';
import { readNextPageId } from '../service/v1/list.ts';
import { collection } from './collections/collection.ts';
import {
  createPagedReader,
  createRemovalRequest,
  createRenameRequest,
  type Asking,
  type Call,
  type ItemPage,
  type ItemRequest,
  type ItemWork,
  type Prerequisite,
  type Wires,
} from './collections/wire.ts';

const V0 = '/api/secrets';
const V1 = '/api/v1/secrets';
const AGENT = '/api/settings/secrets';

/** Releases of an app-server that refuse to store a name that is there. */
const CREATES_ONLY = /^1\.[78](\D|$)/;

const AGENT_LIST = createPagedReader(
  () => AGENT,
  (json) => readSecretPage(json, 'secrets'),
);

/** The custom secrets of each kind of server. Source: behaviour 4. */
const WIRES: Wires = {
  'settings-v0': {
    list: createPagedReader(
      () => V0,
      (json) => readSecretPage(json, 'custom_secrets'),
    ),
    replaces: () => 'by-second-name',
    describes: true,
    // No request reaches these names.
    keeps: ({ name }) => name === '' || name.includes('/'),
    requests: (work) => createSecretRequests(work, { path: V0, storing: 'POST' }),
    rename: (item, to) => createSecretRenameCall(item, to, { path: V0, storing: 'POST' }),
  },
  'app-server': {
    list: createPagedReader(
      (page) =>
        `${V1}/search?limit=100${page === null ? '' : `&page_id=${encodeURIComponent(page)}`}`,
      (json) => readSecretPage(json, 'items'),
    ),
    replaces: (release) =>
      release !== null && CREATES_ONLY.test(release) ? 'by-second-name' : 'in-place',
    describes: true,
    requests: (work) => createSecretRequests(work, { path: V1, storing: 'POST' }),
    rename: (item, to) => createSecretRenameCall(item, to, { path: V1, storing: 'POST' }),
  },
  'agent-server': {
    list: async (asking) => revealDeclaredItems(asking, await AGENT_LIST(asking)),
    replaces: () => 'in-place',
    describes: false,
    requests: (work) => createSecretRequests(work, { path: AGENT, storing: 'PUT' }),
  },
};

/** The items with the values of those that the file declares, where values are asked for. One that the server cannot read has none. */
async function revealDeclaredItems(
  { reveals, names, getSecret }: Asking,
  items: readonly ListedItem[] | null,
): Promise<readonly ListedItem[] | null> {
  if (items === null || !reveals || names === 'all') return items;
  return inParallel(items, READS_AT_ONCE, async (item) => {
    if (!names.includes(item.name)) return item;
    const value = await getSecret(`${AGENT}/${encodeURIComponent(item.name)}`);
    if (typeof value === 'symbol' || isMaskedSecret(value)) return item;
    return { ...item, members: createRecord({ ...item.members, value }) };
  });
}

/** The values that a service hands to the agents that it runs, by name. */
export const SECRETS = collection(SECRETS_FORM, WIRES);

/** The path and the method that store a secret. */
interface Storing {
  readonly path: string;
  readonly storing: 'POST' | 'PUT';
}

/** Never a moment without a value, where a server cannot replace one. */
function createSecretRequests(
  { item: { name, members }, changes, there, listing }: ItemWork,
  storing: Storing,
): readonly ItemRequest[] {
  const { replaces, describes } = listing;
  const next = secondName(name);
  const waiting = waitingFor(name, listing);
  const leftOver = waiting === undefined ? [] : [createSecretRemoval(next, storing)];
  if (members === null)
    return [...(there === undefined ? [] : [createSecretRemoval(name, storing)]), ...leftOver];
  const value = members['value'] ?? null;
  const said = readDescription(members) ?? readDescription((there ?? waiting)?.members ?? {});
  const description = said ?? '';
  const isDescribed = changes.every(({ path }) => path.length > 2);
  if (isDescribed && describes)
    return [
      {
        kind: 'describe',
        name,
        shows: createRecord({ description }),
        call: createSecretCall(storing, 'PUT', name, createRecord({ name, description })),
      },
    ];
  if (there === undefined || replaces === 'in-place')
    return [storingAs(name, { value, description }, storing, replaces), ...leftOver];
  return [
    ...leftOver.map((request) => ({ ...request, needs: requireOldSecret(name, next) })),
    storingAs(next, { value, description }, storing, replaces),
    { ...createSecretRemoval(name, storing), needs: waitingAs(next, description, name) },
    createSecretRename({ name: next, members: createRecord({ description }) }, name, storing),
  ];
}

/** The old value goes only while the new one waits: another setpoint removes it as what is left of an interrupted run. */
function waitingAs(next: string, description: Value, name: string): Prerequisite {
  const isOurs = (item: ListedItem): boolean =>
    item.name === next && sameValue(readDescription(item.members) ?? '', description);
  return {
    isShown: ({ items }) => items.some(isOurs),
    otherwise: {
      why: `Another client has just removed or changed ${next}, the new value of ${name}. ${name} was left unchanged.`,
      hint: ONE_OF_THEM,
    },
  };
}

/** Requires the old value before a waiting one is removed: another setpoint may be about to replace it. */
function requireOldSecret(name: string, next: string): Prerequisite {
  return {
    isShown: ({ items }) => items.some((item) => item.name === name),
    otherwise: {
      why: `Another client has just removed ${name}, whose new value waits as ${next}. ${next} was left unchanged.`,
      hint: ONE_OF_THEM,
    },
  };
}

const ONE_OF_THEM =
  'Another setpoint process may be rotating it. Let it finish, then run setpoint plan again.';

function createSecretRename(item: ListedItem, to: string, storing: Storing): ItemRequest {
  return createRenameRequest(item, to, createSecretRenameCall(item, to, storing));
}

/** The value goes along; the description does, if it is sent. */
function createSecretRenameCall(item: ListedItem, to: string, storing: Storing): Call {
  const description = readDescription(item.members) ?? '';
  return createSecretCall(storing, 'PUT', item.name, createRecord({ name: to, description }));
}

function storingAs(
  name: string,
  { value, description }: { readonly value: Value; readonly description: Value },
  { path, storing }: Storing,
  replaces: 'in-place' | 'by-second-name',
): ItemRequest {
  const body = createRecord({ name, description, value });
  return {
    kind: 'store',
    name,
    shows: createRecord({ description }),
    call: { method: storing, path, body },
    isShown: ({ items }) => replaces === 'by-second-name' && items.some((one) => one.name === name),
  };
}

function createSecretRemoval(name: string, storing: Storing): ItemRequest {
  return createRemovalRequest(name, createSecretCall(storing, 'DELETE', name, null));
}

function createSecretCall(
  { path }: Storing,
  method: Call['method'],
  name: string,
  body: Call['body'],
): Call {
  return { method, path: `${path}/${encodeURIComponent(name)}`, body };
}

function readDescription(members: DesiredItem['members']): Value | undefined {
  return members?.['description'];
}

function readSecretPage(json: Value, key: string): ItemPage | null {
  const list = isRecord(json) ? json[key] : undefined;
  if (!isRecord(json) || !isList(list)) return null;
  const next = readNextPageId(json);
  return next === undefined ? null : { items: list.map(asListed), next };
}

function asListed(item: Value): ListedItem | null {
  if (!isRecord(item) || typeof item['name'] !== 'string') return null;
  const { name, description } = item;
  const members = createRecord({ description: typeof description === 'string' ? description : '' });
  return { name, members };
}
