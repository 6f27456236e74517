import { plainValue, type Node } from '../desired/node.ts';
import { countIdentities, IdentityQueues } from '../model/identity.ts';
import { identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import { formatPath, isUnmanaged, pathKey, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { LeftAlone, PulledAction } from '../model/pulled.ts';
import type { Secret } from '../model/secret.ts';
import { masked, type Json, type ValueRecord } from '../model/value.ts';
import { isExpressible } from './is-expressible.ts';
import { sameJson } from './json-value.ts';
import { pulledEntry } from './pulled-entry.ts';
import { REASONS } from './reasons.ts';
import { settled, type Stub } from './stub.ts';
import { writtenEntry, type EntryPlace } from './written-entry.ts';

/** The members in which a declared entry differs from the service's; those that cannot be read back apart. */
export type CompareEntry = (
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
) => { readonly differing: readonly string[] };

export interface ListRules {
  readonly unmanaged: readonly Path[];
  readonly changes: readonly Change[];
  readonly compare: CompareEntry;
  /** Paths that have been found not to read back the same. */
  readonly excluded: ReadonlySet<string>;
  /** Whether references may be written over: in a block that holds none of them. */
  readonly overReferences: boolean;
  readonly hidden: readonly Secret[];
}

/** What a list becomes, and what that does to each of its entries. */
export interface ListPull {
  readonly value: readonly Json[];
  readonly stubs: readonly Stub[];
  readonly made: readonly (readonly [PulledAction, Change])[];
  readonly left: readonly LeftAlone[];
}

/**
 * A declared list with the service's entries brought in: those that are gone go, those that differ are changed where they
 * stand, those that are new come last. Unmanaged entries stay as they are. Matched as a plan matches them.
 */
export function pulledList(
  list: McpList,
  nodes: readonly Node[],
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  rules: ListRules,
): ListPull {
  const { unmanaged, changes, compare, excluded, overReferences, hidden } = rules;
  const pathOf = (segment: string): Path => ['mcp_config', list, segment];
  const byPath = new Map(changes.toReversed().map((change) => [pathKey(change.path), change]));
  const changeAt = (path: Path) => byPath.get(pathKey(path));
  const shown = declared.map((entry) => identityOf(list, entry));
  const segments = segmentsOf(actual.map((entry) => identityOf(list, entry)));
  const open = new Set(
    [...declared.keys()].filter(
      (index) => !isUnmanaged(unmanaged, pathOf(shown[index]?.shown ?? '')),
    ),
  );
  const letGo = countIdentities(shown.filter((_, index) => !open.has(index)));
  const waiting = new IdentityQueues(
    [...shown.entries()].flatMap(([index, identity]) =>
      open.has(index) ? [[identity, index] as const] : [],
    ),
  );
  const kept = new Map<number, Json>();
  for (const [index, node] of nodes.entries())
    if (!open.has(index)) kept.set(index, masked(plainValue(node)));
  const added: Json[] = [];
  const stubs: Stub[] = [];
  const made: [PulledAction, Change][] = [];
  const left: LeftAlone[] = [];
  const leave = (path: Path, reason: string) => left.push({ path, reason, ref: null });
  for (const [index, entry] of actual.entries()) {
    const segment = segments[index] ?? '';
    const identity = identityOf(list, entry);
    if (isUnmanaged(unmanaged, pathOf(segment)) || letGo.get(identity) !== undefined) continue;
    const found = waiting.take(identity);
    if (found !== undefined) open.delete(found);
    const place: EntryPlace = { list, index, segment, hidden };
    if (found === undefined) {
      const path = pathOf(segment);
      const change = changeAt(path);
      const written = writtenEntry(place, entry);
      if (/#\d+$/.test(segment)) leave(path, REASONS.twice);
      else if (excluded.has(formatPath(path))) leave(path, REASONS.unlike);
      else if (written === null || !fits(list, written.value)) leave(path, REASONS.inexpressible);
      else {
        added.push(written.value);
        stubs.push(...written.stubs);
        if (change !== undefined) made.push(['add', change]);
      }
      continue;
    }
    const node = nodes[found];
    const own = declared[found];
    if (node === undefined || own === undefined) continue;
    const path = pathOf(shown[found]?.shown ?? '');
    const before = masked(plainValue(node));
    kept.set(found, before);
    const { differing } = compare(list, own, entry);
    if (differing.length === 0) continue;
    if (excluded.has(formatPath(path))) {
      leave(path, REASONS.unlike);
      continue;
    }
    const declaredPlace = { ...place, segment: shown[found]?.shown ?? '' };
    const pulled = pulledEntry(declaredPlace, node, [own, entry], differing, overReferences);
    kept.set(found, pulled.value);
    stubs.push(...pulled.stubs);
    left.push(...pulled.left);
    const change = changeAt(path);
    if (change !== undefined && !sameJson(pulled.value, before)) made.push(['change', change]);
  }
  for (const index of open) {
    const change = changeAt(pathOf(shown[index]?.shown ?? ''));
    if (change !== undefined) made.push(['remove', change]);
  }
  const stay = [...kept].toSorted(([a], [b]) => a - b).map(([, value]) => value);
  return { value: [...stay, ...added], stubs, made, left };
}

function fits(list: McpList, value: Json): boolean {
  return isExpressible({ mcp_config: { [list]: [settled(value, () => 'X')] } });
}
