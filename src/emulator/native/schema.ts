import type { Call } from '../call.ts';
import { type Answer, createJsonAnswer, unauthorized } from '../http/answer.ts';
import { type Json, readJson } from '../json.ts';

/** The part of JSON Schema that the snapshots of schemas/servers use. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** The settings schema that a server of one release publishes: the record at the root, and the schemas that it refers to. */
export interface Snapshot extends SchemaNode {
  readonly $defs: Readonly<Record<string, SchemaNode>>;
}

/** A schema with its own name, if the snapshot gives it one. */
export interface NamedNode {
  readonly name: string;
  readonly node: SchemaNode;
}

export function resolveSchemaNode({ $defs }: Snapshot, node: SchemaNode): NamedNode {
  const name = node.$ref?.slice('#/$defs/'.length) ?? '';
  const target = $defs[name];
  return target === undefined ? { name: '', node } : { name, node: target };
}

export function allowsNull(node: SchemaNode): boolean {
  const { type, anyOf = [] } = node;
  return type === 'null' || [type].flat().includes('null') || anyOf.some(allowsNull);
}

/** The type of a schema, null aside. */
export function findSchemaType({ type }: SchemaNode): string | undefined {
  if (typeof type === 'string') return type === 'null' ? undefined : type;
  return type?.find((one) => one !== 'null');
}

/** The alternatives of a union that one member distinguishes, by the value of that member. */
export interface Variants {
  readonly tag: string;
  readonly byTag: ReadonlyMap<string, NamedNode>;
}

/** Undefined if no single member distinguishes the alternatives. */
export function findSchemaVariants(
  snapshot: Snapshot,
  { anyOf = [] }: SchemaNode,
): Variants | undefined {
  const named = anyOf
    .filter(({ type }) => type !== 'null')
    .map((one) => resolveSchemaNode(snapshot, one));
  const [first] = named;
  const tag = Object.entries(first?.node.properties ?? {}).find(
    ([, member]) => member.const !== undefined,
  )?.[0];
  if (tag === undefined) return undefined;
  const byTag = new Map(
    named.map((one) => [one.node.properties?.[tag]?.const ?? '', one] as const),
  );
  return { tag, byTag };
}

/** The schema in a generated module. */
export function parseSchemaSnapshot(text: string): Snapshot {
  return JSON.parse(text) as Snapshot;
}

/** An answer in a generated module. */
export function parseAnswerModule(text: string): Json {
  const reading = readJson(text);
  if (reading.kind !== 'json') throw new Error('The generated answer is not JSON.');
  return reading.value;
}

/** Answers with the server's own schema of its fields. Source: contract "schemas". */
export function schemaAnswer(text: string): (call: Call) => Promise<Answer> {
  return async ({ authorized }) =>
    authorized ? createJsonAnswer(200, parseAnswerModule(text)) : unauthorized;
}
