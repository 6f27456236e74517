import { CONNECTIONS_FORM } from '../../model/collection-forms.ts';
import type { ListedItem } from '../../model/collection.ts';
import { SetpointError } from '../../model/error.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import {
  isEmpty,
  isRecord,
  mapRecord,
  recordOf,
  sameValue,
  valueAt,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import {
  removalBy,
  type Call,
  type Get,
  type ItemRequest,
  type ItemWork,
  type Wire,
} from '../collections/wire.ts';
import { CONNECTION_ID, connectionsBy } from '../provider-connections.ts';
import { isSecretMember } from './read.ts';

/** How a body keeps the secrets that are stored and not sent. */
type Keeping = (path: string, get: Get, work: ItemWork) => Promise<Kept>;

interface Kept {
  readonly members: ValueRecord;
  /** Whether secrets that are sent, or kept, are stored. */
  readonly includes: boolean;
}

export function requestsFor(
  work: ItemWork,
  base: string,
  keeping: Keeping,
): readonly ItemRequest[] {
  const { item, there, changes } = work;
  const { name, members } = item;
  const path = `${base}/${encodeURIComponent(name)}`;
  if (members === null)
    return there === undefined
      ? []
      : [removalBy(name, { method: 'DELETE', path, body: null, refusals: HELD })];
  const sent = sentOf(work);
  const isReplaced = changes.some(({ action }) => action === 'rotate');
  return [
    {
      kind: 'store',
      name,
      shows: members,
      call: async (get): Promise<Call> => {
        const { members: kept, includes } = await keeping(path, get, work);
        const linked = await linkOf(get, members);
        const llm = recordOf([...Object.entries(kept), ...Object.entries(sent), ...linked]);
        return {
          method: 'POST',
          path,
          body: recordOf([
            ['llm', llm],
            ['include_secrets', includes],
          ]),
          refusals: REFUSALS,
        };
      },
      isShown: ({ items, whole }) =>
        !isReplaced &&
        items.some((one) => one.name === name && isLike(one.members, members, whole)),
    },
  ];
}

const HELD = { 409: 'an agent profile still names it' };
const REFUSALS = {
  404: 'it has no settings yet: declare some, so that they are stored first',
  409: 'the service takes no more LLM profiles',
};

/** What is sent of a profile: all of it but secrets that stay, and what is null: what is left out has its default. */
function sentOf({ item, changes, there }: ItemWork): ValueRecord {
  const changed = new Set(changes.map(({ path: [, , member = ''] }) => member));
  return recordOf(
    Object.entries(item.members ?? {}).filter(([name, value]) => {
      if (name === 'connection' || value === null) return false;
      return !isSecretMember(name) || there === undefined || changed.has(name) || isRecord(value);
    }),
  );
}

/** The id of the connection that a profile names. */
async function linkOf(get: Get, { connection }: ValueRecord): Promise<[string, Value][]> {
  if (typeof connection !== 'string') return [];
  const id = (await connectionsBy(get, 'display_name', 'id')).get(connection);
  if (id !== undefined) return [[CONNECTION_ID, id]];
  throw new SetpointError(
    'unfit-for-service',
    `This service has no provider connection named ${connection}. Nothing was written by this.`,
    { hint: `Declare it under ${CONNECTIONS_FORM.block}, or check the name.` },
  );
}

/**
 * An app-server keeps the key of a profile that is sent without one, and nothing else that is secret. Headers can be read and sent along; whoever has
 * others there must declare them.
 */
export async function inSettings(path: string, get: Get, work: ItemWork): Promise<Kept> {
  const { item, there } = work;
  const includes = item.members?.['api_key'] !== null;
  if (there === undefined) return { members: recordOf([]), includes };
  const found = await get(path);
  const config = configIn(found, there);
  const kept = Object.entries(config).filter(
    ([name, value]) => isKept(work, name) && name !== 'api_key' && isRecord(value),
  );
  return { members: recordOf(kept), includes };
}

/** An Agent Server deletes every secret that is not sent: they are read as it has encrypted them, and sent back. */
export async function inFile(path: string, get: Get, work: ItemWork): Promise<Kept> {
  const { there } = work;
  if (there === undefined) return { members: recordOf([]), includes: true };
  const found = await get(path, { 'X-Expose-Secrets': 'encrypted' });
  const kept = Object.entries(configIn(found, there)).filter(
    ([name, value]) => isKept(work, name) && value !== null,
  );
  return { members: recordOf(kept.map(([name, value]) => [name, wrapped(value)])), includes: true };
}

function wrapped(value: Value): Value {
  if (isRecord(value)) return mapRecord(value, wrapped);
  return typeof value === 'string' ? new Secret(value) : value;
}

/** What is stored of a profile. Nothing is sent of one that went in between: what is kept of it could not be sent along. */
function configIn(found: Awaited<ReturnType<Get>>, { name }: ListedItem): ValueRecord {
  const config = typeof found === 'symbol' ? undefined : valueAt(found, ['config']);
  if (isRecord(config)) return config;
  throw new SetpointError(
    'contended',
    `The service has no LLM profile ${name} any more, which it listed right before. Nothing was written by this.`,
  );
}

/** Whether a secret member stays as the service has it: the file does not say that it goes, and nothing else is sent. */
function isKept(work: ItemWork, name: string): boolean {
  if (!isSecretMember(name)) return false;
  const { members } = work.item;
  const isLinked = !isEmpty(members?.['connection']);
  if (name === 'api_key' && isLinked) return false;
  return members?.[name] !== null && !Object.hasOwn(sentOf(work), name);
}

/** Whether a list shows a profile as it is declared; of a secret it shows whether there is one. */
function isLike(
  actual: ValueRecord,
  declared: ValueRecord,
  whole: Wire['whole'] = (_, value) => value,
): boolean {
  return Object.entries(declared).every(([name, value]) => {
    const held = actual[name] ?? null;
    const isKnown = held instanceof Secret && !(held instanceof UnseenSecret);
    if (isSecretMember(name) && !isKnown) return isEmpty(held) === isEmpty(value);
    return sameValue(whole(name, held), whole(name, value));
  });
}
