import { isSensitiveName } from '../model/field.ts';
import { MCP_DEFAULTS, type McpList } from '../model/mcp.ts';
import {
  isList,
  isRecord,
  recordOf,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { holdsMask } from './holds-mask.ts';
import { isEmpty } from './plan-plain.ts';

/**
 * How a declared entry compares with the one the service has. A member that comes back as a mask, or is declared by a reference
 * that was not looked up, cannot be compared.
 */
export interface EntryComparison {
  readonly differing: readonly string[];
  readonly unreadable: readonly string[];
}

/** The members the file declares, compared by meaning; a member the service leaves out has its default. */
export function compareEntry(
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
): EntryComparison {
  const differing: string[] = [];
  const unreadable: string[] = [];
  for (const [name, value] of Object.entries(declared)) {
    const found = actual[name] ?? MCP_DEFAULTS[list][name] ?? null;
    if (isEmpty(value) && isEmpty(found)) continue;
    if (holdsMask(found) || holdsMask(value)) unreadable.push(name);
    else if (!sameMember(value, found)) differing.push(name);
  }
  return { differing, unreadable };
}

/** null stands for an empty list and an empty map too: the service reads them alike. */
function sameMember(declared: Value, actual: Value): boolean {
  if (declared === null && isList(actual)) return actual.length === 0;
  if (declared === null && isRecord(actual)) return Object.keys(actual).length === 0;
  return sameValue(declared, actual);
}

/**
 * The secrets of an entry that the service has but may not say: an api_key that comes back as nothing or as a mask, a
 * variable that does. Sending the entry back without them wipes them.
 */
export function unreadableSecrets(list: McpList, actual: ValueRecord): string[] {
  if (list !== 'stdio_servers') {
    const key = actual['api_key'];
    return isEmpty(key) || holdsMask(key) ? ['api_key'] : [];
  }
  const env = actual['env'];
  const lost: string[] = holdsMask(actual['args']) ? ['args'] : [];
  if (!isRecord(env)) return [...lost, 'env'];
  for (const [name, value] of Object.entries(env)) {
    if (holdsMask(value) || (isSensitiveName(name) && isEmpty(value))) lost.push(`env.${name}`);
  }
  return lost;
}

/** Of those, the ones that surely hide something: what is let go of may well have no key. */
export function maskedSecrets(list: McpList, actual: ValueRecord): string[] {
  return unreadableSecrets(list, actual).filter((name) => {
    const [member = '', variable] = name.split('.');
    const value = actual[member];
    return holdsMask(variable !== undefined && isRecord(value) ? value[variable] : value);
  });
}

/** An entry as it is sent: what was read, with the declared members over it, and no mask among what was read. */
export function mergedEntry(declared: ValueRecord, actual: ValueRecord): ValueRecord {
  const carried = Object.entries(actual).filter(([, value]) => !holdsMask(value));
  return recordOf([...carried, ...Object.entries(declared)]);
}

/** The entries of a list as the service answered it: whatever is not a map is none. */
export function entriesOf(value: Value | undefined): readonly ValueRecord[] {
  return isList(value) ? value.filter(isRecord) : [];
}
