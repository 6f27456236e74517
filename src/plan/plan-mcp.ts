import { entriesOf, MCP_LISTS } from '../model/mcp.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField, ObservedState } from '../model/state.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import { isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { hidingIn } from './mcp-entry.ts';
import { NOTHING, type FieldPlan } from './field-plan.ts';
import { planMcpList, type ListPlan } from './plan-mcp-list.ts';
import { carriedMcp } from './record.ts';
import type { Rotation } from './rotation.ts';
import { unpreservableMcp } from './unpreservable.ts';

/**
 * `mcp_config`: a declared list is exhaustive, one that is not declared is left alone. Null asks for no entries at all, and
 * `{}` for three empty lists; unmanaged entries do not count against either.
 */
export function planMcp(
  desired: DesiredField,
  observed: ObservedState,
  unmanaged: readonly Path[],
  rotation: Rotation,
): FieldPlan {
  const actual = observed.record['mcp_config'] ?? null;
  const config = isRecord(actual) ? actual : recordOf([]);
  const declared = isRecord(desired.value)
    ? desired.value
    : recordOf(MCP_LISTS.map((list) => [list, []]));
  const hiding = hidingIn(actual, observed.saved === true);
  const lists = MCP_LISTS.filter(
    (list) => declared[list] !== undefined && !isUnmanaged(unmanaged, ['mcp_config', list]),
  ).map((list) =>
    planMcpList(list, entriesOf(declared[list]), entriesOf(config[list]), {
      desired,
      unmanaged,
      rotation,
      hiding,
    }),
  );
  if (desired.value === null) return planNull(desired, actual, lists);
  const changes = lists.flatMap((list) => list.changes);
  const unknown = lists.flatMap((list) => list.unknown);
  const after = recordOf(lists.map((list) => [list.name, list.entries]));
  const letGo = lists.some((list) => entriesOf(declared[list.name]).length > list.entries.length);
  const created = actual === null && changes.length === 0 && !letGo && lists.length > 0;
  const others = MCP_LISTS.filter((list) => lists.every(({ name }) => name !== list));
  const unpreservable = [
    ...lists.flatMap((list) => list.unpreservable),
    ...unpreservableMcp(actual, others, hiding),
  ];
  if (changes.length === 0 && !created) {
    // What cannot be compared goes along with a write all the same: sent back as it was read, a mask would be stored.
    return {
      unknown,
      unpreservable,
      ...(unknown.length === 0 ? {} : { overlay: overlayOf(config, lists) }),
    };
  }
  return {
    changes: created ? [wholeChange(desired, 'set', null, after, 'not set')] : changes,
    unknown,
    unpreservable,
    overlay: overlayOf(config, lists),
  };
}

function planNull(desired: DesiredField, actual: Value, lists: readonly ListPlan[]): FieldPlan {
  if (actual === null) return NOTHING;
  const kept = lists.some((list) => list.kept.length > 0);
  if (kept && lists.every((list) => list.changes.length === 0)) return NOTHING;
  const overlay = kept ? overlayOf(recordOf([]), lists) : null;
  return {
    changes: [wholeChange(desired, 'clear', actual, null, 'set, will be cleared')],
    overlay,
    unpreservable: lists.flatMap((list) => list.unpreservable),
  };
}

/** The declared lists over what was read, without what is a mask there. */
function overlayOf(config: ValueRecord, lists: readonly ListPlan[]): ValueRecord {
  return recordOf([
    ...Object.entries(carriedMcp(config)),
    ...lists.map((list) => [list.name, list.entries] as const),
  ]);
}

function wholeChange(
  { source }: DesiredField,
  action: 'set' | 'clear',
  before: Value,
  after: Value,
  reason: string,
): Change {
  return {
    resource: 'settings',
    path: ['mcp_config'],
    action,
    before,
    after,
    sensitive: action === 'clear',
    ref: null,
    reason,
    source: source(),
  };
}
