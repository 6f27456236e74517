import { isRecord, type ValueRecord } from '../../model/value.ts';

/** The version of the agent settings that setpoint knows: releases 1.9 to 1.11 have it. */
export const KNOWN_SCHEMA = 4;

/** The newest release that setpoint knows. */
export const NEWEST = '1.11';

/** The release that a record comes from, in the nesting of the server or under setpoint's own names. Null if nothing shows it. */
export function releaseOf(record: ValueRecord): string | null {
  const settings = record['agent_settings'];
  const version = isRecord(settings) ? settings['schema_version'] : undefined;
  if (typeof version !== 'number' || version < KNOWN_SCHEMA) return null;
  if (version > KNOWN_SCHEMA) return `later than ${NEWEST}`;
  return 'active_agent_profile_id' in record ? NEWEST : '1.9 or 1.10';
}

/** What to know of a record of a later release; null if setpoint knows the release. */
export function newerThanKnown(record: ValueRecord): string | null {
  const settings = record['agent_settings'];
  const version = isRecord(settings) ? settings['schema_version'] : undefined;
  if (typeof version !== 'number' || version <= KNOWN_SCHEMA) return null;
  return `The service is newer than setpoint knows (agent_settings.schema_version is ${version}, the newest known one ${KNOWN_SCHEMA}); it is treated as release ${NEWEST}.`;
}
