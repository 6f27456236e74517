import type { Dialect, DialectField } from '../../model/dialect.ts';
import { fields, type Field } from '../../model/field.ts';

/** Where this dialect has its settings. GET reads the record, POST replaces it. Source: specification 3. */
export const SETTINGS_PATH = '/api/settings';

/** The member of an answer whose keys name the provider tokens that are stored. */
export const TOKEN_NAMES = 'provider_tokens_set';

/** Each field as the specification defines it. */
export const SETTINGS_V0: Dialect = {
  name: 'settings-v0',
  writes: 'record',
  nullsMayHide: true,
  lacks: new Map(),
  fields: new Map(fields().map((field) => [field.name, specified(field)])),
};

function specified(field: Field): DialectField {
  const { name, onNull, clearWith } = field;
  return { name, onNull, clearWith, absent: field.default, reads: readsOf(field) };
}

function readsOf({ name, readable, secret, setFlag }: Field): DialectField['reads'] {
  if (readable) return 'value';
  if (name === 'secrets_store') return 'names';
  return secret && setFlag !== null ? 'presence' : 'nothing';
}

/**
 * The field whose flag a member of an answer is. A flag reports whether a secret is stored, and is never sent back. Null if the
 * member is no flag. A boolean whose name ends in `_set` is one, whether this version knows the field or not.
 */
export function flaggedField(member: string, value: unknown): string | null {
  const isFlag = FLAGS.has(member) || (member.endsWith('_set') && typeof value === 'boolean');
  return isFlag ? member.replace(/_set$/, '') : null;
}

const FLAGS: ReadonlySet<string> = new Set(fields().flatMap(({ setFlag }) => setFlag ?? []));
