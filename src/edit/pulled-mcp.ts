import { member, plainValue, type Node } from '../desired/node.ts';
import { entriesOf, isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { isUnmanaged } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import { isRecord, masked, type Json, type Value } from '../model/value.ts';
import { sameJson } from './json-value.ts';
import { pulledList, type ListPull, type ListRules } from './pulled-list.ts';
import { REASONS } from './reasons.ts';
import { NOTHING_PULLED, type Pulled, type Slot } from './slot.ts';

const PATH = ['settings', 'mcp_config'];

/**
 * `mcp_config` with the service's entries brought in: list by list where the file declares lists; as a whole where it says
 * null or {}, which stand for all three; null where the service has none at all.
 */
export function pulledMcp(node: Node, declared: Value, actual: Value, rules: ListRules): Pulled {
  const changes = rules.changes.filter(({ path }) => path[0] === 'mcp_config');
  if (changes.length === 0) return NOTHING_PULLED;
  if (rules.excluded.has('mcp_config')) {
    const left = changes.map(({ path, ref }) => ({ path, reason: REASONS.unlike, ref }));
    return { ...NOTHING_PULLED, left };
  }
  const config = isRecord(actual) ? actual : null;
  const names = isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
  const open = names.filter((list) => !isUnmanaged(rules.unmanaged, ['mcp_config', list]));
  const pulls = open.map((list) => {
    const own = isRecord(declared) ? entriesOf(declared[list]) : [];
    const pull = pulledList(list, itemsOf(node, list), own, entriesOf(config?.[list]), rules);
    return [list, pull] as const;
  });
  const made = pulls.flatMap(([, pull]) => pull.made);
  const left = pulls.flatMap(([, pull]) => pull.left);
  const nothing = pulls.every(([, pull]) => pull.value.length === 0);
  if (config === null && nothing && open.length === names.length)
    return { slots: [slotOf(null, [])], made: changes.map(cleared), left: [] };
  if (node.kind === 'map' && node.members.size > 0)
    return { slots: pulls.flatMap(([list, pull]) => listSlot(node, list, pull)), made, left };
  const set =
    made.length > 0 || left.length > 0 ? made : changes.map((one) => ['set', one] as const);
  return { slots: [wholeSlot(pulls)], made: set, left };
}

function cleared(change: Change): readonly ['remove' | 'clear', Change] {
  return [change.path.length > 1 ? 'remove' : 'clear', change];
}

function listSlot(node: Node, list: McpList, { value, stubs }: ListPull): Slot[] {
  const before = itemsOf(node, list).map((item) => masked(plainValue(item)));
  return sameJson(before, value) ? [] : [{ path: [...PATH, list], value, stubs }];
}

/** All three lists, so that they are as exhaustive as null and {} were, whatever stands in the blocks below. */
function wholeSlot(pulls: readonly (readonly [McpList, ListPull])[]): Slot {
  const lists = pulls.map(([list, pull]): [string, Json] => [list, pull.value]);
  return slotOf(
    Object.fromEntries(lists),
    pulls.flatMap(([, pull]) => pull.stubs),
  );
}

function slotOf(value: Json, stubs: Slot['stubs']): Slot {
  return { path: PATH, value, stubs };
}

function itemsOf(node: Node, list: McpList): readonly Node[] {
  const items = member(node, list);
  return items?.kind === 'list' ? items.items : [];
}
