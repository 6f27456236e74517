import { isWithin, type Path, isUnmanaged, pathKey, samePath, firstAlike } from '../model/path.ts';
import type { Agreed, Agreement, AgreementWith, FirstFound } from '../model/agreement.ts';
import {
  changesOf,
  NAMED_NULL,
  removesOther,
  type Change,
  type Plan,
  type Unknown,
} from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import { type DesiredState, type ObservedState, serversIn } from '../model/state.ts';
import { secretsIn, isEmpty, isList, isRecord, type Value } from '../model/value.ts';
import { formOf } from './declared.ts';
import { classSinceAgreed, itemsAgreed, classedBy, declarations, type Since } from './three-way.ts';
import { namedHere, shownHere } from './field-here.ts';
import { settingsPlanIn } from './settings-part.ts';
import { Secret } from '../model/secret.ts';
import { byCall, calledEntries } from './match-entries.ts';

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
  { desired: declared, observed, plan, address }: Compared,
  former: AgreementWith | null,
  { salt, quick }: Pick<Digests, 'salt' | 'quick'>,
): Agreement {
  const digest = short(quick);
  const desired = namedHere(declared, observed);
  const before = former !== null && isWith(former, address) ? former.agreement : null;
  const candidates = candidatesOf(desired, observed);
  const shown = shownBy(observed);
  const { changes, unknown } = settingsPlanIn(plan);
  const changed = changes.map((change) => (removesOther(change) ? OTHER_SERVERS : change.path));
  const isEqual = ({ called, isCompared }: DeclaredPlace): boolean =>
    isCompared && called.every((path) => changed.every((one) => !isWithin(one, path)));
  const places = new Map<string, Agreed>();
  const keep = ({ path }: Pick<Place, 'path'>): void => {
    const known = before?.places[digest(path)];
    if (known !== undefined) places.set(digest(path), known);
  };
  for (const { path } of changes) candidates(path).forEach(keep);
  for (const place of placesOf(desired, unknown)) {
    const { path, value } = place;
    if (!isEqual(place)) {
      keep(place);
      continue;
    }
    const plain = secretsIn(value).length === 0 ? undefined : plainIn(value);
    const of = [digest(formOf(value, quick)), digest(formOfShown(shown(place), plain))] as const;
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

/** A digest of all that a file declares of a service, and of its address: the same for two files that declare the same. */
export function declaredDigest(
  { desired: declared, observed, plan, address }: Compared,
  { quick }: Pick<Digests, 'quick'>,
): string {
  const desired = namedHere(declared, observed);
  const places = placesOf(desired, []).map(({ path, value }) => [path, formOf(value, quick)]);
  const items = plan.flatMap(({ resource }) =>
    resource.items === null ? [] : [[resource.name, [...resource.items.declared(desired, quick)]]],
  );
  return short(quick)([address, places, desired.unmanaged, items]);
}

/** What of a read has differed since the first one of the service; all of it if this is the first. */
function firstAfter(
  changes: readonly Change[],
  before: Agreement | null,
  former: AgreementWith | null,
  digest: Digest,
): FirstFound {
  const found = changes.map((change) => digest(changePlace(change)));
  if (before === null) return { class: former === null ? null : 'pending', changes: found };
  const { class: of, changes: all } = before.first ?? NOTHING;
  const known = new Set(all);
  return { class: of, changes: found.filter((one) => known.has(one)) };
}

const NOTHING: FirstFound = { class: null, changes: [] };

function changePlace({ resource, path }: Change): readonly string[] {
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
      const candidates = candidatesOf(desired, observed);
      const shown = shownBy(observed);
      const { class: firstClass, changes: firstChanges } = agreement.first ?? NOTHING;
      const first = new Set(firstChanges);
      const itemClass = classSinceAgreed(agreement.items, desired, { quick, digest });
      return classedBy(plan, (change, { items }) => {
        const { path } = change;
        if (first.has(digest(changePlace(change)))) return firstClass;
        if (items !== null) return itemClass(items, change);
        if (removesOther(change))
          return agreement.places[digest(OTHER_SERVERS)] === undefined ? 'pending' : 'drift';
        const value = declaredAt(path);
        // What was unmanaged is managed now: the file has changed.
        if (leftAbove(path, agreement, digest).length > 0) return 'pending';
        for (const place of candidates(path)) {
          const agreed = agreement.places[digest(place.path)];
          if (agreed === undefined) continue;
          const [declared, was, plain] = agreed;
          if (value !== undefined && digest(formOf(value, quick)) === declared) return 'drift';
          return digest(formOfShown(shown(place), plain)) === was ? 'pending' : 'conflict';
        }
        return value === undefined && change.reason !== NAMED_NULL ? 'drift' : 'pending';
      });
    },
  };
}

type Digest = (form: unknown) => string;

/** 64 bits: enough to tell that something has changed, and little to try guesses with. */
function short(quick: Digests['quick']): Digest {
  return (form) => quick(JSON.stringify(['agreement', form])).slice(-16);
}

/** The digests of the unmanaged paths of an agreement that a path is one of, or lies under. */
function leftAbove(path: Path, agreement: Agreement | null, digest: Digest): readonly string[] {
  const left = new Set(agreement?.unmanaged);
  // Of those that are called alike the second is unmanaged with the first.
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

/** What a file declares under a path: a field's value, a native one, or an entry of a list. */
export interface DeclaredPlace extends Place {
  readonly value: Value;
  /** Whether anything of it has been compared. */
  readonly isCompared: boolean;
}

/** The place of the mcp servers that a file does not name, where it says that they go. */
const OTHER_SERVERS: Path = ['collections', 'mcp_servers'];

export function placesOf(
  { fields, unmanaged }: DesiredState,
  unknown: readonly Unknown[],
): readonly DeclaredPlace[] {
  const own = fields.map(({ field: { path, secret }, value }) => {
    // That a secret is stored has been compared; of another value that cannot be compared, nothing has.
    const isCompared = secret || unknown.every((one) => !samePath(one.path, path));
    return { path, called: [path], value, isCompared };
  });
  const entries = declaredEntries({ fields }).map((entry) => ({ ...entry, isCompared: true }));
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
export function candidatesOf(
  desired: Pick<DesiredState, 'fields'>,
  observed: ObservedState,
): (path: Path) => readonly Place[] {
  const sides = [declaredEntries(desired), shownEntries(observed)].map(byCall);
  return (path) => {
    const entries = sides.flatMap((side) => side.get(pathKey(path)) ?? []);
    return entries.length > 0 ? entries : [{ path, called: [path] }];
  };
}

/** What a service shows at a place. */
export function shownBy(observed: ObservedState): (place: Place) => Value | undefined {
  const entries = byCall(shownEntries(observed));
  return ({ path, called }) => {
    const [entry] = called.flatMap((one) => entries.get(pathKey(one)) ?? []);
    return entry?.value ?? shownHere(observed, path);
  };
}

function declaredEntries(desired: Pick<DesiredState, 'fields'>) {
  return calledEntries(serversIn(desired)?.value);
}

function shownEntries({ values }: ObservedState) {
  return calledEntries(values['mcp_config']);
}

/** The places of what is no secret and holds none, as keys of their paths. */
export function plainIn(value: Value, at: Path = []): readonly string[] {
  if (secretsIn(value).length === 0) return [pathKey(at)];
  if (isList(value)) return value.flatMap((item, index) => plainIn(item, [...at, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => plainIn(member, [...at, key]));
}

/** What a service shows at these places and below, without its secrets; of anything else whether something is there. */
export function formOfShown(
  shown: Value | undefined,
  plain: readonly string[] = EVERYWHERE,
): unknown {
  const open = new Set(plain);
  const form = (value: Value | undefined, at: Path, isOpen: boolean): unknown => {
    const isPlain = isOpen || open.has(pathKey(at));
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

const EVERYWHERE = [pathKey([])];
