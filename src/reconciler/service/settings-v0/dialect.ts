import type { Dialect, DialectField } from '../../model/dialect.ts';
import { type FieldName, fields, type SpecifiedField } from '../../model/field.ts';
import type { ValueRecord } from '../../model/value.ts';
import { PROVIDER_DEFAULTS } from '../../model/provider-defaults.ts';

/** The path of the settings in this dialect. GET reads the record, POST replaces it. Source: specification 3. */
export const SETTINGS_PATH = '/api/settings';

/** The member of an answer whose keys name the provider tokens that are stored. */
export const TOKEN_NAMES = 'provider_tokens_set';

const LOST: Readonly<Partial<Record<FieldName, Partial<DialectField>>>> = {
  sandbox_api_key: {
    loses: 'the service stores asterisks in its place, so that the key never works',
  },
  secrets_store: {
    loses:
      'the service drops what it is sent here; what the file has here is set as git_providers and secrets',
  },
};

/** Each field as the specification defines it, and what every release that was asked does to two of them. */
export const SETTINGS_V0: Dialect = {
  name: 'settings-v0',
  writes: 'record',
  mcp: 'config',
  nullsMayHide: true,
  entryMembers: {
    sse_servers: ['url', 'api_key'],
    stdio_servers: ['name', 'command', 'args', 'env'],
    shttp_servers: ['url', 'api_key', 'timeout'],
  },
  timeouts: [1, 3600],
  lacks: new Map(),
  fields: new Map(fields().map((field) => [field.name, toDialectField(field)])),
};

/** The dialect as the services of a record have it. Source: behaviour 4.5. */
export function createV0Dialect(record: ValueRecord): Dialect {
  if (!('user_version' in record)) return SETTINGS_V0;
  if (record['v1_enabled'] === null) return KEEPING;
  return 'disabled_skills' in record ? SKILLED : INFERRING;
}

/** Releases from 1.2 on. 1.1 clears the key, and cannot be distinguished from them. */
const KEEPING = withFields(SETTINGS_V0, {
  search_api_key: { onNull: 'keeps', clearWith: null, kept: 'releases from 1.2 on' },
});

/** Releases from 1.4 on. In earlier ones nothing is inferred, and no address counts as the provider's. */
const INFERRING = withFields(KEEPING, {
  llm_model: { renews: ['llm_base_url'] },
  llm_base_url: { shownAsNull: PROVIDER_DEFAULTS },
});

/** Releases from 1.6 on, which turn skills off. */
const SKILLED: Dialect = {
  ...INFERRING,
  native: new Map([['disabled_skills', { onNull: 'refuses' }]]),
};

function withFields(
  dialect: Dialect,
  changes: Readonly<Record<string, Partial<DialectField>>>,
): Dialect {
  const fields = new Map(dialect.fields);
  for (const [name, field] of dialect.fields)
    if (changes[name] !== undefined) fields.set(name, { ...field, ...changes[name] });
  return { ...dialect, fields };
}

function toDialectField(field: SpecifiedField): DialectField {
  const { name, onNull, clearWith, default: absent } = field;
  return { name, onNull, clearWith, absent, reads: classifyReading(field), ...LOST[name] };
}

function classifyReading({
  name,
  readable,
  secret,
  setFlag,
}: SpecifiedField): DialectField['reads'] {
  if (readable) return 'value';
  if (name === 'secrets_store') return 'names';
  return secret && setFlag !== null ? 'presence' : 'nothing';
}

/**
 * The field whose flag a member of an answer is. A flag reports whether a secret is stored, and is never sent back. Null if the member is
 * not a flag. A boolean whose name ends in `_set` is one, whether this version knows the field or not.
 */
export function findFlagField(member: string, value: unknown): string | null {
  const isFlag = FLAGS.has(member) || (member.endsWith('_set') && typeof value === 'boolean');
  if (!isFlag) return null;
  return member.endsWith('_set') ? member.slice(0, -'_set'.length) : member;
}

const FLAGS: ReadonlySet<string> = new Set(fields().flatMap(({ setFlag }) => setFlag ?? []));

/** The release that a record comes from, by the members that each release added. Every release shows all of its members. */
export function inferV0Release(record: ValueRecord): string {
  if ('disabled_skills' in record) return '1.6';
  if ('user_version' in record) return record['v1_enabled'] === null ? '1.1 or 1.2' : '1.1 to 1.5';
  return 'v1_enabled' in record ? '1.0' : '0.62 or earlier';
}
