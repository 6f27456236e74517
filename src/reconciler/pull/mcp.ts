import { member, type Node, plainValue } from '../desired/node.ts';
import type { Dialect } from '../model/dialect.ts';
import { listRecordEntries, isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { formatPath, isUnmanaged, type Path, formatPathKey } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { LeftAlone, PulledAction } from '../model/documents.gen.ts';
import type { Secret } from '../model/secret.ts';
import { isRecord, type Json, maskSecrets, type Value, type ValueRecord } from '../model/value.ts';
import { matchManaged } from '../plan/match-entries.ts';
import { isSameData } from '../yaml-edit/source.ts';
import { newEntry, pullEntry } from './entry.ts';
import type { PullEdit } from './place-edits.ts';
import type { Placeholder } from './placeholder.ts';
import type { ObservedEntry } from './program.ts';
import { REASONS } from './writable.ts';

/** The edits of a pull, and the values that it skips. */
export interface EntryPullResult {
  readonly edits: readonly PullEdit[];
  /** The changes of the plan, reversed: the plan would turn the service into what the file declares. */
  readonly made: readonly (readonly [PulledAction, Change])[];
  readonly left: readonly LeftAlone[];
}

/** The edits for a value that the file did not manage before. */
export type AdoptionResult = Omit<EntryPullResult, 'made'>;

export const NOTHING_PULLED: EntryPullResult = { edits: [], made: [], left: [] };

/** Skips a value that does not change in the file. */
export function skipPull(
  { path, ref }: Pick<Change, 'path' | 'ref'>,
  reason: string,
): EntryPullResult {
  return { ...NOTHING_PULLED, left: [{ path, reason, ref }] };
}

/** The members in which a declared entry surely differs from the service's. */
export type CompareEntry = (
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
) => { readonly differing: readonly string[] };

/** The rules for pulling the values of a target. */
export interface PullRules {
  readonly unmanaged: readonly Path[];
  readonly changes: readonly Change[];
  /** The members that entries have on the service, according to its dialect. */
  readonly entryMembers: Dialect['entryMembers'];
  readonly compare: CompareEntry;
  /** Paths that stay as they are, such as those found not to read back the same, each with the reason. */
  readonly excluded: ReadonlyMap<string, string>;
  /** True if references may be overwritten: all edits go to a layer without references. */
  readonly overReferences: boolean;
  /** Resolved values of references: never written, wherever else the service has them. */
  readonly hidden: readonly Secret[];
}

const PATH = ['settings', 'mcp_config'];

/**
 * Pulls `mcp_config`: list by list if the file declares lists; as a whole if it is null or {}, which declare all three lists.
 * It becomes null if the service has none.
 */
export function pullMcpConfig(
  node: Node,
  declared: Value,
  actual: Value,
  rules: PullRules,
): EntryPullResult {
  const changes = rules.changes.filter(({ path }) => path[0] === 'mcp_config');
  if (changes.length === 0) return NOTHING_PULLED;
  if (rules.excluded.has('mcp_config')) {
    const left = changes.map(({ path, ref }) => ({ path, reason: REASONS.unlike, ref }));
    return { ...NOTHING_PULLED, left };
  }
  const config = isRecord(actual) ? actual : null;
  const names = isRecord(declared) ? Object.keys(declared).filter(isMcpList) : MCP_LISTS;
  const managed = names.filter((list) => !isUnmanaged(rules.unmanaged, ['mcp_config', list]));
  const pulls = managed.map((list) => {
    const own = isRecord(declared) ? listRecordEntries(declared[list]) : [];
    const pull = pullMcpList(
      list,
      listEntryNodes(node, list),
      own,
      listRecordEntries(config?.[list]),
      rules,
    );
    return [list, pull] as const;
  });
  const made = pulls.flatMap(([, pull]) => pull.made);
  const left = pulls.flatMap(([, pull]) => pull.left);
  const isEmpty = pulls.every(([, pull]) => pull.value.length === 0);
  if (config === null && isEmpty && managed.length === names.length)
    return { edits: [wholeEdit(null, [])], made: changes.map(createClearChange), left: [] };
  if (node.kind === 'map' && node.members.size > 0)
    return { edits: pulls.flatMap(([list, pull]) => listEdit(node, list, pull)), made, left };
  const set =
    made.length > 0 || left.length > 0 ? made : changes.map((one) => ['set', one] as const);
  // All three lists, so that they are as exhaustive as null and {} were, whatever the layers below declare.
  const lists = pulls.map(([list, pull]): [string, Json] => [list, pull.value]);
  const placeholders = pulls.flatMap(([, pull]) => pull.placeholders);
  return { edits: [wholeEdit(Object.fromEntries(lists), placeholders)], made: set, left };
}

function createClearChange(change: Change): readonly ['remove' | 'clear', Change] {
  return [change.path.length > 1 ? 'remove' : 'clear', change];
}

function wholeEdit(value: Json, placeholders: PullEdit['placeholders']): PullEdit {
  return { path: PATH, value, placeholders };
}

function listEdit(node: Node, list: McpList, { value, placeholders }: ListPull): PullEdit[] {
  const before = listEntryNodes(node, list).map((item) => maskSecrets(plainValue(item)));
  return isSameData(before, value) ? [] : [{ path: [...PATH, list], value, placeholders }];
}

function listEntryNodes(node: Node, list: McpList): readonly Node[] {
  const items = member(node, list);
  return items?.kind === 'list' ? items.items : [];
}

/** The result of a list, and the effect on each of its entries. */
export interface ListPull {
  readonly value: readonly Json[];
  readonly placeholders: readonly Placeholder[];
  readonly made: readonly (readonly [PulledAction, Change])[];
  readonly left: readonly LeftAlone[];
}

/**
 * A declared list with the service's entries: those that the service does not have go, those that differ change in place, new
 * ones come last. Unmanaged entries stay as they are. Entries are matched as a plan matches them, but never by a guess.
 */
export function pullMcpList(
  list: McpList,
  nodes: readonly Node[],
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  rules: PullRules,
): ListPull {
  const { changes, unmanaged } = rules;
  const common = { list, members: rules.entryMembers?.[list] ?? null, hidden: rules.hidden };
  const matched = matchManaged(list, declared, actual, unmanaged, () => 0);
  const guessed = matched.pairs.filter(({ certain }) => !certain);
  const onService = [
    ...matched.removed,
    ...guessed.map((pair) => ({ actual: pair.actual, segment: pair.observed })),
  ];
  const entries: ItemPull[] = [
    ...matched.pairs.flatMap(({ declared: own, actual: index, segment, certain }) => {
      const [node, asked, entry] = [nodes[own], declared[own], actual[index]];
      if (!certain || node === undefined || asked === undefined || entry === undefined) return [];
      const observed = { ...common, index, segment, entry };
      return updateListEntry(observed, node, asked, own, rules);
    }),
    ...onService.map(({ actual: index, segment }) =>
      addListEntry({ ...common, index, segment, entry: actual[index] ?? {} }, rules),
    ),
  ].toSorted((one, other) => one.index - other.index);
  const items = new Map(nodes.map((node, index) => [index, maskSecrets(plainValue(node))]));
  for (const { own, value } of entries)
    if (own !== null && value !== undefined) items.set(own, value);
  const gone = [...matched.added, ...guessed].toSorted((a, b) => a.declared - b.declared);
  for (const { declared: own } of gone) items.delete(own);
  const added = entries.flatMap(({ own, value }) =>
    own === null && value !== undefined ? [value] : [],
  );
  const byPath = new Map(
    changes.toReversed().map((change) => [formatPathKey(change.path), change]),
  );
  const actions: readonly (readonly [PulledAction, Path])[] = [
    ...entries.flatMap(({ action, path }) => (action === null ? [] : [[action, path] as const])),
    ...gone.map(({ segment }) => ['remove', ['mcp_config', list, segment]] as const),
  ];
  return {
    value: [...items.values(), ...added],
    placeholders: entries.flatMap(({ placeholders }) => placeholders),
    made: actions.flatMap(([action, path]) => {
      const change = byPath.get(formatPathKey(path));
      return change === undefined ? [] : [[action, change] as const];
    }),
    left: entries.flatMap(({ left }) => left),
  };
}

/** The effect of one observed entry on the list. `own` is its position in the file; null if it is new there. */
interface ItemPull extends Pick<ListPull, 'placeholders' | 'left'> {
  readonly index: number;
  readonly own: number | null;
  readonly path: Path;
  readonly action: PulledAction | null;
  readonly value?: Json;
}

function addListEntry(observed: ObservedEntry, { excluded }: PullRules): ItemPull {
  const { list, index, segment } = observed;
  const path = ['mcp_config', list, segment];
  const nothing = { index, own: null, path, action: null, placeholders: [], left: [] };
  const leave = (reason: string) => ({ ...nothing, left: [{ path, reason, ref: null }] });
  if (/#\d+$/.test(segment)) return leave(REASONS.twice);
  if (excluded.has(formatPath(path))) return leave(REASONS.unlike);
  const written = newEntry(observed);
  return written === null
    ? leave(REASONS.inexpressible)
    : { ...nothing, action: 'add', ...written };
}

function updateListEntry(
  observed: ObservedEntry,
  node: Node,
  declared: ValueRecord,
  own: number,
  { compare, excluded, overReferences }: PullRules,
): ItemPull[] {
  const { list, index, segment, entry } = observed;
  const path = ['mcp_config', list, segment];
  const { differing } = compare(list, declared, entry);
  if (differing.length === 0) return [];
  const nothing = { index, own, path, action: null, placeholders: [], left: [] };
  if (excluded.has(formatPath(path)))
    return [{ ...nothing, left: [{ path, reason: REASONS.unlike, ref: null }] }];
  const pulled = pullEntry(observed, node, declared, differing, overReferences);
  const isSame = isSameData(pulled.value, maskSecrets(plainValue(node)));
  return [{ ...nothing, ...pulled, action: isSame ? null : 'change' }];
}
