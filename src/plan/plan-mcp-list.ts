import type { Identity } from '../model/identity.ts';
import { identityMember, identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import { isUnmanaged, type Path } from '../model/path.ts';
import type { Change, Unknown, Unpreservable } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredField } from '../model/state.ts';
import { isList, isRecord, recordOf, secretsIn, type Value } from '../model/value.ts';
import type { ValueRecord } from '../model/value.ts';
import { matchEntries, type Pair } from './match-entries.ts';
import {
  compareEntry,
  hiddenSecrets,
  lost,
  mergedEntry,
  missingIn,
  type EntryComparison,
  type Hiding,
} from './mcp-entry.ts';
import { concealed } from './plan-plain.ts';
import { isRotated, type Rotation } from './plan-secrets.ts';

/** What one list becomes. `entries` is the list to send; `kept` are the entries that the file does not manage. */
export interface ListPlan {
  readonly name: McpList;
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly unpreservable: readonly Unpreservable[];
  readonly entries: readonly ValueRecord[];
  readonly kept: readonly ValueRecord[];
}

export interface ListContext {
  readonly desired: DesiredField;
  readonly unmanaged: readonly Path[];
  readonly rotation: Rotation;
  readonly hiding: Hiding;
}

/**
 * One change for each entry that differs. Entries are matched by what they are known by; order is no change, and what is not
 * managed stays where it was. Removals come first. What cannot be compared is listed by its own path, and hides nothing else.
 */
export function planMcpList(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  context: ListContext,
): ListPlan {
  const { hiding, rotation } = context;
  const pathOf = (segment: string): Path => ['mcp_config', list, segment];
  const found = actual.map((entry) => identityOf(list, entry));
  const wanted = declared.map((entry) => identityOf(list, entry));
  const segments = segmentsOf(found);
  const names = wanted.map(({ shown }) => shown);
  const excluded = (segment: string) => isUnmanaged(context.unmanaged, pathOf(segment));
  const { managed, unmanaged } = split(wanted, found, segments, excluded);
  const { pairs, added, removed } = matchEntries(
    list,
    managed.declared.map((index) => declared[index] ?? {}),
    managed.actual.map((index) => actual[index] ?? {}),
    (one, other) =>
      compareEntry(
        list,
        declared[managed.declared[one] ?? -1] ?? {},
        actual[managed.actual[other] ?? -1] ?? {},
        hiding,
      ).differing.length,
  );
  const removals: Change[] = [];
  const changes: Change[] = [];
  const unknown: Unknown[] = [];
  const unpreservable: Unpreservable[] = [];
  const sent = new Map<number, ValueRecord>();
  for (const index of unmanaged) {
    const entry = actual[index] ?? {};
    sent.set(index, mergedEntry({}, entry));
    unpreservable.push(...lost(list, segments[index] ?? '', hiddenSecrets(list, entry, hiding)));
  }
  for (const { actual: at, certain } of removed) {
    const index = managed.actual[at] ?? -1;
    removals.push(removal(pathOf(segments[index] ?? ''), actual[index] ?? {}, certain));
  }
  for (const pair of pairs.toSorted(byDeclared)) {
    const [own, index] = [managed.declared[pair.declared] ?? -1, managed.actual[pair.actual] ?? -1];
    const [asked, entry] = [declared[own] ?? {}, actual[index] ?? {}];
    const path = pathOf(names[own] ?? '');
    const compared = compareEntry(list, asked, entry, hiding);
    const inside = compared.unknown.map((one) => ({ ...one, path: [...path, ...one.path] }));
    const rotated =
      compared.differing.length === 0 && isRotated(rotation, path) && secretsIn(asked).length > 0;
    if (compared.differing.length > 0 || rotated)
      changes.push(changed(path, asked, entry, compared, rotated, placeOf(context, list, own)));
    unknown.push(...inside);
    if (!pair.certain) unknown.push(uncertain(list, path, asked, pathOf(segments[index] ?? '')));
    sent.set(index, mergedEntry(asked, entry));
    const undeclared = hiddenSecrets(list, entry, hiding).filter(
      (name) => asked[name.split('.')[0] ?? ''] === undefined,
    );
    unpreservable.push(...lost(list, names[own] ?? '', undeclared));
  }
  for (const at of added) {
    const index = managed.declared[at] ?? -1;
    const [entry, path] = [declared[index] ?? {}, pathOf(names[index] ?? '')];
    changes.push(setEntry(path, entry, placeOf(context, list, index)));
    unknown.push(...missingIn(path, entry));
  }
  const entries = [...sent].toSorted(([a], [b]) => a - b).map(([, entry]) => entry);
  const news = added.map((at) => declared[managed.declared[at] ?? -1] ?? {});
  return {
    name: list,
    changes: [...removals, ...changes],
    unknown,
    unpreservable,
    entries: [...entries, ...news],
    kept: unmanaged.map((index) => actual[index] ?? {}),
  };
}

/** The positions of the entries that the file manages, and of the observed ones that it does not. */
function split(
  wanted: readonly Identity[],
  found: readonly Identity[],
  segments: readonly string[],
  excluded: (segment: string) => boolean,
) {
  const given = new Set(wanted.filter(({ shown }) => excluded(shown)).map(({ key }) => key));
  const isKept = (index: number) =>
    excluded(segments[index] ?? '') ||
    (found[index]?.key !== null && given.has(found[index]?.key ?? ''));
  return {
    managed: {
      declared: [...wanted.keys()].filter((index) => !excluded(wanted[index]?.shown ?? '')),
      actual: [...found.keys()].filter((index) => !isKept(index)),
    },
    unmanaged: [...found.keys()].filter(isKept),
  };
}

function byDeclared(one: Pair, other: Pair): number {
  return one.declared - other.declared;
}

/** An observed entry that may be a declared one: a reference or a mask hides what one of the two is known by. */
function uncertain(list: McpList, path: Path, entry: ValueRecord, observed: Path): Unknown {
  const identity = entry[identityMember(list)];
  const ref = identity instanceof UnseenSecret ? identity.ref : null;
  return {
    path: observed,
    reason: `may be the declared ${path.at(-1) ?? ''}, and is compared with it`,
    ref,
  };
}

function removal(path: Path, entry: ValueRecord, certain: boolean): Change {
  return {
    resource: 'settings',
    path,
    action: 'remove',
    before: entry,
    after: null,
    sensitive: secretsIn(entry).length > 0,
    ref: null,
    reason: certain ? 'not declared' : 'not declared, as far as known without the missing values',
    source: null,
  };
}

function setEntry(path: Path, entry: ValueRecord, source: Change['source']): Change {
  return {
    resource: 'settings',
    path,
    action: 'set',
    before: null,
    after: entry,
    sensitive: secretsIn(entry).length > 0,
    ref: refOf(entry),
    reason: 'not set',
    source,
  };
}

function changed(
  path: Path,
  declared: ValueRecord,
  actual: ValueRecord,
  { differing }: EntryComparison,
  rotated: boolean,
  source: Change['source'],
): Change {
  const after = mergedEntry(declared, actual);
  const before = shownLike(actual, declared);
  return {
    resource: 'settings',
    path,
    action: rotated ? 'rotate' : 'change',
    before,
    after,
    sensitive: secretsIn(after).length > 0 || secretsIn(before).length > 0,
    ref: refOf(declared),
    reason: rotated
      ? 'will be rotated'
      : `${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}`,
    source,
  };
}

/**
 * What the service has, as a plan shows it beside what the file declares: masked wherever that is a secret, and open where it is
 * one of the literals that the committed file has there, so that a reviewer sees what stays.
 */
export function shownLike(actual: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret) return concealed(actual);
  if (isRecord(actual) && isRecord(declared))
    return recordOf(
      Object.entries(actual).map(([key, value]) => [key, shownLike(value, declared[key])] as const),
    );
  if (isList(actual) && isList(declared)) return actual.map((value) => opened(value, declared));
  return typeof declared === 'string' ? opened(actual, [declared]) : actual;
}

/** A secret that is one of the literals, as that literal. */
function opened(value: Value, literals: readonly Value[]): Value {
  if (!(value instanceof Secret)) return value;
  const texts = literalsIn(literals);
  const index = value.compareWith((text) => String(texts.get(text) ?? -1));
  return literals[Number(index)] ?? value;
}

const LITERALS = new WeakMap<readonly Value[], ReadonlyMap<string, number>>();

/** The texts of a list that are no secrets, with their positions; made once for each list. */
function literalsIn(values: readonly Value[]): ReadonlyMap<string, number> {
  const known = LITERALS.get(values);
  if (known !== undefined) return known;
  const made = new Map<string, number>();
  for (const [index, value] of values.entries())
    if (typeof value === 'string') made.set(value, index);
  LITERALS.set(values, made);
  return made;
}

function refOf(entry: ValueRecord): string | null {
  const refs = secretsIn(entry).flatMap((secret) => secret.ref ?? []);
  return refs.length === 0 ? null : [...new Set(refs)].join(', ');
}

function placeOf({ desired }: ListContext, list: McpList, index: number): Change['source'] {
  return desired.source([list, String(index)]);
}
