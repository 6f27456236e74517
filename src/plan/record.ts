import { fieldNamed, isFlag } from '../model/field.ts';
import { MCP_LISTS, type McpList } from '../model/mcp.ts';
import type { ObservedState } from '../model/state.ts';
import { isList, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { holdsMask } from './holds-mask.ts';
import { mergedEntry } from './mcp-entry.ts';
import { isEmpty } from './plan-plain.ts';

/**
 * The body of a write. The service's POST replaces the whole record, so the body is what was read, with the declared fields
 * laid over it. Flags and the loaded secrets_store are never sent back; a password field is sent only when it is laid over,
 * because what a load answers for it is not its value.
 */
export function recordToStore(
  observed: ObservedState,
  overlay: ReadonlyMap<string, Value>,
): ValueRecord {
  const hidden = new Set(hiddenFields(observed));
  const carried = Object.entries(observed.record).filter(
    ([name, value]) => isCarried(name, value) && !overlay.has(name) && !hidden.has(name),
  );
  const values = carried.map(
    ([name, value]) =>
      [name, name === 'mcp_config' && isRecord(value) ? carriedMcp(value) : value] as const,
  );
  const declared = [...overlay].map(
    ([name, value]) =>
      [
        name,
        name === 'mcp_config' ? withUnreadableItems(value, observed.record[name]) : value,
      ] as const,
  );
  return recordOf([...values, ...declared]);
}

/**
 * The fields of a later version that the service holds and does not show: what comes back is a mask, or nothing at all while
 * the field's flag says that one is stored. They are never sent back, and a write without them may wipe them.
 */
export function hiddenFields({ record }: ObservedState): string[] {
  const flagged = new Set(
    Object.keys(record)
      .filter((name) => record[name] === true && isFlag(name, true))
      .map((name) => name.replace(/_set$/, '')),
  );
  return [...new Set([...Object.keys(record), ...flagged])].filter((name) => {
    const value = record[name];
    if (fieldNamed(name) !== undefined || isFlag(name, value)) return false;
    return showsMask(value) || (isEmpty(value) && flagged.has(name));
  });
}

/** Of a field nothing is known of, any text may be a secret: asterisks and dots alone are a mask under every name. */
function showsMask(value: Value | undefined): boolean {
  if (typeof value === 'string') return /^\s*[*•●]{3,}\s*$/.test(value);
  if (isList(value)) return value.some(showsMask);
  if (isRecord(value)) return Object.values(value).some(showsMask);
  return holdsMask(value);
}

/** Whether a member of an answer is sent back as it was read. */
export function isCarried(name: string, value: Value): boolean {
  const field = fieldNamed(name);
  return field === undefined ? !isFlag(name, value) : field.readable;
}

/** The items of an mcp list that are no entries as far as this version can tell, such as a bare string among programs. */
export function unreadableItems(config: Value | undefined, list: McpList): readonly Value[] {
  const items = isRecord(config) ? config[list] : undefined;
  return isList(items) ? items.filter((item) => !isRecord(item)) : [];
}

/** A declared config with those items in it: nobody can tell whether one of them is declared, so they stay. */
function withUnreadableItems(declared: Value, actual: Value | undefined): Value {
  if (!isRecord(declared)) return declared;
  const lists = MCP_LISTS.flatMap((list) => {
    const [entries, kept] = [declared[list], unreadableItems(actual, list)];
    return isList(entries) && kept.length > 0
      ? [[list, [...entries.filter(isRecord), ...kept]] as const]
      : [];
  });
  return lists.length === 0 ? declared : recordOf([...Object.entries(declared), ...lists]);
}

/** The config as it was read, without what is a mask. */
export function carriedMcp(config: ValueRecord): ValueRecord {
  const members = Object.entries(config).map(
    ([name, value]) =>
      [
        name,
        isList(value)
          ? value.map((entry) => (isRecord(entry) ? mergedEntry({}, entry) : entry))
          : value,
      ] as const,
  );
  return recordOf(members);
}
