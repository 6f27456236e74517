import { entriesOf, identityOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { managesEntry } from './managed.ts';

/**
 * The body that undoes a doubling, made from one that was carried from the observation `after`. Some servers add mcp entries of
 * their own to what they stored, at every load; carrying one back makes it two. So of an entry that the file does not manage,
 * the copies that have appeared are the server's own, and as many are stored that should not be: both are left out, the first
 * ones. Null when nothing has doubled.
 */
export function withoutDoubled(
  carried: ValueRecord,
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
): ValueRecord | null {
  const config = carried['mcp_config'];
  if (!isRecord(config)) return null;
  const mended = MCP_LISTS.flatMap((list) => {
    const items = config[list];
    const surplus = surplusOf(list, before.record['mcp_config'], after.record['mcp_config']);
    if (!Array.isArray(items) || surplus.size === 0) return [];
    const left = items.filter((item: Value) => {
      const key = isRecord(item) ? identityOf(list, item).key : null;
      const open = key === null ? 0 : (surplus.get(key) ?? 0);
      if (key === null || !isRecord(item) || open === 0) return true;
      if (managesEntry(desired, list, identityOf(list, item).shown)) return true;
      surplus.set(key, open - 1);
      return false;
    });
    return left.length === items.length ? [] : [[list, left] as const];
  });
  if (mended.length === 0) return null;
  const lists = recordOf([...Object.entries(config), ...mended]);
  return recordOf([...Object.entries(carried), ['mcp_config', lists]]);
}

/** How many copies have to go of each entry that was there before and is there more often now, by what it is known by. */
function surplusOf(
  list: McpList,
  before: Value | undefined,
  after: Value | undefined,
): Map<string, number> {
  const [was, is] = [copiesIn(list, before), copiesIn(list, after)];
  const doubled = [...was].flatMap(([key, count]): [string, number][] => {
    const appeared = (is.get(key) ?? 0) - count;
    return appeared > 0 ? [[key, 2 * appeared]] : [];
  });
  return new Map(doubled);
}

function copiesIn(list: McpList, config: Value | undefined): ReadonlyMap<string, number> {
  const copies = new Map<string, number>();
  for (const entry of isRecord(config) ? entriesOf(config[list]) : []) {
    const { key } = identityOf(list, entry);
    if (key !== null) copies.set(key, (copies.get(key) ?? 0) + 1);
  }
  return copies;
}
