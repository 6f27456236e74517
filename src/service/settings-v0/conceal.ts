import { fieldNamed } from '../../model/field.ts';
import { bareUrl, isSensitiveAddress, isSensitiveUrl } from '../../model/address.ts';
import { Identity } from '../../model/identity.ts';
import { isMcpList, type McpList } from '../../model/mcp.ts';
import { isSensitiveName, looksLikeToken, shownArgument } from '../../model/secret-words.ts';
import { Secret } from '../../model/secret.ts';
import {
  isList,
  isRecord,
  recordOf,
  WireNumber,
  type Value,
  type ValueRecord,
} from '../../model/value.ts';
import { NumberSecret } from '../json.ts';
import { TOKEN_NAMES } from './dialect.ts';

/**
 * Wraps what must not be seen of an answer: password fields, everything in secrets_store, all of mcp_config but the members
 * that are known to hold no secret, urls that carry userinfo, a query or a fragment, fields of a later version that have a
 * flag, and whatever has the name of a secret. In unknown fields also texts with the form of tokens.
 */
export function conceal(record: ValueRecord): ValueRecord {
  return mapRecord(record, (value, name) => {
    const field = fieldNamed(name);
    if (field?.secret === true) return value === '' ? value : sealed(value);
    if (name === 'secrets_store' || isFlagged(record, name)) return sealed(value);
    if (name === 'mcp_config') return isRecord(value) ? mapRecord(value, concealList) : open(value);
    if (field !== undefined) return open(value);
    return name === TOKEN_NAMES ? value : concealMember(value, name);
  });
}

/** A flag reports whether a secret is stored: a field of a later version that has one is a secret, whatever its name. */
function isFlagged(record: ValueRecord, name: string): boolean {
  return fieldNamed(name) === undefined && typeof record[`${name}_set`] === 'boolean';
}

function concealList(value: Value, name: string): Value {
  if (!isMcpList(name) || !isList(value)) return sealed(value);
  return value.map((entry) => {
    if (isRecord(entry))
      return mapRecord(entry, (member, key) => concealSetting(name, member, key));
    // What is no entry may be a command line, with secrets among its arguments.
    return sealed(entry);
  });
}

/** A member of an mcp entry: what is not known to be harmless is masked. */
function concealSetting(list: McpList, value: Value, name: string): Value {
  if (name === 'url' && list !== 'stdio_servers') return address(value);
  if (name === 'timeout' && typeof value === 'number') return value;
  if (list !== 'stdio_servers' || typeof value !== 'string') return sealed(value);
  const open = name === 'name' || (name === 'command' && !holdsSecret(value));
  return open ? value : sealed(value);
}

/** Whether one of the words of a command line is a secret by its flag or its form. */
function holdsSecret(command: string): boolean {
  const words = command.split(/\s+/);
  return words.some((word, index) => shownArgument(word, words[index - 1] ?? null) !== word);
}

function address(value: Value): Value {
  if (typeof value !== 'string') return sealed(value);
  return isSensitiveAddress(value) ? new Secret(value, null, new Identity(bareUrl(value))) : value;
}

function concealMember(value: Value, name: string): Value {
  return isSensitiveName(name) ? sealed(value) : unknown(value);
}

/** A value of an unknown field whose name is not that of a secret. */
function unknown(value: Value): Value {
  if (typeof value === 'string' && looksLikeToken(value)) return new Secret(value);
  if (isList(value)) return value.map(unknown);
  return isRecord(value) ? mapRecord(value, concealMember) : open(value);
}

/** A value that may be shown, unless it is an address with a secret in it. */
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
