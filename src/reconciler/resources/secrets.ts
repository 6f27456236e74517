import type { ItemRequest, ListedItem } from '../model/collection.ts';
import { isList, isRecord, recordOf, type Value } from '../model/value.ts';
import { collection } from './collections/collection.ts';
import type { ItemPage, Wire, Wires } from './collections/wire.ts';

const V0 = '/api/secrets';
const V1 = '/api/v1/secrets';
const AGENT = '/api/settings/secrets';

/** Releases of an app-server that refuse to store a name that is there. */
const CREATES_ONLY = /^1\.[78](\D|$)/;

/** The custom secrets of each kind of server. Source: behaviour 4. */
const WIRES: Wires = {
  'settings-v0': {
    list: () => V0,
    page: (json) => pageOf(json, 'custom_secrets'),
    replaces: () => 'by-second-name',
    describes: true,
    request: (request) => named(V0, 'POST', request),
  },
  'app-server': {
    list: (page) =>
      `${V1}/search?limit=100${page === null ? '' : `&page_id=${encodeURIComponent(page)}`}`,
    page: (json) => pageOf(json, 'items'),
    replaces: (release) =>
      release !== null && CREATES_ONLY.test(release) ? 'by-second-name' : 'in-place',
    describes: true,
    request: (request) => named(V1, 'POST', request),
  },
  'agent-server': {
    list: () => AGENT,
    page: (json) => pageOf(json, 'secrets'),
    replaces: () => 'in-place',
    describes: false,
    request: (request) => named(AGENT, 'PUT', request),
  },
};

/** The values that a service hands to the agents that it runs, by name. */
export const SECRETS = collection({
  resource: 'secret',
  block: 'secrets',
  noun: 'custom secrets',
  wires: WIRES,
});

/** The three kinds of server differ in how one is stored. */
function named(
  path: string,
  storing: 'POST' | 'PUT',
  request: ItemRequest,
): ReturnType<Wire['request']> {
  const own = `${path}/${encodeURIComponent(request.name)}`;
  if (request.kind === 'remove') return { method: 'DELETE', path: own, body: null };
  const { name, description } = request;
  const isRenamed = request.kind === 'rename';
  const said: [string, Value][] = [
    ['name', isRenamed ? request.to : name],
    ['description', description],
  ];
  if (request.kind !== 'store') return { method: 'PUT', path: own, body: recordOf(said) };
  return { method: storing, path, body: recordOf([...said, ['value', request.value]]) };
}

function pageOf(json: Value, key: string): ItemPage | null {
  const list = isRecord(json) ? json[key] : undefined;
  if (!isRecord(json) || !isList(list)) return null;
  const next = json['next_page_id'];
  return { items: list.map(listed), next: typeof next === 'string' && next !== '' ? next : null };
}

function listed(item: Value): ListedItem | null {
  if (!isRecord(item) || typeof item['name'] !== 'string') return null;
  const { name, description } = item;
  return { name, description: typeof description === 'string' ? description : '' };
}
