import { isJsonList, isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import {
  type NamedNode,
  resolveSchemaNode,
  type SchemaNode,
  type Snapshot,
  findSchemaVariants,
} from './schema.ts';

/** The place of a secret: in an agent's context or at the top of a record, where every text is one, or elsewhere. */
export type SecretPlace = 'context' | 'top' | 'elsewhere';

/** The text of a secret that is hidden. */
export const MASK = '**********';

/** The beginning of every token that a server has encrypted itself. */
const TOKEN = 'gAAAA';

/**
 * The secret that a sent text stands for; null for none. The mask, an empty text and a token of another server stand for none.
 * Source: contract "llm.api_key: asterisks", "agent_context.secrets: what is no value elsewhere is kept here".
 */
export function readSentSecret(
  text: string,
  place: SecretPlace,
  openToken: (text: string) => string | null,
): string | null {
  if (text.startsWith(TOKEN)) return openToken(text) ?? (place === 'elsewhere' ? null : text);
  if (place !== 'elsewhere') return text;
  return text.trim() === '' || text === MASK ? null : text;
}

/**
 * The handling of the text of a secret; null removes it, with its name if it is one of a map or of an mcp entry. Those of an agent's
 * context are answered in another way than the others.
 */
export type OnSecret = (text: string, isOfContext: boolean) => Json;

/** A record with each of its secrets replaced. The record fits the snapshot. */
export function withSecrets(
  snapshot: Snapshot,
  node: SchemaNode,
  value: Json,
  onSecret: OnSecret,
): Json {
  const places = {
    plain: (text: string) => onSecret(text, false),
    context: (text: string) => onSecret(text, true),
  };
  return replaceNodeSecrets(snapshot, resolveSchemaNode(snapshot, node), value, places);
}

interface Places {
  readonly plain: (text: string) => Json;
  readonly context: (text: string) => Json;
}

function replaceNodeSecrets(
  snapshot: Snapshot,
  { name, node: target }: NamedNode,
  value: Json,
  places: Places,
): Json {
  if (target.format === 'password') return secretReplaced(value, places.plain);
  if (target.anyOf !== undefined) {
    const variant = variantFor(snapshot, target, value);
    return variant === undefined ? value : replaceNodeSecrets(snapshot, variant, value, places);
  }
  if (isJsonList(value) && target.items !== undefined) {
    const { items } = target;
    return value.map((one) =>
      replaceNodeSecrets(snapshot, resolveSchemaNode(snapshot, items), one, places),
    );
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties: others } = target;
  const item = typeof others === 'object' ? others : undefined;
  const isSparse = item?.format === 'password' || name.startsWith('MCP');
  const members = Object.entries(value).map(([key, one]) => {
    const member = Object.hasOwn(properties, key) ? properties[key] : item;
    if (member === undefined) return [key, one] as const;
    const isContext = name === 'AgentContext' && key === 'secrets';
    const inner = isContext ? { ...places, plain: places.context } : places;
    return [
      key,
      replaceNodeSecrets(snapshot, resolveSchemaNode(snapshot, member), one, inner),
    ] as const;
  });
  return Object.fromEntries(
    members.filter(([key, one]) => !isSparse || !isRemovedSecret(value[key], one)),
  );
}

/** Reports whether a value was removed: a secret, or a map of them. */
function isRemovedSecret(before: Json | undefined, after: Json): boolean {
  if (before === undefined || before === after) return false;
  return after === null || (isJsonObject(after) && Object.keys(after).length === 0);
}

/** A secret is a text, or an object of an agent's context that has it as its value. */
function secretReplaced(value: Json, onText: (text: string) => Json): Json {
  if (typeof value === 'string') return value === '' ? value : onText(value);
  if (!isJsonObject(value)) return value;
  const held = readOwnMember(value, 'value');
  return typeof held === 'string' ? { ...value, value: onText(held) } : value;
}

function variantFor(snapshot: Snapshot, node: SchemaNode, value: Json): NamedNode | undefined {
  if (!isJsonObject(value)) return undefined;
  const variants = findSchemaVariants(snapshot, node);
  if (variants === undefined) {
    const only = node.anyOf?.find(({ type }) => type !== 'null');
    return only && resolveSchemaNode(snapshot, only);
  }
  const tag = readOwnMember(value, variants.tag);
  const [usual] = variants.byTag.values();
  return typeof tag === 'string' ? variants.byTag.get(tag) : usual;
}

/** Reports whether a record has a secret at a path. */
export function hasSecret(record: JsonObject, path: readonly string[]): boolean {
  let value: Json = record;
  for (const name of path) {
    const next: Json | undefined = isJsonObject(value) ? readOwnMember(value, name) : undefined;
    if (next === undefined) return false;
    value = next;
  }
  return value !== null;
}
