import { isRecord, type Value, type ValueRecord } from '../../model/value.ts';
import type { Ask } from '../ask.ts';
import { namedRelease, type ReleaseNaming } from '../named-release.ts';

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
export function releaseOf(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null) return null;
  if (version > KNOWN_SCHEMA) return `later than ${NEWEST}`;
  if (version < KNOWN_SCHEMA) return RELEASES.get(version) ?? null;
  const conversation = record['conversation_settings'];
  const isNewest = isRecord(conversation) && 'default_runtime' in conversation;
  return isNewest ? `${NEWEST} or later` : '1.56';
}

/** What to know of a record of a later release; null if setpoint knows the release. */
export function newerThanKnown(record: ValueRecord): string | null {
  const version = schemaVersion(record);
  if (version === null || version <= KNOWN_SCHEMA) return null;
  return `The server is newer than setpoint knows (agent_settings.schema_version is ${version}, the newest known one ${KNOWN_SCHEMA}); it is treated as release ${NEWEST}.`;
}

export function schemaVersion(record: ValueRecord): number | null {
  const settings = record['agent_settings'];
  const version = isRecord(settings) ? settings['schema_version'] : undefined;
  return typeof version === 'number' ? version : null;
}

/** Whether the server says that it is of a release before 1.31. One that does not say it may be. */
export async function isBefore131(ask: Ask): Promise<boolean> {
  const version = await namedRelease(ask, SERVER_INFO);
  return version === null || !/^(?:1\.(?:3[1-9]|[4-9]\d|\d{3,})|[2-9]|\d{2,})\b/.test(version);
}
