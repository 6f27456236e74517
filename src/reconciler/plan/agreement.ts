import {
  isWithin,
  type Path,
  isUnmanaged,
  formatPathKey,
  samePath,
  firstAlike,
} from '../model/path.ts';
import type {
  AgreedDigests,
  Agreement,
  AgreementWith,
  FirstDifference,
} from '../model/agreement.ts';
import {
  listPlanChanges,
  removesOther,
  type Change,
  type Plan,
  type Unknown,
} from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { type DesiredState, type ObservedState, findDeclaredServers } from '../model/state.ts';
import { collectSecrets, isEmpty, isList, isRecord, type Value } from '../model/value.ts';
import { toDigestForm } from './declared.ts';
import {
  classSinceAgreed,
  itemsAgreed,
  assignChangeClasses,
  declarations,
  type Since,
} from './three-way.ts';
import { resolveNamedBlocks, readShownValue } from './field-here.ts';
import { extractSettingsPlan } from './settings-part.ts';
import { Secret } from '../model/secret.ts';
import { byCall, listCalledEntries } from './match-entries.ts';

/** A read, compared. */
export interface ComparedRead {
  readonly desired: DesiredState;
  readonly observed: ObservedState;
  readonly plan: Plan;
  readonly address: string | null;
}

/**
 * The agreement after a read: each path that was compared and equal with its current value, each other with the value of its last
 * comparison. An agreement with a service at another address is ignored.
 */
export function agreementAfter(
  { desired: declared, observed, plan, address }: ComparedRead,
  former: AgreementWith | null,
  { salt, quick }: Pick<Digests, 'salt' | 'quick'>,
): Agreement {
  const digest = short(quick);
  const desired = resolveNamedBlocks(declared, observed);
  const before = former !== null && isWith(former, address) ? former.agreement : null;
  const candidates = createPlaceFinder(desired, observed);
  const shown = createValueReader(observed);
  const { changes, unknown } = extractSettingsPlan(plan);
  const changed = changes.map((change) => (removesOther(change) ? OTHER_SERVERS : change.path));
  const isEqual = ({ called, isCompared }: DeclaredPlace): boolean =>
    isCompared && called.every((path) => changed.every((one) => !isWithin(one, path)));
  const places = new Map<string, AgreedDigests>();
  const keep = ({ path }: Pick<Place, 'path'>): void => {
    const known = before?.places[digest(path)];
    if (known !== undefined) places.set(digest(path), known);
  };
  for (const { path } of changes) candidates(path).forEach(keep);
  for (const place of listAgreementPlaces(desired, unknown)) {
    const { path, value } = place;
    if (!isEqual(place)) {
      keep(place);
      continue;
    }
    const plain = collectSecrets(value).length === 0 ? undefined : collectPlainPaths(value);
    const of = [
      digest(toDigestForm(value, quick)),
      digest(formOfShown(shown(place), plain)),
    ] as const;
    places.set(digest(path), plain === undefined ? of : [...of, plain]);
  }
  const left = new Set(desired.unmanaged.map(digest));
  for (const { path } of changes)
    for (const above of findCoveringDigests(path, before, digest)) left.add(above);
  const first = firstAfter(listPlanChanges(plan), before, former, digest);
  return {
    salt,
    places: Object.fromEntries([...places].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    unmanaged: [...left],
    items: itemsAgreed(plan, desired, before, { quick, digest }),
    ...(first.changes.length === 0 ? {} : { first }),
  };
}

/** A digest of all that a file declares of a service, and of its address: the same for two files that declare the same. */
export function declaredDigest(
  { desired: declared, observed, plan, address }: ComparedRead,
  { quick }: Pick<Digests, 'quick'>,
): string {
  const desired = resolveNamedBlocks(declared, observed);
  const places = listAgreementPlaces(desired, []).map(({ path, value }) => [
    path,
    toDigestForm(value, quick),
  ]);
  const items = plan.flatMap(({ resource }) =>
    resource.items === null ? [] : [[resource.name, [...resource.items.declared(desired, quick)]]],
  );
  return short(quick)([address, places, desired.unmanaged, items]);
}

/** Returns the paths that differ since the first read of the service. On the first read, returns all of them. */
function firstAfter(
  changes: readonly Change[],
  before: Agreement | null,
  former: AgreementWith | null,
  digest: Digest,
): FirstDifference {
  const found = changes.map((change) => digest(changePlace(change)));
  if (before === null) return { class: former === null ? null : 'pending', changes: found };
  const { class: of, changes: all } = before.first ?? NOTHING;
  const known = new Set(all);
  return { class: of, changes: found.filter((one) => known.has(one)) };
}

const NOTHING: FirstDifference = { class: null, changes: [] };

function changePlace({ resource, path }: Change): readonly string[] {
  return [resource, ...path];
}

/** Reports whether an agreement is with the service at an address. An unknown address counts as the same. */
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
      if (!isWith(former, address)) return assignChangeClasses(plan, () => 'pending');
      const declaredAt = declarations(desired);
      const candidates = createPlaceFinder(desired, observed);
      const shown = createValueReader(observed);
      const { class: firstClass, changes: firstChanges } = agreement.first ?? NOTHING;
      const first = new Set(firstChanges);
      const itemClass = classSinceAgreed(agreement.items, desired, { quick, digest });
      return assignChangeClasses(plan, (change, { items }) => {
        const { path } = change;
        if (first.has(digest(changePlace(change)))) return firstClass;
        if (items !== null) return itemClass(items, change);
        if (removesOther(change))
          return agreement.places[digest(OTHER_SERVERS)] === undefined ? 'pending' : 'drift';
        const value = declaredAt(path);
        // An unmanaged part is managed now: the file has changed.
        if (findCoveringDigests(path, agreement, digest).length > 0) return 'pending';
        for (const place of candidates(path)) {
          const agreed = agreement.places[digest(place.path)];
          if (agreed === undefined) continue;
          const [declared, was, plain] = agreed;
          if (value !== undefined && digest(toDigestForm(value, quick)) === declared)
            return 'drift';
          return digest(formOfShown(shown(place), plain)) === was ? 'pending' : 'conflict';
        }
        return value === undefined && change.code !== 'null-in-file' ? 'drift' : 'pending';
      });
    },
  };
}

type Digest = (form: unknown) => string;

/** 64 bits: enough to show that something has changed, and little to try guesses with. */
function short(quick: Digests['quick']): Digest {
  return (form) => quick(JSON.stringify(['agreement', form])).slice(-16);
}

/** The digests of the unmanaged paths of an agreement that a path is one of, or lies under. */
function findCoveringDigests(
  path: Path,
  agreement: Agreement | null,
  digest: Digest,
): readonly string[] {
  const left = new Set(agreement?.unmanaged);
  // If two have the same name, the second is unmanaged with the first.
  const first = firstAlike(path);
  return [path, first]
    .flatMap((one) => one.map((_, index) => digest(one.slice(0, index + 1))))
    .filter((one) => left.has(one));
}

/** A place that is agreed on, under its path, and every path that may call it: an entry has a name and an address. */
export interface Place {
  readonly path: Path;
  readonly called: readonly Path[];
}

/** The value that a file declares under a path: of a field, a native value, or an entry of a list. */
export interface DeclaredPlace extends Place {
  readonly value: Value;
  /** True if any part of it has been compared. */
  readonly isCompared: boolean;
}

/** The place of the mcp servers that a file does not name, where it removes them. */
const OTHER_SERVERS: Path = ['collections', 'mcp_servers'];

export function listAgreementPlaces(
  { fields, unmanaged }: DesiredState,
  unknown: readonly Unknown[],
): readonly DeclaredPlace[] {
  const own = fields.map(({ field: { path, secret }, value }) => {
    // For a secret, its presence has been compared; for another value that cannot be compared, nothing has.
    const isCompared = secret || unknown.every((one) => !samePath(one.path, path));
    return { path, called: [path], value, isCompared };
  });
  const entries = listDeclaredEntries({ fields }).map((entry) => ({ ...entry, isCompared: true }));
  const others = fields.flatMap(({ block }): DeclaredPlace[] =>
    block?.others === undefined
      ? []
      : [{ path: OTHER_SERVERS, called: [OTHER_SERVERS], value: 'remove', isCompared: true }],
  );
  return [...own, ...entries, ...others].filter(({ called }) =>
    called.every((path) => !isUnmanaged(unmanaged, path)),
  );
}

/** The places that the path of a change may be agreed at: an entry may be declared by its name, and shown by its address. */
export function createPlaceFinder(
  desired: Pick<DesiredState, 'fields'>,
  observed: ObservedState,
): (path: Path) => readonly Place[] {
  const sides = [listDeclaredEntries(desired), listObservedEntries(observed)].map(byCall);
  return (path) => {
    const entries = sides.flatMap((side) => side.get(formatPathKey(path)) ?? []);
    return entries.length > 0 ? entries : [{ path, called: [path] }];
  };
}

/** Returns a function that reads what a service shows at a place. */
export function createValueReader(observed: ObservedState): (place: Place) => Value | undefined {
  const entries = byCall(listObservedEntries(observed));
  return ({ path, called }) => {
    const [entry] = called.flatMap((one) => entries.get(formatPathKey(one)) ?? []);
    return entry?.value ?? readShownValue(observed, path);
  };
}

function listDeclaredEntries(desired: Pick<DesiredState, 'fields'>) {
  return listCalledEntries(findDeclaredServers(desired)?.value);
}

function listObservedEntries({ values }: ObservedState) {
  return listCalledEntries(values['mcp_config']);
}

/** The places of values that neither are secrets nor contain one, as keys of their paths. */
export function collectPlainPaths(value: Value, at: Path = []): readonly string[] {
  if (collectSecrets(value).length === 0) return [formatPathKey(at)];
  if (isList(value))
    return value.flatMap((item, index) => collectPlainPaths(item, [...at, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => collectPlainPaths(member, [...at, key]));
}

/** Returns what a service shows at and below these places, without secrets. Of any other place, reports only whether something exists. */
export function formOfShown(
  shown: Value | undefined,
  plain: readonly string[] = EVERYWHERE,
): unknown {
  const open = new Set(plain);
  const form = (value: Value | undefined, at: Path, isOpen: boolean): unknown => {
    const isPlain = isOpen || open.has(formatPathKey(at));
    if (isList(value))
      return value.map((item, index) => form(item, [...at, String(index)], isPlain));
    if (isRecord(value))
      return Object.keys(value)
        .toSorted()
        .map((key) => [key, form(value[key], [...at, key], isPlain)]);
    return value instanceof Secret || !isPlain ? [isEmpty(value)] : value;
  };
  return form(shown, [], false);
}

const EVERYWHERE = [formatPathKey([])];
