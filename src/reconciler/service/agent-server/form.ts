import type { SetpointError } from '../../model/error.ts';
import type { Path } from '../../model/path.ts';
import { isRecord, type Value, readPath, type ValueRecord } from '../../model/value.ts';
import { type Ask, requestRelease, type ReleaseNaming } from '../request.ts';
import { unlikePlace, schemaVersion } from '../native.ts';
import { ServiceError } from '../service-error.ts';
import { AGENT, CONVERSATION, KEY_FLAG, MISC, PLACES, PREFERENCES } from './dialect.ts';

/** `agent_settings.schema_version` of the first release whose mcp_config may be a plain map. */
const OLDEST_SCHEMA = 4;

/** Explains why the body of a 200 is not a known record of this dialect; null if it is. */
export async function recordProblem(
  place: string,
  body: Value,
  ask: Ask,
): Promise<SetpointError | null> {
  const settings = isRecord(body) ? body[AGENT] : undefined;
  if (!isRecord(body) || !isRecord(settings) || typeof body[KEY_FLAG] !== 'boolean')
    return otherService(place, body);
  if (await isBeforePlainMap(settings, ask)) {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered by a release before 1.31 of the agent server, whose mcp_config has another form.`,
      { hint: 'Upgrade the server: setpoint supports agent-server 1.31 or later.' },
    );
  }
  const kind = settings['agent_kind'];
  if (kind !== 'openhands' && kind !== 'acp') {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered with an agent_kind other than openhands and acp, whose settings have other fields.`,
      { hint: LATER },
    );
  }
  // A later release may have moved what it does not show: there what every record has must be where it was.
  const later = (schemaVersion(body) ?? 0) > KNOWN_SCHEMA;
  const isRequired = ([first]: Path) => later && kind === 'openhands' && first !== MISC;
  const unlike = unlikePart(body) ?? unlikePlace(body, PLACES, isRequired);
  if (unlike === null) return null;
  return new ServiceError(
    'dialect-not-spoken',
    `${place} was answered with ${unlike.join('.')} in a form that this version of setpoint does not know.`,
    { hint: LATER },
  );
}

const LATER = 'The server may be newer than this setpoint. Look for a newer setpoint.';

function otherService(place: string, body: Value): ServiceError {
  if (isRecord(body) && typeof body['llm_api_key_set'] === 'boolean') {
    const spoken = isRecord(body[AGENT]) ? 'app-server' : 'settings-v0';
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered with the ${spoken} API (it has llm_api_key_set), but server.dialect is agent-server.`,
      { hint: 'Remove server.dialect so that setpoint detects it, or check server.url.' },
    );
  }
  return new ServiceError(
    'not-this-service',
    `${place} was answered with JSON that has no agent_settings and ${KEY_FLAG}, so it is not the settings of an agent server.`,
  );
}

/** Records that a write reaches into: one of another type would be replaced by it. */
function unlikePart(body: ValueRecord): readonly string[] | null {
  const required = [[CONVERSATION], [MISC]];
  const optional = [[MISC, PREFERENCES]];
  return (
    required.find((path) => !isRecord(readPath(body, path))) ??
    optional.find((path) => {
      const value = readPath(body, path) ?? null;
      return value !== null && !isRecord(value);
    }) ??
    null
  );
}

/**
 * Up to 1.30 the map of mcp servers was wrapped in `mcpServers`, and `{}` if there was none. Then only the release shows the form, which
 * the server reports without a key.
 */
async function isBeforePlainMap(settings: ValueRecord, ask: Ask): Promise<boolean> {
  const version = settings['schema_version'];
  if (typeof version !== 'number' || version < OLDEST_SCHEMA) return true;
  if (version > OLDEST_SCHEMA) return false;
  const config = settings['mcp_config'] ?? null;
  if (!isRecord(config)) return config !== null;
  if (Object.keys(config).length > 0) return isRecord(config['mcpServers']);
  return isBefore131(ask);
}

/** Names the release of an agent server, without a key. */
export const SERVER_INFO: ReleaseNaming = { path: '/server_info', at: ['version'] };

/** The version of the agent settings in the newest release that setpoint knows. */
export const KNOWN_SCHEMA = 9;
const NEWEST = '1.57';

/** The releases that have a version of the agent settings, from the oldest that setpoint speaks to. */
const RELEASES: ReadonlyMap<Value, string> = new Map([
  [4, '1.31 to 1.36'],
  [5, '1.37 to 1.47'],
  [6, '1.48 to 1.50'],
  [8, '1.51 to 1.55'],
]);

/** The release that a record comes from, in the nesting of the server or under setpoint's own names. Null if nothing shows it. */
export function findAgentServerRelease(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null) return null;
  if (version > KNOWN_SCHEMA) return `later than ${NEWEST}`;
  if (version < KNOWN_SCHEMA) return RELEASES.get(version) ?? null;
  const conversation = record['conversation_settings'];
  const isNewest = isRecord(conversation) && 'default_runtime' in conversation;
  return isNewest ? `${NEWEST} or later` : '1.56';
}

/** Describes the risks of a record of a later release; null if setpoint knows the release. */
export function describeNewerServer(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null || version <= KNOWN_SCHEMA) return null;
  return `The server is newer than setpoint knows (agent_settings.schema_version is ${version}, the newest known one ${KNOWN_SCHEMA}); it is treated as release ${NEWEST}.`;
}

/** Reports whether the server reports a release before 1.31. One that reports none may be. */
export async function isBefore131(ask: Ask): Promise<boolean> {
  const version = await requestRelease(ask, SERVER_INFO);
  return version === null || !/^(?:1\.(?:3[1-9]|[4-9]\d|\d{3,})|[2-9]|\d{2,})\b/.test(version);
}
