import { CONNECTIONS_FORM } from '../../model/collection-forms.ts';
import type { ListedItem, Listing, Storing } from '../../model/collection.ts';
import { looksLikeMask } from '../../model/secret-words.ts';
import { SetpointError } from '../../model/error.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import {
  isEmpty,
  isRecord,
  filterMembers,
  mapRecord,
  createRecord,
  sameValue,
  textFits,
  readPath,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import {
  createRemovals,
  type Call,
  type Get,
  type ItemRequest,
  type ItemWork,
} from '../collections/wire.ts';
import { CONNECTION_ID } from '../../effects/agent-server/settings.ts';
import { mapConnections } from '../provider-connections.ts';
import {
  fillMember,
  IN_FILE,
  IN_SETTINGS,
  isSecretMember,
  OF_THE_SERVER,
  type ProfileStore,
  toStoredLlm,
} from './store.ts';

/** A profile that is stored, and what makes that necessary. */
type Profile = Pick<ItemWork, 'item' | 'there'> & Pick<Storing, 'changes'>;

/** Returns how a body preserves the secrets that are stored and not sent. */
type Keeping = (path: string, get: Get, work: ItemWork) => Promise<PreservedMembers>;

interface PreservedMembers {
  readonly members: ValueRecord;
  /** True if secrets that are sent or preserved are stored. */
  readonly includes: boolean;
}

export function createProfileRequests(
  work: ItemWork,
  base: string,
  keeping: Keeping,
): readonly ItemRequest[] {
  const { name, members } = work.item;
  const path = `${base}/${encodeURIComponent(name)}`;
  if (members === null) return createRemovals(work, () => path, HELD);
  const sent = createProfileBody(work, work.listing.resends);
  return [
    {
      kind: 'store',
      name,
      shows: members,
      call: async (get): Promise<Call> => {
        const { members: kept, includes } = await keeping(path, get, work);
        const linked = await findConnectionId(get, members);
        const llm = createRecord([...Object.entries(kept), ...Object.entries(sent), ...linked]);
        return {
          method: 'POST',
          path,
          body: createRecord({ llm, include_secrets: includes }),
          refusals: REFUSALS,
        };
      },
      form: { method: 'POST', path, body: createRecord({ llm: createLlmForm(members, sent) }) },
    },
  ];
}

const HELD = { 409: 'an agent profile still names it' };
const REFUSALS = {
  404: 'it has no settings yet: declare some, so that they are stored first',
  409: 'the service takes no more LLM profiles',
};

const never = (): boolean => false;

/** Returns the body of a profile: all members except preserved secrets and null. Omitted members take their default. */
function createProfileBody(
  { item, changes, there }: Profile,
  resends: NonNullable<Listing['resends']> = never,
): ValueRecord {
  const changed = new Set(changes.map(({ path: [, , member = ''] }) => member));
  return createRecord(
    Object.entries(item.members ?? {}).filter(([name, value]) => {
      if (name === 'connection' || value === null) return false;
      if (!isSecretMember(name) || there === undefined) return true;
      return changed.has(name) || isRecord(value) || resends(name);
    }),
  );
}

/** The llm of a body with the name of its connection. */
function createLlmForm({ connection = null }: ValueRecord, sent: ValueRecord): ValueRecord {
  return createRecord({ ...sent, [CONNECTION_ID]: connection });
}

/** The id of the connection that a profile names. */
async function findConnectionId(get: Get, { connection }: ValueRecord): Promise<[string, Value][]> {
  if (typeof connection !== 'string') return [];
  const id = (await mapConnections(get, 'display_name', 'id')).get(connection);
  if (id !== undefined) return [[CONNECTION_ID, id]];
  throw new SetpointError(
    'unfit-for-service',
    `This service has no provider connection named ${connection}. This request changed nothing.`,
    { hint: `Declare it under ${CONNECTIONS_FORM.block}, or check the name.` },
  );
}

/** An app-server preserves the key of a profile that is sent without one, and no other secret. Maps can be read and sent again. */
export async function inSettings(
  path: string,
  get: Get,
  work: ItemWork,
): Promise<PreservedMembers> {
  const { item, there } = work;
  const includes = item.members?.['api_key'] !== null;
  if (there === undefined) return { members: createRecord({}), includes };
  const found = await get(path);
  return { members: keepMembers(IN_SETTINGS, work, readStoredConfig(found, there)), includes };
}

/** An Agent Server deletes every secret that is not sent: they are read as it has encrypted them, and sent back. */
export async function inFile(path: string, get: Get, work: ItemWork): Promise<PreservedMembers> {
  const { there } = work;
  if (there === undefined) return { members: createRecord({}), includes: true };
  const found = await get(path, { 'X-Expose-Secrets': 'encrypted' });
  const config = readStoredConfig(found, there);
  const kept = keepMembers(IN_FILE, work, config);
  const lost = Object.entries(there.stored ?? {}).find(
    ([name, value]) => isKept(work, name) && isShownStored(value) && !isShownStored(kept[name]),
  );
  if (lost !== undefined) throw unshown(there.name, lost[0]);
  const members = mapRecord(kept, (value, name) =>
    isSecretMember(name) ? wrapAllTexts(value) : value,
  );
  return { members, includes: true };
}

/** What of a stored profile is sent along with what is declared: secrets, and what the server does not make of the rest by itself. */
function keepMembers(store: ProfileStore, work: Profile, config: ValueRecord): ValueRecord {
  const declared = work.item.members ?? {};
  return filterMembers(
    config,
    (name, value) =>
      value !== null &&
      ((isKept(work, name) && store.carries(name, value)) ||
        (OF_THE_SERVER.has(name) &&
          !Object.hasOwn(declared, name) &&
          !sameValue(fillMember(store, config, name), value))),
  );
}

/** What a server has of a profile once it is stored as declared. */
export function predictProfile(
  store: ProfileStore,
  { item, there, changes }: Storing,
): ValueRecord {
  const stored = there?.stored ?? createRecord({});
  const work = { item, there, changes };
  const { [CONNECTION_ID]: id } = stored;
  const linked = item.members?.['connection'];
  const isSame = there?.members['connection'] === linked;
  const sent = {
    ...keepMembers(store, work, stored),
    ...createProfileBody(work, store.resends),
    ...(typeof linked === 'string' ? { [CONNECTION_ID]: isSame ? (id ?? linked) : linked } : {}),
  };
  const { [CONNECTION_ID]: _, ...left } = toStoredLlm(store, createRecord(sent), stored);
  return createRecord(id === undefined ? left : { ...left, [CONNECTION_ID]: id });
}

/** Whether something is stored: a secret, or a map of them. A mask is none that could be sent back. */
function isShownStored(value: Value | undefined): boolean {
  if (isRecord(value)) return Object.values(value).some(isShownStored);
  return value instanceof UnseenSecret || (!isEmpty(value) && !textFits(value, looksLikeMask));
}

/** What is listed as set and then not shown could not be sent along: nothing is sent. */
function unshown(profile: string, member: string): SetpointError {
  return new SetpointError(
    'bad-response',
    `The service lists ${member} of the LLM profile ${profile} as set and does not show it right before the write, which would lose it. This request changed nothing.`,
    { hint: 'Check whether a proxy drops the header X-Expose-Secrets or answers from a cache.' },
  );
}

function wrapAllTexts(value: Value): Value {
  if (isRecord(value)) return mapRecord(value, wrapAllTexts);
  return typeof value === 'string' ? new Secret(value) : value;
}

/** Reads the stored profile. If it was removed meanwhile, nothing is sent: its preserved members could not be sent along. */
function readStoredConfig(found: Awaited<ReturnType<Get>>, { name }: ListedItem): ValueRecord {
  const config = typeof found === 'symbol' ? undefined : readPath(found, ['config']);
  if (isRecord(config)) return config;
  throw new SetpointError(
    'contended',
    `The service has no LLM profile ${name} any more. It was listed just before. This request changed nothing.`,
  );
}

/** Reports whether a secret member is preserved: the file does not remove it, and no other value is sent. */
function isKept(work: Profile, name: string): boolean {
  if (!isSecretMember(name)) return false;
  const { members } = work.item;
  const isLinked = !isEmpty(members?.['connection']);
  if (name === 'api_key' && isLinked) return false;
  return members?.[name] !== null && !Object.hasOwn(createProfileBody(work), name);
}
