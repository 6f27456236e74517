import type { ValueRecord } from '../../model/value.ts';

/** The release that a record comes from, by the members that each release added. Every release shows all of its members. */
export function releaseOf(record: ValueRecord): string {
  if ('disabled_skills' in record) return '1.6';
  if ('user_version' in record) return record['v1_enabled'] === null ? '1.1 or 1.2' : '1.1 to 1.5';
  return 'v1_enabled' in record ? '1.0' : '0.62 or earlier';
}
