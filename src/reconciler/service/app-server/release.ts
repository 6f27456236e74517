import { isList, isRecord, type Value, type ValueRecord } from '../../model/value.ts';
import type { SetpointError } from '../../model/error.ts';
import { type Ask, readJsonReply, requestRelease, OPENAPI } from '../request.ts';
import type { Connection } from '../connect.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';
import { SETTINGS_PATH } from './dialect.ts';
import { schemaVersion } from '../native.ts';

/** The version of the agent settings that setpoint knows: releases 1.9 to 1.11 have it. */
export const KNOWN_SCHEMA = 4;

/** The newest release that setpoint knows. */
export const NEWEST = '1.11';

/** The release that a record comes from, in the nesting of the server or under setpoint's own names. Null if nothing shows it. */
export function findAppServerRelease(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null || version < KNOWN_SCHEMA) return null;
  if (version > KNOWN_SCHEMA) return `later than ${NEWEST}`;
  return 'active_agent_profile_id' in record ? NEWEST : '1.9 or 1.10';
}

/** Describes the risks of a record of a later release; null if setpoint knows the release. */
export function describeNewerService(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null || version <= KNOWN_SCHEMA) return null;
  return `The service is newer than setpoint knows (agent_settings.schema_version is ${version}, the newest known one ${KNOWN_SCHEMA}); it is treated as release ${NEWEST}.`;
}

/**
 * An empty store does not show the release. Written values must have the form that the service reads again: the release is requested, and
 * if none is named, the service's own fields decide: releases from 1.9 on have one that 1.7 and 1.8 have not.
 */
export async function emptyStoreRelease(
  connection: Connection,
  place: string,
  ask: Ask,
): Promise<{ readonly release: string | null } | SetpointError> {
  const release = await requestRelease(ask, OPENAPI);
  if (release !== null)
    return /^1\.[78](\.|$)/.test(release) ? tooOld(place, `release ${release}`) : { release };
  const schema = await ask(SCHEMA_PATH);
  const { status } = schema.reply;
  if (status >= 500 || status === 429 || status === 408)
    return createStatusError(connection, schema.place, schema.reply);
  const read = status === 200 ? readJsonReply(schema.place, schema.reply) : null;
  const keys = read !== null && 'json' in read ? listSchemaKeys(read.json) : [];
  if (keys.includes(SINCE_1_9)) return { release: null };
  return keys.length === 0
    ? createReleaseError(place)
    : tooOld(place, `release 1.7 or 1.8 (GET ${SCHEMA_PATH} lists no ${SINCE_1_9})`);
}

/** The path at which the service lists its own fields. */
const SCHEMA_PATH = `${SETTINGS_PATH}/agent-schema`;

/** A field that releases from 1.9 on list. Source: behaviour 4. */
const SINCE_1_9 = 'llm.auth_type';

function listSchemaKeys(body: Value): readonly Value[] {
  const sections = isRecord(body) && isList(body['sections']) ? body['sections'] : [];
  return sections
    .flatMap((section) => (isRecord(section) && isList(section['fields']) ? section['fields'] : []))
    .flatMap((field) => (isRecord(field) ? [field['key'] ?? null] : []));
}

function createReleaseError(place: string): ServiceError {
  return new ServiceError(
    'dialect-not-spoken',
    `${place} was answered by an empty store, and nothing shows the release: 1.7 and 1.8 have mcp_config in another form.`,
    {
      hint: `Let GET ${OPENAPI.path} or GET ${SCHEMA_PATH} through to the service. setpoint supports 1.9 or later.`,
    },
  );
}

/** Before 1.9 the map of mcp servers has another form. */
export function tooOld(place: string, release: string): ServiceError {
  return new ServiceError(
    'dialect-not-spoken',
    `${place} was answered by ${release}, whose mcp_config has another form.`,
    { hint: 'Upgrade the service: setpoint supports app-server 1.9 or later.' },
  );
}
