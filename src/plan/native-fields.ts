import type { DialectField } from '../model/dialect.ts';
import type { NativeField } from '../model/field.ts';
import { variantsOf, type Definitions, type SchemaNode } from '../model/json-schema.ts';
import {
  isSecretPlace,
  kindMember,
  nativeSchema,
  nodesAt,
  type KindAt,
} from '../model/native-schema.ts';
import { formatPath, isWithin, parsePath, type Path } from '../model/path.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import {
  isList,
  isRecord,
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
    const known = declared ?? values[name];
    const words = (schema === null ? [] : nodesAt(schema, path.slice(0, -1))).flatMap((node) => {
      const kind = kindMember(node);
      return kind === null ? [] : [kind[1]];
    });
    // A word that is none of these, or not known here, rules no variant out.
    if (known !== undefined && known !== null) return words.find((word) => sameValue(known, word));
    return words[0];
  };
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
  const absent = defaultOf(isKind ? nodesAt(schema, path) : places);
  return {
    name,
    reads: secret ? 'presence' : 'value',
    onNull: absent === null ? 'clears' : 'resets',
    clearWith: null,
    absent,
    ...observed.dialect.native?.get(name),
  };
}

function defaultOf(nodes: readonly SchemaNode[]): Value {
  const found = nodes.find((node) => node.default !== undefined);
  return found?.default ?? null;
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
