import { fieldNamed } from '../../model/field.ts';
import { isMcpList, type McpList } from '../../model/mcp.ts';
import { isList, isRecord, mapRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { concealAddress, concealCommand, concealPlace, sealed } from '../conceal.ts';
import { TOKEN_NAMES } from './dialect.ts';

/**
 * Wraps what must not be seen of an answer: password fields, everything in secrets_store, all of mcp_config but the members
 * that are known to hold no secret, urls that carry userinfo, a query or a fragment, and fields of a later version.
 */
export function concealRecord(record: ValueRecord): ValueRecord {
  return mapRecord(record, (value, name) => {
    const field = fieldNamed(name);
    if (field?.secret === true) return value === '' ? value : sealed(value);
    if (name === 'secrets_store' || isFlagged(record, name)) return sealed(value);
    if (name === 'mcp_config' && isRecord(value)) return mapRecord(value, concealList);
    return name === TOKEN_NAMES ? value : concealPlace([name], value);
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
  if (name === 'url' && list !== 'stdio_servers') return concealAddress(value);
  if (name === 'timeout' && typeof value === 'number') return value;
  if (list !== 'stdio_servers' || typeof value !== 'string') return sealed(value);
  if (name === 'command') return concealCommand(value);
  return name === 'name' ? value : sealed(value);
}
