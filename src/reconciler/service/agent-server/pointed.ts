import type { SetpointError } from '../../model/error.ts';
import { UnseenSecret } from '../../model/secret.ts';
import type { ObservedState, PointerTarget } from '../../model/state.ts';
import { isRecord, createRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { type Ask, readJsonReply } from '../request.ts';
import { type Reply } from '../exchange.ts';
import type { Connection } from '../connect.ts';
import { createStatusError } from '../status-error.ts';
import { concealRecord } from '../conceal.ts';
import { withTokens } from '../predict.ts';

/** The paths of what pointers name. Agent profiles are named by an id, and listing them writes: they are not requested. */
const COLLECTIONS: ReadonlyMap<string, string> = new Map([
  ['active_profile', '/api/profiles'],
  ['active_meta_profile', '/api/meta-profiles'],
]);

const CONNECTIONS = '/api/llm/provider-connections';

/** The form of a name. Under any other the server has nothing. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** An observed state with what the declared pointers name, where they name something else than the service does. */
export async function resolvePointers(
  connection: Connection,
  state: ObservedState,
  pointers: ReadonlyMap<string, string>,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  const pointed = new Map<string, PointerTarget>();
  for (const [pointer, name] of pointers) {
    const collection = COLLECTIONS.get(pointer);
    if (collection === undefined || state.answer[pointer] === name) continue;
    if (!NAME.test(name)) {
      pointed.set(pointer, { is: 'missing', llm: null });
      continue;
    }
    const { place, reply } = await ask(`${collection}/${name}`);
    const read = reply.status === 200 || reply.status === 404 ? readJsonReply(place, reply) : null;
    if (read === null) return createStatusError(connection, place, reply);
    if ('error' in read) return read.error;
    if (reply.status === 404) {
      if (!isUnknownPath(read.json)) pointed.set(pointer, { is: 'missing', llm: null });
    } else if (pointer === 'active_profile') {
      const found = await readProfileLlm(connection, read.json, ask);
      if ('code' in found) return found;
      pointed.set(pointer, found);
    } else pointed.set(pointer, { is: 'there', llm: null });
  }
  return pointed.size === 0 ? state : { ...state, pointed };
}

/** A release without the collection has no such path; one that has it names what is missing. */
function isUnknownPath(body: Value): boolean {
  return isRecord(body) && body['detail'] === 'Not Found';
}

/** Returns the llm that a profile produces. If it names a connection, address and key are those of the connection. */
async function readProfileLlm(
  connection: Connection,
  body: Value,
  ask: Ask,
): Promise<PointerTarget | SetpointError> {
  const config = isRecord(body) ? body['config'] : undefined;
  if (!isRecord(body) || !isRecord(config)) return { is: 'there', llm: null };
  const id = config['provider_connection_id'];
  if (typeof id !== 'string') return toStoredLlm(config, body['api_key_set'] === true);
  const { place, reply } = await ask(CONNECTIONS);
  if (reply.status !== 200) return createStatusError(connection, place, reply);
  const linked = findConnectionRecord(place, reply, id);
  if (linked === null) return { is: 'broken', llm: null };
  const whole = createRecord({ ...config, base_url: linked['base_url'] ?? null });
  return toStoredLlm(whole, linked['api_key_set'] === true);
}

function findConnectionRecord(place: string, reply: Reply, id: string): ValueRecord | null {
  const read = readJsonReply(place, reply);
  const list = 'json' in read && Array.isArray(read.json) ? (read.json as readonly Value[]) : [];
  return list.filter(isRecord).find((one) => one['id'] === id) ?? null;
}

/** The llm of a profile as the settings have it stored once it is active. */
function toStoredLlm(llm: ValueRecord, isKeySet: boolean): PointerTarget {
  const made = withTokens(concealRecord(llm, 'Llm'));
  const key = isKeySet ? new UnseenSecret() : null;
  return {
    is: 'there',
    llm: createRecord({ ...made, api_key: key }),
  };
}
