import type { Organization } from '../model/state.ts';
import { isRecord, WireNumber, type Value, type ValueRecord } from '../model/value.ts';
import { isJsonReply, type Reply } from './exchange.ts';
import type { Connection } from './connect.ts';
import type { KnownOrganization } from './network.ts';
import { type Ask, readJsonReply } from './request.ts';
import { isSameRecord } from './server-writes.ts';
import { createStatusError } from './status-error.ts';

/** The path at which a service describes organisations. Source: behaviour 7. */
export const SAAS_PATH = '/saas';
export const KEY_PATH = '/api/keys/current';
export const USER_PATH = '/api/v1/users/me';

export function membersPath(id: string): string {
  return `/api/organizations/${encodeURIComponent(id)}/members/count`;
}

/** The lifetimes of a lookup, in milliseconds. The owner of a key that is not bound can switch with a click. */
const BELIEVED = { unbound: 60_000, other: 3_600_000 };

/**
 * The organisation that a key writes to; null if the service has none. It is asked once for all that a run, or a controller, has of the
 * same address and key. Throws a SetpointError if the service cannot be asked.
 */
export async function findOrganization(
  connection: Connection,
  ask: Ask,
): Promise<Organization | null> {
  const { organizations, clock, base, secrets } = connection;
  const found = organizations.find((one) => isSameRecord(one, { address: base.href, secrets }));
  const age = found === undefined ? Infinity : clock.monotonic() - found.at;
  if (found !== undefined) {
    const organization = await found.asked;
    const limit = organization?.key.bound === false ? BELIEVED.unbound : BELIEVED.other;
    if (age < limit) return organization;
    organizations.splice(organizations.indexOf(found), 1);
  }
  const entry: KnownOrganization = {
    address: base.href,
    secrets,
    at: clock.monotonic(),
    asked: requestOrganization(connection, ask),
  };
  organizations.push(entry);
  try {
    return await entry.asked;
  } catch (thrown) {
    organizations.splice(organizations.indexOf(entry), 1);
    throw thrown;
  }
}

/** Asks a service whose settings are those of an app server. One that has no organisations answers two requests. */
async function requestOrganization(connection: Connection, ask: Ask): Promise<Organization | null> {
  const saas = await requestRecord(connection, ask, SAAS_PATH);
  const { place, reply } = await ask(KEY_PATH);
  refuseUnclear(connection, place, reply);
  const key = readRecordReply(place, reply);
  const hasKeys =
    readTextValue(key?.['user_id']) !== null || (reply.status === 400 && isJsonReply(reply));
  if (saas?.['saas'] !== true && !hasKeys) return null;
  const user = await requestRecord(connection, ask, USER_PATH);
  const id = readTextValue(user?.['org_id']) ?? readTextValue(key?.['org_id']);
  const owner = readTextValue(key?.['user_id']);
  const bound = key === null ? null : readTextValue(key['bound_org_id']) !== null;
  return {
    id,
    name: readTextValue(user?.['org_name']),
    personal: id !== null && id === owner,
    members: id === null ? null : await memberCount(connection, ask, id),
    role: readTextValue(user?.['role']),
    key: { name: readTextValue(key?.['name']), user: owner, bound },
  };
}

async function requestRecord(
  connection: Connection,
  ask: Ask,
  path: string,
): Promise<ValueRecord | null> {
  const { place, reply } = await ask(path);
  refuseUnclear(connection, place, reply);
  return readRecordReply(place, reply);
}

async function memberCount(connection: Connection, ask: Ask, id: string): Promise<number | null> {
  const { place, reply } = await ask(membersPath(id));
  refuseUnclear(connection, place, reply);
  const read = reply.status === 200 ? readJsonReply(place, reply) : null;
  if (read === null || 'error' in read) return null;
  return whole(isRecord(read.json) ? read.json['count'] : read.json);
}

/** An answer that does not identify the service: a client that cannot know whether a key is shared must not write it. */
function refuseUnclear(connection: Connection, place: string, reply: Reply): void {
  const { status } = reply;
  if (status >= 500 || status === 429 || status === 408)
    throw createStatusError(connection, place, reply);
}

function readRecordReply(place: string, reply: Reply): ValueRecord | null {
  if (reply.status !== 200 || !isJsonReply(reply)) return null;
  const read = readJsonReply(place, reply);
  return 'json' in read && isRecord(read.json) ? read.json : null;
}

const LONGEST = 100;

function readTextValue(value: Value | undefined): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, LONGEST) : null;
}

function whole(value: Value | undefined): number | null {
  const number = value instanceof WireNumber ? Number(value.token) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : null;
}
