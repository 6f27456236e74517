import { callNames, entriesOf, isMcpList, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { isUnmanaged, isWithin, pathKey, samePath, type Path } from '../model/path.ts';
import { changesOf, type Change, type Plan } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  secretsIn,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { formOf } from './declared-form.ts';
import { classSinceAgreed, itemsAgreed, type AgreedItems } from './item-class.ts';
import { shownAt } from './native-fields.ts';
import { classedBy, declarations, type Since } from './three-way.ts';

/**
 * What a file declared and its service showed at each path when the two were last the same there, as digests under a salt. It tells which of
 * them has changed since. Of a reference it holds the digest of how it is written, and of what the service shows in its place only whether
 * something is there.
 */
export interface Agreement {
  readonly salt: string;
  /** By the digest of a path. */
  readonly places: Readonly<Record<string, Agreed>>;
  /** The digests of the paths that were unmanaged. */
  readonly unmanaged: readonly string[];
  /** Absent if a version before kept it. */
  readonly items?: AgreedItems;
  /** What has differed since the service was first read; absent if nothing has. */
  readonly first?: FirstFound;
}

/**
 * What differed when a service was first read, by the digest of each change, and whose doing that is: an edit of the file that gave
 * another address, or, null, it is not known.
 */
interface FirstFound {
  readonly class: 'pending' | null;
  readonly changes: readonly string[];
}

/**
 * The digests of what was declared and shown at a path. If a secret was declared in it, `plain` is where in it something else was: only
 * there what is shown counts.
 */
type Agreed = readonly [declared: string, shown: string, plain?: readonly string[]];

/** An agreement, and the digest of the address of the service that it is with; null if a version before kept it, which did not say. */
export interface AgreementWith {
  readonly address: string | null;
  readonly agreement: Agreement;
}

/** What a read found. */
export interface Compared {
  readonly desired: DesiredState;
  readonly observed: ObservedState;
  readonly plan: Plan;
  readonly address: string | null;
}

/**
 * What is agreed on after a read: each path that was compared and equal as it is now, each other as it was when it last was. An agreement with
 * a service at another address counts for nothing.
 */
export function agreementAfter(
  { desired, observed, plan, address }: Compared,
  former: AgreementWith | null,
  { salt, quick }: Pick<Digests, 'salt' | 'quick'>,
): Agreement {
  const digest = short(quick);
  const before = former !== null && isWith(former, address) ? former.agreement : null;
  const declaredAt = declarations(desired);
  const shown = shownBy(observed);
  const { changes, unknown } = plan.settings;
  const changed = changes.map(({ path }) => placeOf(path));
  const isEqual = ({ called, isSecret }: Declared): boolean =>
    called.every((path) => changed.every((one) => !isWithin(one, path) && !isWithin(path, one))) &&
    // That a secret is stored has been compared; of another value that cannot be compared, nothing has.
    (isSecret || called.every((path) => unknown.every((one) => !samePath(one.path, path))));
  const places = new Map<string, Agreed>();
  const keep = ({ path }: Pick<Place, 'path'>): void => {
    const known = before?.places[digest(path)];
    if (known !== undefined) places.set(digest(path), known);
  };
  for (const { path } of changes) candidates(path, declaredAt, shown).forEach(keep);
  for (const place of placesOf(desired)) {
    const { path, called, value } = place;
    if (!isEqual(place)) {
      keep(place);
      continue;
    }
    const plain = secretsIn(value).length === 0 ? undefined : plainIn(value);
    const of = [digest(formOf(value, quick)), digest(formOfShown(shown(called), plain))] as const;
    places.set(digest(path), plain === undefined ? of : [...of, plain]);
  }
  const left = new Set(desired.unmanaged.map(digest));
  for (const { path } of changes)
    for (const above of leftAbove(path, before, digest)) left.add(above);
  const first = firstAfter(changesOf(plan), before, former, digest);
  return {
    salt,
    places: Object.fromEntries([...places].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    unmanaged: [...left],
    items: itemsAgreed(plan, desired, before, { quick, digest }),
    ...(first.changes.length === 0 ? {} : { first }),
  };
}

/** What of a read has differed since the first one of the service; all of it if this is the first. */
function firstAfter(
  changes: readonly Change[],
  before: Agreement | null,
  former: AgreementWith | null,
  digest: Digest,
): FirstFound {
  const found = changes.map((change) => digest(nameOf(change)));
  if (before === null) return { class: former === null ? null : 'pending', changes: found };
  const known = new Set(before.first?.changes);
  return { class: before.first?.class ?? null, changes: found.filter((one) => known.has(one)) };
}

function nameOf({ resource, path }: Change): readonly string[] {
  return [resource, ...path];
}

/** Whether an agreement is with the service at an address: one that is not known is taken for the same. */
function isWith(former: AgreementWith, address: string | null): boolean {
  return former.address === null || address === null || former.address === address;
}

/**
 * Classifies changes by what has changed since an agreement, as `classified` does with an earlier file. If it is with a service at another
 * address, every change is an edit of the file: that of the address. `quick` is under its salt.
 */
export function sinceAgreement(
  former: AgreementWith,
  address: string | null,
  { quick }: Pick<Digests, 'quick'>,
): Since {
  const digest = short(quick);
  const { agreement } = former;
  return {
    classify: (plan, desired, observed) => {
      if (!isWith(former, address)) return classedBy(plan, () => 'pending');
      const declaredAt = declarations(desired);
      const shown = shownBy(observed);
      const first = new Set(agreement.first?.changes);
      return classedBy(plan, (change, resource) => {
        const { path } = change;
        if (first.has(digest(nameOf(change)))) return agreement.first?.class ?? null;
        if (resource !== null)
          return classSinceAgreed(agreement.items, resource, change, { desired, quick, digest });
        const value = declaredAt(path);
        // What was unmanaged is managed now: the file has changed.
        if (leftAbove(path, agreement, digest).length > 0) return 'pending';
        const found = candidates(path, declaredAt, shown).find(
          (place) => agreement.places[digest(place.path)] !== undefined,
        );
        const agreed = found && agreement.places[digest(found.path)];
        if (agreed === undefined) return value === undefined ? 'drift' : 'pending';
        const [declared, was, plain] = agreed;
        if (value !== undefined && digest(formOf(value, quick)) === declared) return 'drift';
        return digest(formOfShown(shown(found?.called ?? []), plain)) === was
          ? 'pending'
          : 'conflict';
      });
    },
  };
}

type Digest = (form: unknown) => string;

/** 64 bits: enough to tell that something has changed, and little to try guesses with. */
function short(quick: Digests['quick']): Digest {
  return (form) => quick(JSON.stringify(['agreement', form])).slice(-16);
}

/** A place that is agreed on, under its path, and every path that may call it: an entry has a name and an address. */
interface Place {
  readonly path: Path;
  readonly called: readonly Path[];
}

/** The place of an entry: that of its name if it has one, else that of its address. */
function entryAt(list: McpList, entry: ValueRecord): Place {
  const called = callNames(list, entry).map((name) => ['mcp_config', list, name]);
  return { path: called.at(-1) ?? [], called: called.toReversed() };
}

/** The places that the path of a change may be agreed at. */
function candidates(
  path: Path,
  declaredAt: (path: Path) => Value | undefined,
  shown: Shown,
): readonly Place[] {
  const one = placeOf(path);
  const own = { path: one, called: [one] };
  const [name = '', list] = path;
  if (!isEntry(path) || !isMcpList(list))
    return path.length === 1 ? [own] : [own, { path: [name], called: [[name]] }];
  const entries = [declaredAt(path), shown([one])].filter((entry) => isRecord(entry));
  return [...entries.map((entry) => entryAt(list, entry)), own];
}

/** The digests of the unmanaged paths of an agreement that a path is one of, or lies under. */
function leftAbove(path: Path, agreement: Agreement | null, digest: Digest): readonly string[] {
  const left = new Set(agreement?.unmanaged);
  if (left.size === 0) return [];
  return [path, placeOf(path)]
    .flatMap((one) => one.map((_, index) => digest(one.slice(0, index + 1))))
    .filter((one) => left.has(one));
}

function isEntry([name = '', list = '', identity]: Path): boolean {
  return name === 'mcp_config' && identity !== undefined && isMcpList(list);
}

/** The path that a change is compared at: of a second entry alike, that of the first. */
function placeOf(path: Path): Path {
  const [name = '', list = '', identity = ''] = path;
  return isEntry(path) ? [name, list, identity.replace(/#\d+$/, '')] : path;
}

/** What a file declares under a path: a field's value, a native one, or an entry of a list. */
interface Declared extends Place {
  readonly value: Value;
  readonly isSecret: boolean;
}

function placesOf({ fields, unmanaged }: DesiredState): readonly Declared[] {
  const all = fields.flatMap(({ field, value }): Declared[] => {
    const own = { path: field.path, called: [field.path], value, isSecret: field.secret };
    if (field.isNative || field.name !== 'mcp_config' || !isRecord(value)) return [own];
    const entries = MCP_LISTS.flatMap((list) =>
      entriesOf(value[list]).map((entry) => ({ ...entryAt(list, entry), value: entry })),
    );
    return [own, ...entries.map((entry) => ({ ...entry, isSecret: false }))];
  });
  return all.filter(({ called }) => called.every((path) => !isUnmanaged(unmanaged, path)));
}

type Shown = (called: readonly Path[]) => Value | undefined;

/** What a service shows at a place. */
function shownBy(observed: ObservedState): Shown {
  const { values, secrets } = observed;
  const entryCalled = ([name = '', list = '', identity = '']: Path): Value | undefined => {
    const config = values[name];
    if (!isRecord(config) || !isMcpList(list)) return undefined;
    return entriesOf(config[list]).find((entry) => callNames(list, entry).includes(identity));
  };
  return (called) => {
    const [path = []] = called;
    const [name = ''] = path;
    if (!isEntry(path)) return shownAt(observed, path) ?? values[name] ?? secrets.get(name);
    return called.map(entryCalled).find((entry) => entry !== undefined);
  };
}

/** The places of what is no secret and holds none, as keys of their paths. */
function plainIn(value: Value, at: Path = []): readonly string[] {
  if (secretsIn(value).length === 0) return [pathKey(at)];
  if (isList(value)) return value.flatMap((item, index) => plainIn(item, [...at, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => plainIn(member, [...at, key]));
}

/** What a service shows, without its secrets; with `plain`, nothing but whether something is there outside of these places. */
function formOfShown(shown: Value | undefined, plain?: readonly string[]): unknown {
  const open = plain === undefined ? null : new Set(plain);
  const form = (value: Value, at: Path, isOpen: boolean): unknown => {
    const isPlain = isOpen || open?.has(pathKey(at)) === true;
    if (isList(value))
      return value.map((item, index) => form(item, [...at, String(index)], isPlain));
    if (isRecord(value))
      return Object.entries(value)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, member]) => [key, form(member, [...at, key], isPlain)]);
    if (value instanceof Secret || !isPlain) return [isEmpty(value)];
    return value;
  };
  return shown === undefined ? null : form(shown, [], open === null);
}
