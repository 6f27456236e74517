import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readJson,
} from '../json.ts';
import { mergeVerdicts, bad, crash, good, type Location, type Verdict } from '../rules.ts';
import { fitScalar } from './fit-scalar.ts';
import { readSentSecret, type SecretPlace } from './secret-places.ts';
import {
  allowsNull,
  type NamedNode,
  resolveSchemaNode,
  type SchemaNode,
  type Snapshot,
  findSchemaType,
  findSchemaVariants,
} from './schema.ts';

/** The way in which a server reads sent values. */
export interface FitReading {
  readonly snapshot: Snapshot;
  /** The secret in a text that the server has encrypted itself; null if the text is not such a token. */
  readonly openToken: (text: string) => string | null;
  /** The rule for a map in this place: an object of any kind, or an instance of the server's own class. */
  readonly maps: 'attributes' | 'instances';
}

/** An entry of an mcp map refuses what it does not know; every other object drops it. */
const STRICT = 'MCPServer';

/** Parts of an mcp entry are answered only if they are set. */
const SPARSE = /^MCP/;

/** These two keep what they do not know. */
const OPEN = new Set(['MCPOAuthTokenState', 'MCPOAuthClientInfoState']);

/**
 * A value as a server stores it: types coerced, defaults filled in, unknown members dropped; or every problem of it. The rules are
 * those of the snapshot. Source: contract "unknown keys are dropped without a word", "condenser_kind: no_op and back".
 */
export function fit(reading: FitReading, node: SchemaNode, value: Json, at: Location): Verdict {
  const { name, node: target } = resolveSchemaNode(reading.snapshot, node);
  if (value === null && (allowsNull(node) || allowsNull(target))) return good(null);
  if (target.anyOf !== undefined) return fitUnion(reading, target, value, at);
  if (target.properties !== undefined) return fitObject(reading, { name, node: target }, value, at);
  if (findSchemaType(target) === 'object') return fitMap(reading, target, value, at);
  if (findSchemaType(target) === 'array') return fitList(reading, target, value, at);
  if (target.format === 'password') return fitSecret(reading, value, at);
  return fitScalar(target, { isNamed: name !== '' }, value, at);
}

function fitUnion(reading: FitReading, node: SchemaNode, value: Json, at: Location): Verdict {
  const variants = findSchemaVariants(reading.snapshot, node);
  if (variants === undefined) return fitAny(reading, node.anyOf ?? [], value, at);
  const { tag, byTag } = variants;
  const [usual] = byTag.values();
  const otherwise = usual?.node.properties?.[tag]?.default;
  if (!isJsonObject(value)) {
    if (usual !== undefined && typeof otherwise === 'string')
      return noObject(reading, usual.name, value, [...at, otherwise]);
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return bad('model_attributes_type', at, msg, value);
  }
  const sent = readOwnMember(value, tag) ?? otherwise ?? null;
  const name = typeof sent === 'string' ? sent : '';
  const variant = byTag.get(name);
  if (variant !== undefined) return fitObject(reading, variant, value, [...at, name]);
  return unknownTag(tag, name, [...byTag.keys()], value, at);
}

/**
 * The problem of a tag that no alternative has. The way in which the server distinguishes some of its alternatives has a name of its own.
 */
function unknownTag(
  member: string,
  tag: string,
  tags: readonly string[],
  input: Json,
  loc: Location,
): Verdict {
  const named = DISCRIMINATORS.get(member);
  const discriminator = named?.name ?? `'${member}'`;
  if (tag === '') {
    const msg = `Unable to extract tag using discriminator ${discriminator}`;
    const type = 'union_tag_not_found';
    return { kind: 'bad', problems: [{ type, loc, msg, input, ctx: { discriminator } }] };
  }
  const expected_tags = (named?.tags ?? tags).map((one) => `'${one}'`).join(', ');
  const msg = `Input tag '${tag}' found using ${discriminator} does not match any of the expected tags: ${expected_tags}`;
  const ctx = { discriminator, tag, expected_tags };
  return { kind: 'bad', problems: [{ type: 'union_tag_invalid', loc, msg, input, ctx }] };
}

const DISCRIMINATORS = new Map([
  ['agent_kind', { name: '_agent_settings_discriminator()', tags: ['openhands', 'llm', 'acp'] }],
  [
    'condenser_kind',
    { name: '_condenser_settings_discriminator()', tags: ['llm_summarizing', 'no_op'] },
  ],
]);

function fitAny(
  reading: FitReading,
  nodes: readonly SchemaNode[],
  value: Json,
  at: Location,
): Verdict {
  const verdicts = nodes.map((one) => fit(reading, one, value, at));
  return verdicts.find(({ kind }) => kind === 'good') ?? mergeVerdicts(verdicts);
}

function fitObject(
  reading: FitReading,
  { name, node }: NamedNode,
  value: Json,
  at: Location,
): Verdict {
  if (!isJsonObject(value)) return noObject(reading, name, value, at);
  const members = Object.entries(node.properties ?? {});
  const fitted: [string, Json][] = [];
  const verdicts: Verdict[] = [];
  for (const [key, member] of members) {
    const verdict = fitMember(reading, { node, key, member }, value, at);
    verdicts.push(verdict);
    if (verdict.kind === 'good' && !(SPARSE.test(name) && isUnsetPart(verdict.value)))
      fitted.push([key, verdict.value]);
  }
  for (const [key, other] of Object.entries(value)) {
    if (Object.hasOwn(node.properties ?? {}, key)) continue;
    if (name === STRICT)
      verdicts.push(bad('extra_forbidden', [...at, key], 'Extra inputs are not permitted', other));
    else if (OPEN.has(name) || node.additionalProperties === true) fitted.push([key, other]);
  }
  const whole = mergeVerdicts(verdicts);
  return whole.kind === 'good' ? good(Object.fromEntries(fitted)) : whole;
}

function isUnsetPart(value: Json): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

function noObject(reading: FitReading, name: string, value: Json, at: Location): Verdict {
  const what = 'Input should be a valid dictionary or';
  if (reading.maps === 'instances')
    return bad('model_type', at, `${what} instance of ${name.replace(/^sdk_/, '')}`, value);
  return bad('model_attributes_type', at, `${what} object to extract fields from`, value);
}

interface SchemaMember {
  readonly node: SchemaNode;
  readonly key: string;
  readonly member: SchemaNode;
}

function fitMember(
  reading: FitReading,
  { node, key, member }: SchemaMember,
  object: JsonObject,
  at: Location,
): Verdict {
  const value = readOwnMember(object, key);
  if (value !== undefined) return fit(reading, member, value, [...at, key]);
  if (node.required?.includes(key) === true)
    return bad('missing', [...at, key], 'Field required', object);
  return good(computeDefault(reading, member));
}

/** The value of a member that was left out. An object without a default of its own is made of those of its members. */
function computeDefault(reading: FitReading, member: SchemaNode): Json {
  const { node } = resolveSchemaNode(reading.snapshot, member);
  const given = member.default !== undefined ? member.default : node.default;
  if (given === null || (given === undefined && allowsNull(member))) return null;
  const text = JSON.stringify(given ?? (findSchemaType(node) === 'array' ? [] : {}));
  const read = readJson(text);
  const verdict = read.kind === 'json' ? fit(reading, member, read.value, []) : crash;
  if (verdict.kind !== 'good') throw new Error('The snapshot has a default that does not fit.');
  return verdict.value;
}

function fitMap(reading: FitReading, node: SchemaNode, value: Json, at: Location): Verdict {
  if (!isJsonObject(value))
    return bad('dict_type', at, 'Input should be a valid dictionary', value);
  const { additionalProperties: item } = node;
  if (item === undefined || typeof item === 'boolean') return good(value);
  const names = Object.keys(value);
  const isSecret = item.format === 'password';
  const verdicts = Object.entries(value).map(([name, one]) =>
    isSecret ? fitSecretOfMap(reading, one, [...at, name]) : fit(reading, item, one, [...at, name]),
  );
  const whole = mergeVerdicts(verdicts);
  if (whole.kind !== 'good') return whole;
  const pairs = names.map((name, index) => [name, whole.value[index] ?? null] as const);
  return good(Object.fromEntries(pairs.filter(([, one]) => !isSecret || one !== null)));
}

function fitList(reading: FitReading, node: SchemaNode, value: Json, at: Location): Verdict {
  if (!isJsonList(value)) return bad('list_type', at, 'Input should be a valid list', value);
  const { items = {} } = node;
  return mergeVerdicts(value.map((one, index) => fit(reading, items, one, [...at, BigInt(index)])));
}

/** The text of a secret; null if it stands for none. Source: contract "llm.api_key: a token of the server itself". */
function fitSecret(reading: FitReading, value: Json, at: Location): Verdict {
  if (typeof value !== 'string') {
    const msg = 'Input should be a valid string';
    return mergeVerdicts([
      bad('string_type', [...at, 'str'], msg, value),
      bad('string_type', [...at, SECRET_TEXT], msg, value),
    ]);
  }
  return good(readSentSecret(value, findSecretPlace(at), reading.openToken));
}

/** The name of the server's own reading of a secret, which it tries after that of a text. */
const SECRET_TEXT = (() => {
  const text = 'function-after[SecretStr(), str]';
  const either = `json-or-python[json=${text},python=union[is-instance[SecretStr],${text}]]`;
  return `lax-or-strict[lax=${either},strict=${either}]`;
})();

/** A value of a map of secrets. Those of an agent's context may be objects that hold one. */
function fitSecretOfMap(reading: FitReading, value: Json, at: Location): Verdict {
  const isOfContext = findSecretPlace(at) === 'context';
  if (isOfContext && isJsonObject(value) && typeof readOwnMember(value, 'value') === 'string')
    return good({ description: null, ...value });
  if (typeof value === 'string') return fitSecret(reading, value, at);
  return bad('string_type', at, 'Input should be a valid string', value);
}

function findSecretPlace(at: Location): SecretPlace {
  if (at.length === 1) return 'top';
  return at.at(-2) === 'secrets' && at.includes('agent_context') ? 'context' : 'elsewhere';
}
