import { fieldNamed, isFlag } from '../model/field.ts';
import {
  entriesOf,
  identityOf,
  isMcpList,
  MCP_DEFAULTS,
  MCP_LISTS,
  segmentsOf,
  UNNAMED,
  type McpList,
} from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isList, isRecord, sameValue, type Value, type ValueRecord } from '../model/value.ts';
import { managesEntry, managesField } from './managed.ts';
import { isCarried, unreadableItems } from './record.ts';

/** Something a write changed though the file does not manage it. */
export interface Touched {
  readonly path: Path;
  readonly before: Value;
  readonly after: Value;
}

/**
 * What differs between the looks before and after a write though no plan spoke of it. A field that was absent may have
 * appeared, and an mcp entry's defaults may have been filled in; anything else that moved is named.
 */
export function touchedBetween(
  before: ObservedState,
  after: ObservedState,
  desired: DesiredState,
): Touched[] {
  const touched: Touched[] = [];
  for (const [name, value] of Object.entries(before.record)) {
    const now = after.record[name] ?? null;
    if (name === 'mcp_config') touched.push(...touchedMcp(value, now, desired));
    else if (isCarried(name, value) && !managesField(desired, name) && !sameValue(value, now)) {
      touched.push({ path: [name], before: value, after: now });
    }
  }
  return touched;
}

/**
 * The `*_set` flags, and the keys of provider_tokens_set, that were there before a write and are not any more. A flag that the
 * dialect does not know has fallen when it is gone, too.
 */
export function fallenFlags(before: ObservedState, after: ObservedState): Path[] {
  const fallen: Path[] = [];
  for (const [name, value] of Object.entries(before.record)) {
    const now = after.record[name];
    if (value !== true || !isFlag(name, value)) continue;
    const field = name.replace(/_set$/, '');
    if (now === false || (now === undefined && fieldNamed(field) === undefined))
      fallen.push([field]);
  }
  const tokens = (state: ObservedState) => {
    const set = state.record['provider_tokens_set'];
    return isRecord(set) ? Object.keys(set) : [];
  };
  const now = new Set(tokens(after));
  const lostTokens = tokens(before).filter((name) => !now.has(name));
  return [...fallen, ...lostTokens.map((name) => ['secrets_store', 'provider_tokens', name])];
}

function touchedMcp(before: Value, after: Value, desired: DesiredState): Touched[] {
  const managed = managesField(desired, 'mcp_config');
  if (!isRecord(before))
    return managed || sameValue(before, after) ? [] : [{ path: ['mcp_config'], before, after }];
  const config = isRecord(after) ? after : {};
  return [...touchedItems(before, after, desired), ...touchedMembers(before, config, desired)];
}

/** The items that this version cannot read are nobody's to change but for who declares that there is no config. */
function touchedItems(before: Value, after: Value, { fields }: DesiredState): Touched[] {
  const declared = fields.find(({ field }) => field.name === 'mcp_config');
  if (declared?.value === null) return [];
  return MCP_LISTS.flatMap((list): Touched[] => {
    const [was, is] = [unreadableItems(before, list), unreadableItems(after, list)];
    const path = ['mcp_config', list, UNNAMED];
    return sameValue(was, is) ? [] : [{ path, before: was, after: is }];
  });
}

function touchedMembers(
  before: ValueRecord,
  config: ValueRecord,
  desired: DesiredState,
): Touched[] {
  const managed = managesField(desired, 'mcp_config');
  return Object.entries(before).flatMap(([name, value]): Touched[] => {
    const now = config[name] ?? null;
    if (!isMcpList(name) || !isList(value)) {
      return managed || sameValue(value, now)
        ? []
        : [{ path: ['mcp_config', name], before: value, after: now }];
    }
    return touchedEntries(
      name,
      entriesOf(value),
      entriesOf(now),
      (segment) => !managesEntry(desired, name, segment),
    );
  });
}

function touchedEntries(
  list: McpList,
  before: readonly ValueRecord[],
  after: readonly ValueRecord[],
  isForeign: (segment: string) => boolean,
): Touched[] {
  const [was, is] = [bySegment(list, before), bySegment(list, after)];
  const touched: Touched[] = [];
  for (const [segment, entry] of was) {
    const now = is.get(segment);
    if (isForeign(segment) && (now === undefined || !sameEntry(list, entry, now))) {
      touched.push({ path: ['mcp_config', list, segment], before: entry, after: now ?? null });
    }
  }
  for (const [segment, entry] of is) {
    if (isForeign(segment) && !was.has(segment))
      touched.push({ path: ['mcp_config', list, segment], before: null, after: entry });
  }
  return touched;
}

function sameEntry(list: McpList, before: ValueRecord, after: ValueRecord): boolean {
  return sameValue({ ...MCP_DEFAULTS[list], ...before }, { ...MCP_DEFAULTS[list], ...after });
}

function bySegment(list: McpList, entries: readonly ValueRecord[]): Map<string, ValueRecord> {
  const segments = segmentsOf(entries.map((entry) => identityOf(list, entry)));
  return new Map(entries.map((entry, index) => [segments[index] ?? '', entry]));
}
