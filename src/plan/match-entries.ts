import { IdentityQueues, type Identity } from '../model/identity.ts';
import { identityOf, type McpList } from '../model/mcp.ts';
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
  const wanted = declared.map((entry) => identityOf(list, entry));
  const found = actual.map((entry) => identityOf(list, entry));
  const open = new IdentityQueues([...wanted.entries()].map(([index, one]) => [one, index]));
  const pairs: Pair[] = [];
  const unmatched: number[] = [];
  for (const [index, identity] of found.entries()) {
    const match = open.take(identity);
    if (match === undefined) unmatched.push(index);
    else pairs.push({ declared: match, actual: index, certain: true });
  }
  const taken = new Set(pairs.map((pair) => pair.declared));
  const left = [...wanted.keys()].filter((index) => !taken.has(index));
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

/** Candidates above this number are paired in their order, whatever they differ in. */
const MOST_CANDIDATES = 10_000;

/** Pairs what may be one entry though it cannot be told, the closest first. */
function matchHidden(
  wanted: readonly Identity[],
  found: readonly Identity[],
  left: readonly number[],
  unmatched: readonly number[],
  distance: (declared: number, actual: number) => number,
): Pair[] {
  if (![...left.map((i) => wanted[i]), ...unmatched.map((i) => found[i])].some(isHidden)) return [];
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

function isHidden(identity: Identity | undefined): boolean {
  return identity?.key === null;
}

function mayBe(one: Identity | undefined, other: Identity | undefined): boolean {
  return one !== undefined && other !== undefined && one.mayBe(other);
}
