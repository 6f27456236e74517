import {
  listRecordEntries,
  isUnmanagedEntry,
  type EntryIdentity,
  createKnownEntry,
  mayBeOne,
  MCP_LISTS,
  type McpList,
  listPathSegments,
  numberIdentities,
} from '../model/mcp.ts';
import { type Identity, IdentityMap, IdentityQueues } from '../model/secret.ts';
import { isUnmanaged, type Path, formatPathKey } from '../model/path.ts';
import { isRecord, type Value, type ValueRecord } from '../model/value.ts';

/** A declared entry and the observed entry that it is compared with, by their positions. */
export interface Pair {
  readonly declared: number;
  readonly actual: number;
  /** True if the two are certainly one entry. Otherwise a reference or a mask hides the identity of one of them. */
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
 * Matches the entries of a list by their names. Where one of the two has no name, they are matched by their places, the first declared with
 * the first observed. The remaining entries are matched by candidates: an identity behind a reference without a value, or behind a mask, is
 * paired with the candidate that differs least, as `distance` counts. Linear except for hidden values.
 */
export function matchEntries(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  distance: (declared: number, actual: number) => number,
): Matching {
  const wanted = declared.map((entry) => createKnownEntry(list, entry));
  const found = actual.map((entry) => createKnownEntry(list, entry));
  const pairs: Pair[] = [];
  const byName = groupByIdentity(wanted, [...wanted.keys()], ({ name }) => name);
  const rest = [...found.keys()].filter((index) =>
    takePair(byName, found[index]?.name, index, pairs),
  );
  const named = new Set(pairs.map((pair) => pair.declared));
  const open = [...wanted.keys()].filter((index) => !named.has(index));
  const [nameless, others] = [true, false].map((isNameless) =>
    groupByIdentity(
      wanted,
      open.filter((index) => (wanted[index]?.name === null) === isNameless),
      ({ place }) => place,
    ),
  );
  const unmatched = rest.filter((index) => {
    const { name = null, place } = found[index] ?? {};
    return (
      takePair(nameless, place, index, pairs) &&
      (name !== null || takePair(others, place, index, pairs))
    );
  });
  const taken = new Set(pairs.map((pair) => pair.declared));
  const left = open.filter((index) => !taken.has(index));
  const hidden = matchHidden(wanted, found, left, unmatched, distance);
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
          hidden.length === 0 || !hidden.some((pair) => mayBe(wanted[pair.declared], found[index])),
      })),
  };
}

function groupByIdentity(
  known: readonly EntryIdentity[],
  indices: readonly number[],
  by: (known: EntryIdentity) => Identity | null,
): IdentityQueues<number> {
  return new IdentityQueues(
    indices.flatMap((index): [Identity, number][] => {
      const one = known[index];
      const identity = one === undefined ? null : by(one);
      return identity === null ? [] : [[identity, index]];
    }),
  );
}

/** Pairs an observed entry with the next declared one of the same identity; true if none is left. */
function takePair(
  queues: IdentityQueues<number> | undefined,
  identity: Identity | null | undefined,
  actual: number,
  pairs: Pair[],
): boolean {
  const declared = identity === null || identity === undefined ? undefined : queues?.take(identity);
  if (declared !== undefined) pairs.push({ declared, actual, certain: true });
  return declared === undefined;
}

/** Candidates above this number are paired in their order, whatever they differ in. */
const MOST_CANDIDATES = 10_000;

/** Pairs entries that may be the same although one of their identities is hidden, the closest first. */
function matchHidden(
  wanted: readonly EntryIdentity[],
  found: readonly EntryIdentity[],
  left: readonly number[],
  unmatched: readonly number[],
  distance: (declared: number, actual: number) => number,
): Pair[] {
  if (![...left.map((i) => wanted[i]), ...unmatched.map((i) => found[i])].some(hasHiddenIdentity))
    return [];
  const few = left.length * unmatched.length <= MOST_CANDIDATES;
  const candidates = left.flatMap((declared) =>
    unmatched
      .filter((actual) => mayBe(wanted[declared], found[actual]))
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

function hasHiddenIdentity(known: EntryIdentity | undefined): boolean {
  return known?.place.key === null || known?.name?.key === null;
}

function mayBe(one: EntryIdentity | undefined, other: EntryIdentity | undefined): boolean {
  return one !== undefined && other !== undefined && mayBeOne(one, other);
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
 * Matches a declared list with the observed one, without the entries that `unmanaged` lists: by what they are called in either list, and
 * by what they are known by. Pairs and added entries are in the order of the file, the rest in that of the service.
 */
export function matchManaged(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  unmanaged: readonly Path[],
  distance: (declared: ValueRecord, actual: ValueRecord) => number,
): ManagedMatching {
  const calls = listPathSegments(list, declared, actual);
  const segments = listPathSegments(list, actual, declared);
  const isExcluded = (entry: ValueRecord) => isUnmanagedEntry(unmanaged, list, entry);
  const excluded = new Set(unmanaged.length === 0 ? [] : declared.filter(isExcluded));
  const isOneOfThem = createEntryMatcher(
    [...excluded].map((entry) => createKnownEntry(list, entry)),
  );
  const isKept = (entry: ValueRecord, index: number) =>
    isExcluded(entry) ||
    isUnmanaged(unmanaged, ['mcp_config', list, segments[index] ?? '']) ||
    isOneOfThem(createKnownEntry(list, entry));
  const kept = new Set(
    unmanaged.length === 0
      ? []
      : [...actual.keys()].filter((index) => isKept(actual[index] ?? {}, index)),
  );
  const own = [...declared.keys()].filter((index) => !excluded.has(declared[index] ?? {}));
  const open = [...actual.keys()].filter((index) => !kept.has(index));
  const [ownEntries, openEntries] = [
    own.map((index) => declared[index] ?? {}),
    open.map((index) => actual[index] ?? {}),
  ];
  const matching = matchEntries(list, ownEntries, openEntries, (one, other) =>
    distance(ownEntries[one] ?? {}, openEntries[other] ?? {}),
  );
  const declaredAt = (index: number) => {
    const at = own[index] ?? -1;
    return { declared: at, segment: calls[at] ?? '' };
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
    unmanaged: [...kept].map((index) => ({ actual: index, segment: segments[index] ?? '' })),
  };
}

/** Returns a test whether an entry certainly matches one of these: by its name, or by its place if one of the two has no name. */
function createEntryMatcher(known: readonly EntryIdentity[]): (entry: EntryIdentity) => boolean {
  const keys = (some: readonly EntryIdentity[], by: (one: EntryIdentity) => Identity | null) =>
    new Set(some.flatMap((one) => by(one)?.key ?? []));
  const names = keys(known, ({ name }) => name);
  const places = keys(known, ({ place }) => place);
  const nameless = keys(
    known.filter(({ name }) => name === null),
    ({ place }) => place,
  );
  return ({ name, place }) =>
    name === null
      ? places.has(place.key ?? '')
      : names.has(name.key ?? '') || nameless.has(place.key ?? '');
}

/** Returns a search for the first of some entries that may be a given one. Linear except for hidden values. */
export function createEntrySearch(
  list: McpList,
  entries: readonly ValueRecord[],
): (entry: ValueRecord) => ValueRecord | undefined {
  const known = entries.map((entry) => createKnownEntry(list, entry));
  const all = [...known.keys()];
  const hidden = all.filter((index) => hasHiddenIdentity(known[index]));
  const clear = all.filter((index) => !hasHiddenIdentity(known[index])).toReversed();
  const [names, nameless, places] = [
    new IdentityMap<number>(),
    new IdentityMap<number>(),
    new IdentityMap<number>(),
  ];
  for (const index of clear) {
    const { name, place } = known[index] ?? {};
    if (place === undefined || name === undefined) continue;
    places.set(place, index);
    if (name === null) nameless.set(place, index);
    else names.set(name, index);
  }
  return (entry) => {
    const wanted = createKnownEntry(list, entry);
    const { name, place } = wanted;
    const certain = name === null ? [places.get(place)] : [names.get(name), nameless.get(place)];
    const candidates = hasHiddenIdentity(wanted)
      ? all
      : [...certain, ...hidden].filter((index) => index !== undefined).toSorted((a, b) => a - b);
    const first = candidates.find((index) => mayBe(known[index], wanted));
    return first === undefined ? undefined : entries[first];
  };
}

/** An mcp entry with the paths that may call it: in its list by its name, if it has one, and its address, and by its name alone. Of those alike the second is `#2`. */
export interface CalledEntry {
  readonly value: ValueRecord;
  readonly path: Path;
  readonly called: readonly [name: Path, address: Path, ...alone: Path[]];
}

/** The entries of an mcp config. */
export function listCalledEntries(config: Value | undefined): readonly CalledEntry[] {
  return MCP_LISTS.flatMap((list) => {
    const entries = isRecord(config) ? listRecordEntries(config[list]) : [];
    const known = entries.map((entry) => createKnownEntry(list, entry));
    const names = numberIdentities(known.map(({ name, place }) => name ?? place));
    const addresses = numberIdentities(known.map(({ place }) => place));
    return entries.map((value, index): CalledEntry => {
      const pathIn = (segments: readonly string[]) => ['mcp_config', list, segments[index] ?? ''];
      const path = pathIn(names);
      const alone = typeof value['name'] === 'string' ? [['mcp_servers', names[index] ?? '']] : [];
      return { value, path, called: [path, pathIn(addresses), ...alone] };
    });
  });
}

/** Entries by the keys of the paths that call them: an address is taken before a name that reads like it. */
export function byCall(entries: readonly CalledEntry[]): ReadonlyMap<string, CalledEntry> {
  const keyed = (by: 0 | 1 | 2) =>
    entries.flatMap((entry) => {
      const path = entry.called[by];
      return path === undefined ? [] : [[formatPathKey(path), entry] as const];
    });
  return new Map([...keyed(2), ...keyed(0), ...keyed(1)]);
}
