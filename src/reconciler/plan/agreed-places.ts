import { isUnmanaged, pathKey, samePath, type Path } from '../model/path.ts';
import type { Unknown } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, isList, isRecord, secretsIn, type Value } from '../model/value.ts';
import { byCall, calledEntries } from './match-entries.ts';
import { shownHere } from './field-here.ts';

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
  return [...own, ...entries].filter(({ called }) =>
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

function declaredEntries({ fields }: Pick<DesiredState, 'fields'>) {
  return calledEntries(fields.find(({ field }) => field.name === 'mcp_config')?.value);
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
