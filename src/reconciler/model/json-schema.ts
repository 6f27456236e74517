import { onceFor } from './cache.ts';
import type { Path } from './path.ts';
import { Secret, UnseenSecret } from './secret.ts';
import { isList, isRecord, sameValue, WireNumber, type Json, type Value } from './value.ts';
import { TYPE_NOUNS } from './wording.ts';

/** The part of JSON Schema that the schemas of servers use. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly type?: string | readonly string[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly default?: Json;
  readonly readOnly?: boolean;
  readonly writeOnly?: boolean;
}

export type Definitions = Readonly<Record<string, SchemaNode>>;

/** A part of a value that a schema does not allow. `expected` describes the place; of an unknown member, the map that has it. */
export interface Fault {
  readonly path: Path;
  readonly kind: 'unknown' | 'missing' | 'value';
  readonly expected: SchemaNode;
}

/** Every leaf of every answer is looked up. */
const variantFinder = onceFor((defs: Definitions) =>
  onceFor((node: SchemaNode) => findVariants(node, defs)),
);

/** The variants of a schema, references followed. */
export function listSchemaVariants(node: SchemaNode, defs: Definitions): readonly SchemaNode[] {
  if (node.$ref === undefined && node.anyOf === undefined) return [node];
  return variantFinder(defs)(node);
}

function findVariants(node: SchemaNode, defs: Definitions): readonly SchemaNode[] {
  if (node.$ref !== undefined) {
    const { $ref, ...beside } = node;
    return findVariants({ ...defs[$ref.slice('#/$defs/'.length)], ...beside }, defs);
  }
  if (node.anyOf === undefined) return [node];
  const { anyOf, ...beside } = node;
  return anyOf.flatMap((choice) => findVariants({ ...choice, ...beside }, defs));
}

/** Returns the nodes under a key of a map, or at a position of a list; empty if the map has no such key. */
export function findMemberNodes(
  node: SchemaNode,
  key: string,
  defs: Definitions,
): readonly SchemaNode[] {
  const { properties, additionalProperties: others, items } = node;
  if (items !== undefined && /^\d+$/.test(key)) return listSchemaVariants(items, defs);
  const own =
    properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (own !== undefined) return listSchemaVariants(own, defs);
  if (others === true || (others === undefined && isFreeSchema(node))) return [ANYTHING];
  return typeof others === 'object' ? listSchemaVariants(others, defs) : [];
}

const ANYTHING: SchemaNode = {};

function isFreeSchema({ type, properties }: SchemaNode): boolean {
  return type === undefined && properties === undefined;
}

/**
 * The faults of a value, those of the variant that it fits best. A secret is judged by its value, which never appears in a fault; an
 * unknown one has none.
 */
export function findSchemaFaults(
  value: Value,
  node: SchemaNode,
  defs: Definitions,
  path: Path = [],
): Fault[] {
  const variants = listSchemaVariants(node, defs);
  let least: Fault[] | null = null;
  for (const variant of variants) {
    const faults = findNodeFaults(value, variant, defs, path);
    if (faults.length === 0) return [];
    const inside = faults.some(
      (fault) => fault.path.length > path.length || fault.kind !== 'value',
    );
    if (inside && (least === null || faults.length < least.length)) least = faults;
  }
  return least ?? [{ path, kind: 'value', expected: node }];
}

function findNodeFaults(value: Value, node: SchemaNode, defs: Definitions, path: Path): Fault[] {
  if (!isVariantValue(value, node)) return [{ path, kind: 'value', expected: node }];
  if (isList(value)) {
    const { items } = node;
    return items === undefined
      ? []
      : value.flatMap((item, index) =>
          findSchemaFaults(item, items, defs, [...path, String(index)]),
        );
  }
  if (!isRecord(value)) return [];
  const missing = (node.required ?? []).filter((key) => value[key] === undefined);
  return [
    ...missing.map((key): Fault => ({ path: [...path, key], kind: 'missing', expected: node })),
    ...Object.entries(value).flatMap(([key, member]): Fault[] => {
      const inner = findMemberNodes(node, key, defs);
      if (inner.length === 0) return [{ path: [...path, key], kind: 'unknown', expected: node }];
      return findSchemaFaults(member, { anyOf: inner }, defs, [...path, key]);
    }),
  ];
}

/** Reports whether a variant allows a value, whatever is in it. */
function isVariantValue(value: Value, node: SchemaNode): boolean {
  if (value instanceof UnseenSecret) return true;
  if (value instanceof Secret) return node.format === 'password' || fitsSecret(value, node);
  const types = [node.type ?? []].flat();
  const kinds = listValueKinds(value);
  if (types.length > 0 && !kinds.some((kind) => types.includes(kind))) return false;
  if (node.const !== undefined && !sameValue(value, node.const)) return false;
  if (node.enum?.some((one) => sameValue(value, one)) === false) return false;
  if (typeof value === 'string') return isAllowedText(value, node);
  const number = value instanceof WireNumber ? Number(value.token) : value;
  return typeof number !== 'number' || fitsLimits(number, node);
}

function listValueKinds(value: Value): readonly string[] {
  if (value === null) return ['null'];
  if (isList(value)) return ['array'];
  if (value instanceof WireNumber)
    return /^-?\d+$/.test(value.token) ? ['integer', 'number'] : ['number'];
  if (typeof value === 'number')
    return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [isRecord(value) ? 'object' : typeof value];
}

/** A value from a reference: its text, and what the text writes if the place takes no text. */
function fitsSecret(value: Secret, node: SchemaNode): boolean {
  return value.fits((text) => {
    const plain: Value[] = [text, ...(/^(true|false)$/.test(text) ? [text === 'true'] : [])];
    if (text.trim() !== '' && Number.isFinite(Number(text))) plain.push(Number(text));
    return plain.some((one) => isVariantValue(one, node));
  });
}

function isAllowedText(
  text: string,
  { pattern, minLength = 0, maxLength = Infinity }: SchemaNode,
): boolean {
  // A server counts characters, not halves of surrogate pairs.
  const { length } = text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, '_');
  return (
    length >= minLength &&
    length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text))
  );
}

function fitsLimits(number: number, node: SchemaNode): boolean {
  const { minimum = -Infinity, maximum = Infinity } = node;
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity } = node;
  return number >= minimum && number <= maximum && number > above && number < below;
}

/** Describes the required value in words: `a whole number of at least 0, or null`. */
export function describeSchema(node: SchemaNode, defs: Definitions): string {
  const words = listSchemaVariants(node, defs).flatMap((variant) => {
    const { const: one, enum: several } = variant;
    const values = several ?? (one === undefined ? null : [one]);
    if (values !== null) return values.map((value) => JSON.stringify(value));
    return [variant.type ?? []]
      .flat()
      .map((type) => `${TYPE_NOUNS[type] ?? type}${formatSchemaLimits(type, variant)}`);
  });
  const distinct = [...new Set(words)];
  return distinct.length < 2
    ? (distinct[0] ?? 'something else')
    : `${distinct.slice(0, -1).join(', ')} or ${distinct.at(-1)}`;
}

function formatSchemaLimits(type: string, node: SchemaNode): string {
  if (type === 'string') {
    if (node.pattern !== undefined) return ` of the form ${node.pattern}`;
    return (node.minLength ?? 0) > 0 ? ' that is not empty' : '';
  }
  if (type !== 'integer' && type !== 'number') return '';
  const parts = [
    ...(node.minimum === undefined ? [] : [`at least ${node.minimum}`]),
    ...(node.exclusiveMinimum === undefined ? [] : [`more than ${node.exclusiveMinimum}`]),
    ...(node.maximum === undefined ? [] : [`at most ${node.maximum}`]),
    ...(node.exclusiveMaximum === undefined ? [] : [`less than ${node.exclusiveMaximum}`]),
  ];
  return parts.length === 0 ? '' : ` of ${parts.join(' and ')}`;
}
