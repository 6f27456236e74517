import { type Node, member } from '../desired/node.ts';
import { emptyExhaustiveBlock } from '../desired/named-settings.ts';
import type { Target } from '../desired/target.ts';
import {
  listRecordEntries,
  entryPaths,
  isOfServers,
  MCP_LISTS,
  listPathedEntries,
  listPathSegments,
} from '../model/mcp.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { findDeclaredServers } from '../model/state.ts';
import {
  isList,
  isRecord,
  type Value,
  createRecord,
  sameValue,
  type ValueRecord,
} from '../model/value.ts';
import {
  findSchemaNodes,
  readShownValue,
  listUnmanagedServers,
  pathsOfField,
} from '../plan/field-here.ts';
import { hasReferences } from './written-item.ts';
import { newServer, pullServers } from './pull-mcp.ts';
import {
  skipPull,
  joinPulls,
  NOTHING_PULLED,
  type EntryPullResult,
  type PullRules,
} from './rules.ts';
import { REASONS, whyUnwritten } from './writable.ts';
import { openValue } from './written-deep.ts';
import { MARKETPLACE_PLACE } from '../desired/blocks/collections.ts';
import { MARKETPLACES_FIELD } from '../desired/blocks/settings.ts';
import type { PullEdit } from './place-edits.ts';

/* Blocks beside the settings that name what is kept inside them. */

/** The fields that blocks next to the settings declare, and those that the settings do. */
export function splitNamed(desired: DesiredState): {
  readonly own: DesiredState;
  readonly named: readonly DesiredField[];
} {
  const named = desired.fields.filter(({ block }) => block !== undefined);
  if (named.length === 0) return { own: desired, named };
  return {
    own: { ...desired, fields: desired.fields.filter((one) => !named.includes(one)) },
    named,
  };
}

/** Reports whether a path of a plan belongs to one of these fields. */
export function isOfNamed(path: Path, named: readonly DesiredField[]): boolean {
  return named.flatMap(pathsOfField).some((own) => samePath(own, path) || isWithin(path, own));
}

/** Returns the edits of the blocks that declare settings by name. */
export function pullNamedBlocks(
  target: Target,
  named: readonly DesiredField[],
  observed: ObservedState,
  rules: PullRules,
): EntryPullResult {
  const parts = named.map((declared): EntryPullResult => {
    const changes = rules.changes.filter(({ path }) => isOfNamed(path, [declared]));
    const [change] = changes;
    const name = declared.block?.name;
    // A file that names none declares all of them where it removes others.
    const node =
      name === undefined ? undefined : (target[name] ?? emptyExhaustiveBlock(target.collections));
    if (change === undefined || node === undefined) return NOTHING_PULLED;
    const config = observed.values['mcp_config'] ?? null;
    if (name === 'mcp_servers')
      return pullServers({ place: [name], node, declared }, config, rules);
    if (rules.excluded.has(formatPath(change.path))) return skipPull(change, REASONS.unlike);
    if (findSchemaNodes(change.path, observed).length === 0)
      return skipPull(change, REASONS.unmanageable);
    const actual = readShownValue(observed, change.path) ?? null;
    return name === 'disabled_skills'
      ? pullSkillLists(change, node, actual, rules)
      : pullMarketplaceList(change, { node, value: declared.value }, actual, rules);
  });
  return joinPulls(parts);
}

function pullSkillLists(
  change: Change,
  node: Node,
  actual: Value,
  rules: PullRules,
): EntryPullResult {
  const path = ['disabled_skills'];
  if (hasReferences(node)) return skipPull(change, REASONS.reference);
  const written = openValue(isList(actual) ? actual : [], path, rules.hidden);
  if (written === null) return skipPull(change, whyUnwritten(actual, rules.hidden));
  return { edits: [{ path, ...written }], made: [['change', change]], left: [] };
}

/** The servers that a block of servers by name does not name, and that it is to name. */
export function adoptMissingServers(
  target: Target,
  desired: DesiredState,
  observed: ObservedState,
  adopt: 'all' | readonly Path[],
  { entryMembers, hidden }: PullRules,
): readonly (EntryPullResult & { readonly path: Path })[] {
  const node = target.mcp_servers;
  const config = observed.values['mcp_config'];
  if (node === undefined || !isRecord(config)) return [];
  const wanted = listUnmanagedServers(desired, observed).filter(
    (path) => adopt === 'all' || adopt.some((one) => samePath(one, path)),
  );
  const entries = MCP_LISTS.flatMap((list) => {
    const all = listRecordEntries(config[list]);
    const paths = listPathedEntries(config, entryPaths(findDeclaredServers(desired)), [list]);
    return listPathSegments(list, all).flatMap((segment, index) => {
      const { entry = createRecord({}), path = [] } = paths[index] ?? {};
      const members = entryMembers?.[list] ?? null;
      return [{ path, observed: { list, index, segment, entry, members, hidden } }];
    });
  });
  return wanted.map((path) => {
    const entry = entries.find((one) => samePath(one.path, path));
    const written =
      entry === undefined ? null : newServer(entry.observed, { place: ['mcp_servers'], node });
    return written === null
      ? { path, ...skipPull({ path, ref: null }, REASONS.inexpressible) }
      : { path, edits: [written.edit], made: [], left: written.left };
  });
}

/** Reports whether adopting a path would declare, under the settings, what a named block declares. */
export function isDeclaredByName(path: Path, named: readonly DesiredField[]): boolean {
  const isServers = named.some(({ block }) => block?.name === 'mcp_servers');
  return isServers && isOfServers(path);
}

/** The members that a file declares of a marketplace, each with its default. */
const MEMBERS: readonly (readonly [string, Value])[] = [
  ['source', null],
  ['ref', null],
  ['repo_path', null],
  ['auto_load', false],
];

/** A list of marketplaces without what a server adds to each, and without defaults; any other value unchanged. */
export function bareMarketplaces(path: Path, value: Value): Value {
  if (path.at(-1) !== MARKETPLACES_FIELD || !isList(value)) return value;
  return value.map((item) => {
    if (!isRecord(item)) return item;
    const own = MEMBERS.flatMap(([key, absent]): [string, Value][] => {
      const found = item[key] ?? absent;
      return sameValue(found, absent) ? [] : [[key, found]];
    });
    return createRecord([['name', item['name'] ?? null], ...own]);
  });
}

/** Every marketplace of the service by its name, and no others. */
export function pullMarketplaceList(
  change: Change,
  { node, value }: { readonly node: Node; readonly value: Value },
  actual: Value,
  { hidden }: PullRules,
): EntryPullResult {
  const own = listRecordEntries(value);
  const there = listRecordEntries(actual);
  const edits: PullEdit[] = [];
  const left: EntryPullResult['left'][number][] = [];
  for (const item of there) {
    const name = readMarketplaceName(item);
    const before = own.find((one) => readMarketplaceName(one) === name);
    for (const [key, absent] of MEMBERS) {
      const found = item[key] ?? absent;
      const isDefault = sameValue(found, absent);
      if (before === undefined ? isDefault : sameValue(found, before[key] ?? absent)) continue;
      const at = member(member(node, name), key);
      const written = openValue(found, [...MARKETPLACE_PLACE, key], hidden);
      const isReference = at !== undefined && hasReferences(at);
      if (isReference || written === null) {
        const reason = isReference ? REASONS.reference : whyUnwritten(found, hidden);
        left.push({ path: [...change.path, name, key], reason, ref: null });
        continue;
      }
      const edit = { path: ['marketplaces', name, key], item: 2, ...written };
      edits.push(isDefault ? { ...edit, leaves: true } : edit);
    }
  }
  for (const name of own
    .map(readMarketplaceName)
    .filter((one) => !there.some((it) => readMarketplaceName(it) === one)))
    edits.push({ path: ['marketplaces', name], value: null, placeholders: [], leaves: true });
  return { edits, made: edits.length > 0 ? [['change', change]] : [], left };
}

function readMarketplaceName({ name }: ValueRecord): string {
  return typeof name === 'string' ? name : '';
}
