import { IdentityQueues, type Identity } from '../model/identity.ts';
import { identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import type { ValueRecord } from '../model/value.ts';

/** A declared entry and the observed entry that it is compared with, by their positions. */
export interface Pair {
  readonly declared: number;
  readonly actual: number;
  /** Whether the two are surely one entry. If not, a reference or a mask hides what one of them is known by. */
  readonly certain: boolean;
}

export interface Matching {
  readonly pairs: readonly Pair[];
  /** Declared entries that the service does not have. */
  readonly added: readonly number[];
  /** Observed entries that the file does not declare; not `certain` if a hidden identity could still mean one of them. */
  readonly removed: readonly { readonly actual: number; readonly certain: boolean }[];
}

/**
 * Matches the entries of a list by what they are known by, the first declared with the first observed. What is left is matched
 * by what it may be: an identity behind a reference without a value, or behind a mask, is paired with the candidate that
 * differs least, as `distance` counts. Linear but for what is hidden.
 */
export function matchEntries(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  distance: (declared: number, actual: number) => number,
): Matching {
  const identities = declared.map((entry) => identityOf(list, entry));
  const found = actual.map((entry) => identityOf(list, entry));
  const open = new IdentityQueues([...identities.entries()].map(([index, one]) => [one, index]));
  const pairs: Pair[] = [];
  const unmatched: number[] = [];
  for (const [index, identity] of found.entries()) {
    const match = open.take(identity);
    if (match === undefined) unmatched.push(index);
    else pairs.push({ declared: match, actual: index, certain: true });
  }
  const taken = new Set(pairs.map((pair) => pair.declared));
  const left = [...identities.keys()].filter((index) => !taken.has(index));
  const hidden = matchHidden(identities, found, left, unmatched, distance);
  const paired = new Set(hidden.map((pair) => pair.declared));
  const used = new Set(hidden.map((pair) => pair.actual));
  return {
    pairs: [...pairs, ...hidden],
    added: left.filter((index) => !paired.has(index)),
    removed: unmatched
      .filter((index) => !used.has(index))
      .map((index) => ({
        actual: index,
        certain:
          hidden.length === 0 ||
          !hidden.some((pair) => mayBe(identities[pair.declared], found[index])),
      })),
  };
}

/** Candidates above this number are paired in their order, whatever they differ in. */
const MOST_CANDIDATES = 10_000;

/** Pairs entries that may be the same although one of their identities is hidden, the closest first. */
function matchHidden(
  identities: readonly Identity[],
  found: readonly Identity[],
  left: readonly number[],
  unmatched: readonly number[],
  distance: (declared: number, actual: number) => number,
): Pair[] {
  if (![...left.map((i) => identities[i]), ...unmatched.map((i) => found[i])].some(isHidden))
    return [];
  const few = left.length * unmatched.length <= MOST_CANDIDATES;
  const candidates = left.flatMap((declared) =>
    unmatched
      .filter((actual) => mayBe(identities[declared], found[actual]))
      .map((actual) => ({ declared, actual, distance: few ? distance(declared, actual) : 0 })),
  );
  const pairs: Pair[] = [];
  const taken = new Set<number>();
  const used = new Set<number>();
  for (const { declared, actual } of candidates.toSorted((a, b) => a.distance - b.distance)) {
    if (taken.has(declared) || used.has(actual)) continue;
    taken.add(declared);
    used.add(actual);
    pairs.push({ declared, actual, certain: false });
  }
  return pairs;
}

function isHidden(identity: Identity | undefined): boolean {
  return identity?.key === null;
}

function mayBe(one: Identity | undefined, other: Identity | undefined): boolean {
  return one !== undefined && other !== undefined && one.mayBe(other);
}

/** Positions in the two lists, with the names of the entries in paths. */
export interface ManagedMatching {
  readonly pairs: readonly (Pair & { readonly segment: string; readonly observed: string })[];
  readonly added: readonly { readonly declared: number; readonly segment: string }[];
  readonly removed: readonly {
    readonly actual: number;
    readonly segment: string;
    readonly certain: boolean;
  }[];
  /** Observed entries that the file lists as unmanaged. */
  readonly unmanaged: readonly { readonly actual: number; readonly segment: string }[];
}

/**
 * Matches a declared list with the observed one, without the entries that `unmanaged` lists: by their path in either list, and
 * by what they are known by. Pairs and added entries are in the order of the file, the rest in that of the service.
 */
export function matchManaged(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  unmanaged: readonly Path[],
  distance: (declared: ValueRecord, actual: ValueRecord) => number,
): ManagedMatching {
  const identities = declared.map((entry) => identityOf(list, entry));
  const found = actual.map((entry) => identityOf(list, entry));
  const segments = segmentsOf(found);
  const isExcluded = (segment: string) => isUnmanaged(unmanaged, ['mcp_config', list, segment]);
  const excluded = new Set(
    identities.filter(({ shown }) => isExcluded(shown)).flatMap(({ key }) => key ?? []),
  );
  const isKept = (index: number) =>
    isExcluded(segments[index] ?? '') || excluded.has(found[index]?.key ?? '');
  const own = [...identities.keys()].filter((index) => !isExcluded(identities[index]?.shown ?? ''));
  const open = [...found.keys()].filter((index) => !isKept(index));
  const [ownEntries, openEntries] = [
    own.map((index) => declared[index] ?? {}),
    open.map((index) => actual[index] ?? {}),
  ];
  const matching = matchEntries(list, ownEntries, openEntries, (one, other) =>
    distance(ownEntries[one] ?? {}, openEntries[other] ?? {}),
  );
  const declaredAt = (index: number) => {
    const at = own[index] ?? -1;
    return { declared: at, segment: identities[at]?.shown ?? '' };
  };
  const actualAt = (index: number) => {
    const at = open[index] ?? -1;
    return { actual: at, segment: segments[at] ?? '' };
  };
  return {
    pairs: matching.pairs
      .map((pair) => {
        const { actual: at, segment: observed } = actualAt(pair.actual);
        return { ...declaredAt(pair.declared), actual: at, observed, certain: pair.certain };
      })
      .toSorted((one, other) => one.declared - other.declared),
    added: matching.added.map(declaredAt),
    removed: matching.removed.map(({ actual: at, certain }) => ({ ...actualAt(at), certain })),
    unmanaged: [...found.keys()]
      .filter(isKept)
      .map((index) => ({ actual: index, segment: segments[index] ?? '' })),
  };
}
