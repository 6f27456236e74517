import { faultsIn, inWords } from '../model/json-schema.ts';
import { entriesOf, identityOf, isUnmanagedEntry, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { nativeDefinitions, nativeNodes, serversWith } from '../model/native-schema.ts';
import { formatPath, isUnmanaged } from '../model/path.ts';
import type { Dialect } from '../model/dialect.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, type Value } from '../model/value.ts';

/**
 * Members of the declared mcp entries that the services of a dialect do not have, or not with such a value. Every service takes a
 * `name`: it is a member of the entry, the entry's key in a map, or not needed there.
 */
export function mcpMisfits({ fields, unmanaged }: DesiredState, dialect: Dialect): string[] {
  const config = fields.find(({ field }) => field.name === 'mcp_config')?.value;
  if (!isRecord(config) || isUnmanaged(unmanaged, ['mcp_config'])) return [];
  return MCP_LISTS.flatMap((list) =>
    entriesOf(config[list]).flatMap((entry) => {
      const path = ['mcp_config', list, identityOf(list, entry).shown];
      if (isUnmanagedEntry(unmanaged, list, entry)) return [];
      return Object.entries(entry).flatMap(
        ([member, value]) => entryMisfit([...path, member], list, value, dialect) ?? [],
      );
    }),
  );
}

function entryMisfit(
  path: readonly string[],
  list: McpList,
  value: Value,
  dialect: Dialect,
): string | null {
  const member = path.at(-1) ?? '';
  const own = dialect.entryMembers?.[list];
  if (member === 'timeout' && dialect.timeouts !== undefined && !isTimeout(value, dialect.timeouts))
    return `${formatPath(path)} must be a whole number from ${dialect.timeouts.join(' to ')} there.`;
  if (own?.includes(member) === true || member === 'name') return null;
  if (member === 'headers' && isRecord(value) && (value[dialect.authHeader ?? ''] ?? null) !== null)
    return `${formatPath([...path, dialect.authHeader ?? ''])} is kept as auth there: declare auth with the strategy bearer or header instead.`;
  if (own === undefined && OF_LISTS.has(member)) return null;
  const place = [...NATIVE_SERVERS, '', member];
  const nodes = nativeNodes(dialect.name, place);
  const servers = serversWith(place);
  if (own !== undefined || nodes.length === 0)
    return `It has no ${formatPath(path)}${servers === '' ? '' : `: ${servers} ${servers.includes(' and ') ? 'have' : 'has'} it`}.`;
  // A strategy that stands beside api_key has its value there, and null takes a member away.
  if (member === 'auth' || value === null) return null;
  const defs = nativeDefinitions(dialect.name);
  const [fault] = faultsIn(value, { anyOf: nodes }, defs, path);
  return fault === undefined
    ? null
    : `${formatPath(fault.path)} must be ${inWords(fault.expected, defs)} there.`;
}

function isTimeout(value: Value, [least, most]: readonly [number, number]): boolean {
  const fits = (one: number): boolean => Number.isInteger(one) && one >= least && one <= most;
  if (value === null || value instanceof UnseenSecret) return true;
  return value instanceof Secret ? value.fits((text) => fits(Number(text))) : fits(Number(value));
}

/** Members that the lists of the specification have everywhere. */
const OF_LISTS: ReadonlySet<string> = new Set(['name', 'url', 'api_key', 'command', 'args', 'env']);
