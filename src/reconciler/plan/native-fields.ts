import type { DialectField } from '../model/dialect.ts';
import { nativeField, type NativeField } from '../model/field.ts';
import { variantsOf, type Definitions, type SchemaNode } from '../model/json-schema.ts';
import {
  defaultOf,
  isSecretPlace,
  kindMember,
  nativeSchema,
  nodesAt,
  type KindAt,
} from '../model/native-schema.ts';
import { AGENT_KIND, fieldsWithin } from '../model/native-parts.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  parsePath,
  pathNamed,
  samePath,
  type Path,
} from '../model/path.ts';
import { MASK, Secret } from '../model/secret.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import {
  isList,
  isRecord,
  placed,
  recordOf,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

/** What the service has at a native path, or, if `desired` is given, what it has there once the declared kinds apply. */
export function placeOf(
  path: Path,
  observed: ObservedState,
  desired: Pick<DesiredState, 'fields'> = { fields: [] },
): readonly SchemaNode[] {
  const schema = nativeSchema(observed.dialect.name);
  return schema === null ? [] : nodesAt(schema, path, kindsOf(observed, desired));
}

/** The words that tell the variants of parts apart: the declared ones, then those of the service, then the usual ones. */
export function kindsOf(
  { dialect, values }: ObservedState,
  { fields }: Pick<DesiredState, 'fields'> = { fields: [] },
): KindAt {
  const schema = nativeSchema(dialect.name);
  return (path) => {
    const name = formatPath(path);
    const declared = fields.find(({ field }) => field.name === name)?.value;
    const variants = schema === null ? [] : nodesAt(schema, path.slice(0, -1));
    const words = variants.flatMap((node) => kindMember(node)?.[1] ?? []);
    const known = declared ?? impliedKind(path, variants, fields) ?? values[name];
    // A word that is none of these, or not known here, rules no variant out.
    if (known !== undefined && known !== null) return words.find((word) => sameValue(known, word));
    return words[0];
  };
}

/**
 * The kind that a part must be of for what a file declares in it, if it does not name one: that of the one variant which has all of it. The
 * kind of agent is never implied: with another one all of its settings are gone.
 */
function impliedKind(
  path: Path,
  variants: readonly SchemaNode[],
  fields: DesiredState['fields'],
): Value | undefined {
  const part = path.slice(0, -1);
  if (samePath(path, AGENT_KIND) || variants.length < 2) return undefined;
  const members = fields.flatMap(({ field, value }) => {
    const at = field.isNative ? field.path : (field.native ?? []);
    const isInside = value !== null && at.length > part.length && isWithin(at, part);
    return isInside ? [at[part.length] ?? ''] : [];
  });
  const having = variants.filter(({ properties = {} }) =>
    members.every((member) => Object.hasOwn(properties, member)),
  );
  const [only, ...others] = having;
  return only === undefined || others.length > 0 ? undefined : kindMember(only)?.[1];
}

/** The places of the words that tell the variants of the parts around a path apart. */
export function kindPlaces(path: Path, { dialect }: ObservedState): Path[] {
  const schema = nativeSchema(dialect.name);
  return path.flatMap((_, index) => {
    const above = path.slice(0, index);
    const kinds = schema === null ? [] : nodesAt(schema, above).map(kindMember);
    const kind = kinds.find((one) => one !== null);
    return kind === undefined || kind === null ? [] : [[...above, kind[0]]];
  });
}

/** What a file declares, with the kinds of parts that follow from it and that the service does not have. */
export function withImpliedKinds(desired: DesiredState, observed: ObservedState): DesiredState {
  if (!observed.stored || nativeSchema(observed.dialect.name) === null) return desired;
  const names = new Set(desired.fields.map(({ field }) => field.name));
  const [now, then] = [kindsOf(observed), kindsOf(observed, desired)];
  const implied = new Map<string, DesiredField>();
  for (const one of desired.fields) {
    const at = one.field.isNative ? one.field.path : (one.field.native ?? []);
    if (one.value === null || isUnmanaged(desired.unmanaged, one.field.path)) continue;
    for (const place of kindPlaces(at, observed)) {
      const [name, kind] = [formatPath(place), then(place)];
      if (names.has(name) || samePath(place, AGENT_KIND) || kind === undefined) continue;
      if (sameValue(kind, now(place)) || isUnmanaged(desired.unmanaged, place)) continue;
      implied.set(name, { field: nativeField(place, false), value: kind, source: one.source });
    }
  }
  return implied.size === 0
    ? desired
    : { ...desired, fields: [...desired.fields, ...implied.values()] };
}

/** A native field as the dialect has it: what planning reads of any field. */
export function nativeDialectField(
  { name, path, secret }: NativeField,
  observed: ObservedState,
): DialectField {
  const places = placeOf(path, observed);
  const schema = nativeSchema(observed.dialect.name);
  // The word that tells variants apart is by itself that of the first one.
  const isKind = schema !== null && places.some((node) => node.const !== undefined);
  const absent = defaultOf(isKind ? nodesAt(schema, path) : places) ?? null;
  return {
    name,
    reads: secret ? 'presence' : 'value',
    onNull: absent === null ? 'clears' : 'resets',
    clearWith: null,
    absent,
    ...observed.dialect.native?.get(name),
  };
}

/**
 * What the service shows at a native path: a value, or the values under it as a map. Undefined if it shows none, so that there is
 * the default.
 */
export function shownAt({ values }: ObservedState, path: Path): Value | undefined {
  const own = values[formatPath(path)];
  if (own !== undefined) return own;
  const inner = Object.entries(values).flatMap(([name, value]) => {
    const at = name.startsWith(path[0] ?? '') ? parsePath(name) : null;
    return at !== null && at.length > path.length && isWithin(at, path)
      ? [[at.slice(path.length), value] as const]
      : [];
  });
  return inner.length === 0 ? undefined : nested(inner);
}

/**
 * All that the service has at the place of a map: native values, the fields of the specification that are in it, and secrets, as far as it
 * shows that they are stored.
 */
export function heldWithin(path: Path, observed: ObservedState): Value {
  const { values, secrets } = observed;
  const own = shownAt(observed, path);
  if (own !== undefined && !isRecord(own)) return own;
  const specified = fieldsWithin(path).flatMap(({ name, native }) => {
    const value = values[name] ?? null;
    return native === null || value === null ? [] : [[native, value] as const];
  });
  const stored = [...secrets].flatMap(([name, state]) => {
    const at = state === 'stored' ? pathNamed(name) : [];
    return at.length > path.length && isWithin(at, path) ? [[at, new Secret(MASK)] as const] : [];
  });
  return [...specified, ...stored].reduce(
    (whole, [at, value]) => placed(whole, at.slice(path.length), value),
    own ?? recordOf([]),
  );
}

function nested(entries: readonly (readonly [Path, Value])[]): ValueRecord {
  const groups = new Map<string, (readonly [Path, Value])[]>();
  for (const [[key = '', ...rest], value] of entries)
    groups.set(key, [...(groups.get(key) ?? []), [rest, value]]);
  return recordOf(
    [...groups].map(([key, inner]) => {
      const [only] = inner;
      return [key, only !== undefined && only[0].length === 0 ? only[1] : nested(inner)];
    }),
  );
}

/** Whether two values mean the same: what a server fills in for a member that is left out does not count. */
export function sameNative(
  declared: Value,
  actual: Value,
  nodes: readonly SchemaNode[],
  { dialect }: ObservedState,
): boolean {
  const defs = nativeSchema(dialect.name)?.$defs ?? {};
  return sameValue(stripped(declared, nodes, defs), stripped(actual, nodes, defs));
}

function stripped(value: Value, nodes: readonly SchemaNode[], defs: Definitions): Value {
  if (isList(value)) {
    const items = nodes.flatMap((node) =>
      node.items === undefined ? [] : variantsOf(node.items, defs),
    );
    return value.map((item) => stripped(item, items, defs));
  }
  if (!isRecord(value)) return value;
  return recordOf(
    Object.entries(value).flatMap(([key, member]): (readonly [string, Value])[] => {
      const inner = nodes.flatMap((node) => membersAt(node, key, defs));
      const filled = inner.some(
        (node) => node.readOnly === true || sameValue(member, node.default ?? null),
      );
      return inner.length > 0 && filled ? [] : [[key, stripped(member, inner, defs)]];
    }),
  );
}

function membersAt(
  { properties = {} }: SchemaNode,
  key: string,
  defs: Definitions,
): readonly SchemaNode[] {
  const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return own === undefined ? [] : variantsOf(own, defs);
}

/** Whether a native path is one of a secret, of which the service shows at most that it is stored. */
export function isNativeSecret(path: Path, observed: ObservedState): boolean {
  return isSecretPlace(placeOf(path, observed));
}
