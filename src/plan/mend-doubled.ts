import { countIdentities, IdentityMap } from '../model/identity.ts';
import { identityOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, recordOf, type ValueRecord } from '../model/value.ts';
import { entriesOf } from '../model/mcp.ts';
import { managesEntry } from './managed.ts';

/**
 * The body that undoes a doubling, made from one that was carried from the observation `after`. Some servers add mcp entries of
 * their own to what they stored, at every load; carrying one back makes it two. So of an entry that the file does not manage,
 * the copies that have appeared are the server's own, and as many are stored that should not be: both are left out. Null when
 * nothing has doubled.
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
    const [entries, was, is] = [
      config,
      before.record['mcp_config'],
      after.record['mcp_config'],
    ].map((of) => (isRecord(of) ? entriesOf(of[list]) : [])) as [
      ValueRecord[],
      ValueRecord[],
      ValueRecord[],
    ];
    const [many, more] = [countOf(list, was), countOf(list, is)];
    const seen = new IdentityMap<number>();
    const left = entries.filter((entry) => {
      const identity = identityOf(list, entry);
      const before = seen.get(identity) ?? 0;
      seen.set(identity, before + 1);
      if (managesEntry(desired, list, identity.shown)) return true;
      const copies = many.get(identity) ?? 0;
      const appeared = copies === 0 ? 0 : (more.get(identity) ?? 0) - copies;
      return before >= 2 * appeared;
    });
    return left.length === entries.length ? [] : [[list, left] as const];
  });
  if (mended.length === 0) return null;
  const lists = recordOf([...Object.entries(config), ...mended]);
  return recordOf([...Object.entries(carried), ['mcp_config', lists]]);
}

function countOf(list: McpList, entries: readonly ValueRecord[]): IdentityMap<number> {
  return countIdentities(entries.map((entry) => identityOf(list, entry)));
}
