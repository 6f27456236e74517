import type { Definitions, SchemaNode } from '../model/json-schema.ts';
import { kindMember } from '../model/native-schema.ts';
import { Secret } from '../model/secret.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { NONE, readRecord } from './stored.ts';

/** What a server makes of the members of a type besides their defaults. */
export interface TypeRule {
  readonly rule: string;
  /** The names of the definitions that it is about. */
  readonly of: readonly string[];
  /** `sent` is what was stored or sent, before anything was filled in. */
  readonly fill: (record: ValueRecord, sent: ValueRecord) => ValueRecord;
}

/** The types of one dialect. */
export interface Types {
  readonly defs: Definitions;
  readonly rules: readonly TypeRule[];
  /** Whether a rule counts: a test leaves one out. */
  readonly has: (rule: string) => boolean;
}

/** Rules of every type: what a member has that was left out, and a secret that is none. */
export const SHAPE_RULES = {
  default: 'types: what is left out has its default',
  unknown: 'types: an unknown member is dropped, unless the server has stored it',
  blank: 'types: a blank secret is none',
} as const;

/** These keep what they do not know. */
const OPEN: ReadonlySet<string> = new Set(['MCPOAuthTokenState', 'MCPOAuthClientInfoState']);

/** A value as a server stores it where its type is. `before` is what it has there: a later release may know more than the schema. */
export function shapeValue(
  types: Types,
  node: SchemaNode,
  value: Value,
  before: Value | undefined,
): Value {
  const { name, target } = resolveShapeNode(types, node);
  if (value === null) return null;
  if (target.anyOf !== undefined) {
    const variant = selectShapeVariant(types, target.anyOf, value);
    if (variant === undefined) return value;
    const was = before === undefined ? variant : selectShapeVariant(types, target.anyOf, before);
    // What another variant has is none of this one.
    return shapeValue(types, variant, value, was === variant ? before : undefined);
  }
  if (target.format === 'password') return toStoredSecret(types, value);
  if (isList(value)) {
    const { items } = target;
    const was = items === undefined ? undefined : joinItems(before);
    return items === undefined ? value : value.map((one) => shapeValue(types, items, one, was));
  }
  if (!isRecord(value)) return value;
  if (target.properties !== undefined) return shapeRecord(types, name, target, value, before);
  const { additionalProperties: each } = target;
  if (typeof each !== 'object') return value;
  const isSecret = each.format === 'password';
  const made = Object.entries(value).map(
    ([key, one]) => [key, shapeValue(types, each, one, readRecord(before)[key])] as const,
  );
  return createRecord(made.filter(([, one]) => !isSecret || one !== null));
}

/** The members that the items of a stored list have. */
function joinItems(list: Value | undefined): Value | undefined {
  return isList(list) ? createRecord(list.filter(isRecord).flatMap(Object.entries)) : undefined;
}

function shapeRecord(
  types: Types,
  name: string,
  { properties = {}, additionalProperties: others }: SchemaNode,
  value: ValueRecord,
  before: Value | undefined,
): ValueRecord {
  const stored = readRecord(before);
  const known = Object.entries(properties).flatMap(([key, member]): [string, Value][] => {
    if (Object.hasOwn(value, key))
      return [[key, shapeValue(types, member, value[key] ?? null, stored[key])]];
    return types.has(SHAPE_RULES.default) ? [[key, findShapeDefault(types, member)]] : [];
  });
  const isKept = (key: string): boolean =>
    OPEN.has(name) ||
    others === true ||
    Object.hasOwn(stored, key) ||
    !types.has(SHAPE_RULES.unknown);
  const unknown = Object.entries(value).filter(
    ([key]) => !Object.hasOwn(properties, key) && isKept(key),
  );
  const whole = createRecord([...known, ...unknown]);
  return types.rules.reduce(
    (made, { rule, of, fill }) => (of.includes(name) && types.has(rule) ? fill(made, value) : made),
    whole,
  );
}

/** What a server has of a member that was left out. */
function findShapeDefault(types: Types, member: SchemaNode): Value {
  const { target } = resolveShapeNode(types, member);
  const given = member.default ?? target.default;
  if (given === null || (given === undefined && allowsNull(target))) return null;
  const otherwise = given ?? ([target.type].flat().includes('array') ? [] : NONE);
  return shapeValue(types, member, otherwise, undefined);
}

function resolveShapeNode({ defs }: Types, node: SchemaNode) {
  const name = node.$ref?.slice('#/$defs/'.length) ?? '';
  return { name, target: defs[name] ?? node };
}

function allowsNull({ type, anyOf = [] }: SchemaNode): boolean {
  return [type].flat().includes('null') || anyOf.some(allowsNull);
}

/** The variant of a union that a value is of: by its own word, or by what kind of value it is. */
function selectShapeVariant(
  types: Types,
  nodes: readonly SchemaNode[],
  value: Value,
): SchemaNode | undefined {
  const choices = nodes.filter(({ type }) => type !== 'null');
  if (isRecord(value)) {
    const kinds = choices.map(
      (node) => [node, kindMember(resolveShapeNode(types, node).target)] as const,
    );
    const [first] = kinds;
    const word = first?.[1]?.[0];
    if (word !== undefined) {
      const wanted = value[word] ?? first?.[1]?.[1];
      return kinds.find(([, kind]) => kind?.[1] === wanted)?.[0];
    }
  }
  const kind = isList(value) ? 'array' : isRecord(value) ? 'object' : typeof value;
  return (
    choices.find((node) => [resolveShapeNode(types, node).target.type].flat().includes(kind)) ??
    choices[0]
  );
}

function toStoredSecret(types: Types, value: Value): Value {
  if (typeof value === 'string') return toStoredSecret(types, new Secret(value));
  const isBlank = value instanceof Secret && value.fits((text) => text.trim() === '');
  return (isBlank || isEmpty(value)) && types.has(SHAPE_RULES.blank) ? null : value;
}
