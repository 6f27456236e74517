import { fieldNamed, isSensitiveName } from '../model/field.ts';
import { bareUrl, Identity, isSensitiveUrl } from '../model/identity.ts';
import { isMcpList } from '../model/mcp.ts';
import { Secret } from '../model/secret.ts';
import {
  isList,
  isRecord,
  recordOf,
  WireNumber,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { NumberSecret } from './number-secret.ts';

/**
 * Wraps what must not be seen of an answer: password fields, everything in secrets_store, env and args of stdio servers,
 * urls that carry userinfo, a query or a fragment, fields of a later version that have a flag, and whatever is under a name
 * that says it is a secret.
 */
export function conceal(record: ValueRecord): ValueRecord {
  return mapRecord(record, (value, name) => {
    if (fieldNamed(name)?.secret === true) return value === '' ? value : sealed(value);
    if (name === 'secrets_store' || isFlagged(record, name)) return sealed(value);
    if (name === 'mcp_config' && isRecord(value)) return mapRecord(value, concealList);
    return concealMember(value, name);
  });
}

/** A flag tells whether a secret is stored: a field of a later version that has one is a secret, whatever its name says. */
function isFlagged(record: ValueRecord, name: string): boolean {
  return fieldNamed(name) === undefined && typeof record[`${name}_set`] === 'boolean';
}

function concealList(value: Value, name: string): Value {
  if (!isMcpList(name) || !isList(value)) return concealMember(value, name);
  // What is no entry may be a command line, with secrets among its arguments.
  return value.map((entry) => (isRecord(entry) ? mapRecord(entry, concealSetting) : sealed(entry)));
}

/** A member of an mcp entry. */
function concealSetting(value: Value, name: string): Value {
  return name === 'env' || name === 'args' ? sealed(value) : concealMember(value, name);
}

function concealMember(value: Value, name: string): Value {
  return isSensitiveName(name, value) ? sealed(value) : open(value);
}

/** A value under a name that says nothing. */
function open(value: Value): Value {
  if (typeof value === 'string' && isSensitiveUrl(value)) {
    return new Secret(value, null, new Identity(bareUrl(value)));
  }
  if (isList(value)) return value.map(open);
  return isRecord(value) ? mapRecord(value, concealMember) : value;
}

/** A value of which every text and number is a secret. */
function sealed(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'number') return new Secret(value);
  if (value instanceof WireNumber) return new NumberSecret(value.token);
  if (isList(value)) return value.map(sealed);
  return isRecord(value) ? mapRecord(value, sealed) : value;
}

function mapRecord(record: ValueRecord, map: (value: Value, name: string) => Value): ValueRecord {
  return recordOf(Object.entries(record).map(([name, value]) => [name, map(value, name)] as const));
}
