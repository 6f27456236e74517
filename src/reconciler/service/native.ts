import { fieldAtNative, type FieldName, fieldNamed, NATIVE_PARTS } from '../model/field.ts';
import { findMemberNodes, type SchemaNode, listSchemaVariants } from '../model/json-schema.ts';
import type { DialectName } from '../model/dialect.ts';
import {
  findServerDefault,
  isOpenMap,
  isPart,
  isSecretNode,
  kindMember,
  nativeSchema,
} from '../model/native-schema.ts';
import { formatPath, type Path } from '../model/path.ts';
import { Secret } from '../model/secret.ts';
import type { SecretState } from '../model/state.ts';
import {
  isRecord,
  createRecord,
  sameValue,
  type Value,
  readPath,
  type ValueRecord,
  WireNumber,
} from '../model/value.ts';

/** The native values of an answer, by the names that plans call them. */
interface NativeState {
  /** The values that differ from the server's defaults, without secrets. */
  readonly values: readonly (readonly [string, Value])[];
  /** Every secret that the answer has a place for. */
  readonly secrets: readonly (readonly [string, SecretState])[];
  /** True if all of it is what the server creates before any store. */
  readonly untouched: boolean;
}

/**
 * The native values in an answer: those of the server's own nesting that no field of the specification has. A member that the known release
 * does not have is also a value. `shows` is whether the answer shows for each secret whether it is stored.
 */
export function nativeState(
  answer: ValueRecord,
  dialect: DialectName,
  shows: boolean,
): NativeState {
  const schema = nativeSchema(dialect);
  const values: (readonly [string, Value])[] = [];
  const secrets: (readonly [string, SecretState])[] = [];
  const defs = schema?.$defs ?? {};
  let untouched = true;
  const visit = (value: Value, path: Path, nodes: readonly SchemaNode[]): void => {
    if (fieldAtNative(path) !== undefined || nodes.some(({ readOnly }) => readOnly === true))
      return;
    if (isSecretNode(nodes)) {
      secrets.push([formatPath(path), secretState(value, shows)]);
      untouched &&= value === null;
      return;
    }
    if (isRecord(value) && (Object.keys(value).length > 0 || isPart(nodes))) {
      const applying = nodes.filter((node) => isApplying(node, value));
      const [first] = nodes.map(kindMember);
      // A map of any names has no key by default: one was stored, whatever is under it.
      untouched &&= Object.keys(value).length === 0 || (isPart(nodes) && !isOpenMap(nodes));
      for (const [key, member] of Object.entries(value)) {
        const inner = applying.flatMap((node) => findMemberNodes(node, key, defs));
        // The word that distinguishes variants defaults to that of the first one.
        if (first?.[0] === key) {
          if (sameValue(member, first[1])) continue;
          untouched = false;
          values.push([formatPath([...path, key]), member]);
        } else visit(member, [...path, key], inner);
      }
      return;
    }
    if (isMade(value, nodes)) return;
    untouched = false;
    values.push([formatPath(path), value]);
  };
  for (const [name, value] of Object.entries(answer)) {
    const node = schema?.properties[name];
    if (node !== undefined) visit(value, [name], listSchemaVariants(node, defs));
    else if (NATIVE_PARTS.has(name)) visit(value, [name], []);
  }
  return { values, secrets, untouched };
}

function secretState(value: Value, shows: boolean): SecretState {
  if (value instanceof Secret && !value.isEmpty()) return 'stored';
  return shows ? 'not-stored' : 'not-reported';
}

/** Reports whether a variant of a part is the one that a value has. */
function isApplying(node: SchemaNode, value: ValueRecord): boolean {
  const kind = kindMember(node);
  return kind === null || sameValue(value[kind[0]] ?? null, kind[1]);
}

/** Reports whether a value equals the server's default. In a nullable member with another default, null was stored. */
function isMade(value: Value, nodes: readonly SchemaNode[]): boolean {
  const otherwise = findServerDefault(nodes);
  if (otherwise !== undefined) return sameValue(value, otherwise);
  return value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** The place of each field in an answer, for the dialects that nest them. */
export type Places = ReadonlyMap<FieldName, Path>;

/**
 * A record under setpoint's own names, and what it has no name for behind them, in the nesting of the server. `named` makes
 * the value of a field from what the record has at its place.
 */
export function flatRecord(
  record: ValueRecord,
  places: Places,
  named: (name: FieldName, value: Value) => Value,
): ValueRecord {
  const fields = [...places].map(
    ([name, path]) => [name, named(name, readPath(record, path) ?? null)] as const,
  );
  const taken = new Set([...places.values()].map((path) => path.join(BETWEEN)));
  return createRecord([...fields, ...Object.entries(withoutKnownMembers(record, taken, ''))]);
}

/** Between the names of a path: free maps may have keys with dots. */
const BETWEEN = '\u0000';

function withoutKnownMembers(
  record: ValueRecord,
  taken: ReadonlySet<string>,
  path: string,
): ValueRecord {
  return createRecord(
    Object.entries(record)
      .filter(([name]) => !taken.has(path + name))
      .map(([name, value]) => [
        name,
        isRecord(value) ? withoutKnownMembers(value, taken, path + name + BETWEEN) : value,
      ]),
  );
}

/** The first place whose value has not the type of its field. A missing value counts as null, unless it is required. */
export function unlikePlace(
  record: ValueRecord,
  places: Places,
  isRequired: (path: Path) => boolean,
): Path | null {
  const unlike = [...places].find(([name, path]) => {
    const value = readPath(record, path);
    return !hasFieldType(name, value) || (value === undefined && isRequired(path));
  });
  return unlike === undefined ? null : unlike[1];
}

function hasFieldType(name: FieldName, value: Value | undefined): boolean {
  if (value === undefined || value === null) return true;
  const type = fieldNamed(name)?.type;
  if (type === 'object') return isRecord(value);
  if (type === 'integer' || type === 'number')
    return typeof value === 'number' || value instanceof WireNumber;
  return typeof value === type;
}

/** The version of the agent settings that a record names; null if it names none. */
export function schemaVersion(record: ValueRecord): number | null {
  const settings = record['agent_settings'];
  const version = isRecord(settings) ? settings['schema_version'] : undefined;
  return typeof version === 'number' ? version : null;
}
