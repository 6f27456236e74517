import { itemListed, type DesiredItem, type ListedItem } from '../../model/collection.ts';
import { MODEL_PART } from '../../model/field.ts';
import { isMaskedSecret } from '../../model/secret-words.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import {
  isEmpty,
  isRecord,
  mapRecord,
  createRecord,
  sameValue,
  readPath,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { itemsListed } from '../collections/whole.ts';
import { ABSENT, LACKING, type Asking, type Get } from '../collections/wire.ts';
import { needsHolders, withHolders } from '../holders.ts';
import { CONNECTION_ID } from '../../effects/agent-server/settings.ts';
import { mapConnections } from '../provider-connections.ts';
import { fillMember, isSecretMember, OF_THE_SERVER, type ProfileStore } from './store.ts';

/** Lists profiles. Undeclared profiles have only their names, except the active one if it is requested. */
export async function listLlmProfiles(
  asking: Asking,
  store: ProfileStore,
  alsoRead?: 'with the active one',
): Promise<readonly ListedItem[] | null> {
  const { path } = store;
  const list = await asking.get(path);
  if (list === LACKING) return null;
  if (list === ABSENT) return [];
  const active = isRecord(list) ? list['active_profile'] : null;
  const isRead = alsoRead !== undefined && !asking.isReferred;
  const more = isRead && typeof active === 'string' ? [active] : [];
  const names = asking.names === 'all' ? asking.names : [...asking.names, ...more];
  const get: Get = asking.reveals ? (one) => asking.get(one, IN_CLEAR) : asking.get;
  const shown = { ...asking, get, names };
  const items = await itemsListed(shown, path, { list, key: 'profiles' }, (found) => {
    if (!isRecord(found) || !isRecord(found['config'])) return null;
    const { config, api_key_set: isKeySet } = found;
    const stored = readLlmMembers(config, readProfileKey(config, isKeySet, asking));
    return { members: stored, stored };
  });
  const named = await withConnectionNames(asking, items);
  return named.map((item) => {
    const own = omitServerMembers(store, item, asking.declared);
    return item.name === active ? { ...own, isActive: true } : own;
  });
}

/** Returns the same. Where some are removed or renamed, with the references to each that can be read without a write. */
export async function listedWithHolders(
  asking: Asking,
  store: ProfileStore,
): Promise<readonly ListedItem[] | null> {
  const items = await listLlmProfiles(asking, store);
  if (items === null || !needsHolders(asking, items)) return items;
  return withHolders(asking, items, 'LLM profiles');
}

const IN_CLEAR = { 'X-Expose-Secrets': 'plaintext' };

/**
 * The key of a profile; null if it has none. The key of a connection does not belong to the profile: without the connection it has no key.
 */
function readProfileKey(
  config: ValueRecord,
  isKeySet: Value | undefined,
  { reveals }: Pick<Asking, 'reveals'>,
): Secret | null {
  const { api_key: key, [CONNECTION_ID]: connection } = config;
  if (isKeySet !== true || !isEmpty(connection)) return null;
  const shown = reveals && typeof key === 'string' && key !== '' ? new Secret(key) : null;
  return shown === null || isMaskedSecret(shown) ? new UnseenSecret() : shown;
}

/**
 * A profile for comparison: a secret is reported as stored or not, unless the service shows it. A profile with a connection has no address of
 * its own: beside secrets in clear a service shows that of the connection.
 */
function readLlmMembers(config: ValueRecord, key: Secret | null): ValueRecord {
  const isLinked = !isEmpty(config[CONNECTION_ID]);
  const shown = mapRecord(config, (value, name) => {
    if (isLinked && name === 'base_url') return null;
    if (!isSecretMember(name)) return value;
    return isRecord(value) ? mapRecord(value, hidden) : hidden(value);
  });
  return createRecord([
    ...Object.entries(shown).filter(([name]) => name !== 'api_key'),
    ['api_key', key],
  ]);
}

function hidden(value: Value): Value {
  if (typeof value !== 'string') return value;
  const secret = new Secret(value);
  return isMaskedSecret(secret) ? new UnseenSecret() : secret;
}

/** Of a profile that the file does not declare that counts, too, which the server would not fill in again. */
function omitServerMembers(
  store: ProfileStore,
  item: ListedItem,
  declared: readonly DesiredItem[],
): ListedItem {
  const own = itemListed(declared, item.name)?.members ?? undefined;
  const isKept = (name: string, value: Value): boolean => {
    if (!OF_THE_SERVER.has(name)) return true;
    if (own !== undefined) return Object.hasOwn(own, name);
    if (name === 'usage_id') return false;
    return !sameValue(fillMember(store, item.stored ?? item.members, name), value);
  };
  const kept = Object.entries(item.members).filter(([name, value]) => isKept(name, value));
  return { ...item, members: createRecord(kept) };
}

/**
 * Reports whether the llm of the settings of an Agent Server is a copy of a profile, by what it shows of both. The values of a connection
 * are not part of the profile, and of secrets it shows only whether there are any.
 */
export function isCopiedLlm(
  { config, api_key_set: isKeySet }: ValueRecord,
  settings: ValueRecord,
): boolean {
  const llm = readPath(settings, MODEL_PART);
  if (!isRecord(config) || !isRecord(llm)) return true;
  const isLinked = !isEmpty(config[CONNECTION_ID]);
  if (!isLinked && isKeySet !== settings['llm_api_key_is_set']) return false;
  return Object.entries(config).every(([name, value]) => {
    const isBrought = name === 'api_key' || (isLinked && name === 'base_url');
    return isBrought || OF_THE_SERVER.has(name) || sameValue(value, llm[name] ?? null);
  });
}

/** The name of its connection in the place of the id, unless another connection has that name too: then nothing tells which is declared. */
async function withConnectionNames(
  { get }: Asking,
  items: readonly ListedItem[],
): Promise<readonly ListedItem[]> {
  const isLinked = items.some(({ members }) => !isEmpty(members[CONNECTION_ID]));
  const names = isLinked
    ? await mapConnections(get, 'id', 'display_name')
    : new Map<string, string>();
  const addresses = isLinked ? await mapConnections(get, 'id', 'base_url') : names;
  const all = [...names.values()];
  const isAlone = (name: string): boolean => all.indexOf(name) === all.lastIndexOf(name);
  return items.map((item) => {
    const { [CONNECTION_ID]: id, ...members } = item.members;
    if (typeof id !== 'string') return { ...item, members: createRecord(members) };
    const name = names.get(id) ?? id;
    const connection = isAlone(name) ? name : id;
    return {
      ...item,
      members: createRecord({ ...members, connection }),
      ...(isEmpty(addresses.get(id)) ? { isInferred: true as const } : {}),
    };
  });
}
