// Writes the schema of a running server's settings to schemas/servers/DIALECT-RELEASE.json:
// `node scripts/server-schemas.mjs http://127.0.0.1:3000 app-server`, the key in SESSION_API_KEY. Nothing is written to the server.
// What its endpoints do not tell comes from schemas/servers/additions.json, as a merge patch on what they do.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatJson } from './format.mjs';

const folder = join(import.meta.dirname, '../schemas/servers');
const [address, dialect] = process.argv.slice(2);
const ADDITIONS = JSON.parse(readFileSync(join(folder, 'additions.json'), 'utf8'));
if (address === undefined || ADDITIONS[dialect] === undefined) {
  console.error(
    `usage: node scripts/server-schemas.mjs URL ${Object.keys(ADDITIONS).toSorted().join('|')}`,
  );
  process.exit(2);
}
const additions = ADDITIONS[dialect];
const base = `${address.replace(/\/$/, '')}${dialect === 'app-server' ? '/api/v1/settings' : '/api/settings'}`;

async function read(url) {
  const response = await fetch(url, {
    headers: { 'X-Session-API-Key': process.env.SESSION_API_KEY ?? '' },
  });
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.json();
}

const openapi = await read(new URL('/openapi.json', address));
const { version: release } = openapi.info;
const components = openapi.components.schemas;

/** `a` with the members of `b`, maps merged; null removes. */
function patched(a, b) {
  if (!isMap(b)) return b;
  const merged = isMap(a) ? { ...a } : {};
  for (const [key, value] of Object.entries(b)) {
    if (value === null) delete merged[key];
    else merged[key] = patched(merged[key], value);
  }
  return merged;
}

function isMap(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The component that a short name stands for: what a server takes in, if it differs from what it answers. */
function componentOf(name) {
  const found = Object.keys(components).find((full) => shortName(full) === name);
  return found === undefined ? undefined : components[found];
}

/** `LLM-Input` and `LLM-Output` are LLM; of a module's path the last part is kept, and its package if two packages have the name. */
function shortName(full) {
  const bare = full.replace(/-(Input|Output)$/, '');
  const parts = bare.split('__');
  const last = parts.at(-1);
  const twice = Object.keys(components).filter((other) => other.endsWith(`__${last}`)).length > 1;
  return twice ? `${parts[1]}_${last}` : last;
}

const WORDS = ['description', 'examples'];
const KEPT =
  `type const enum format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum
  writeOnly readOnly default required`.split(/\s+/);

/** A schema of OpenAPI as plain JSON Schema: nullable types as one, references by short names, without what only its user interface reads. */
function plain(schema) {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return plainChoice(schema, choices);
  const node = {};
  if (schema.$ref !== undefined) node.$ref = `#/$defs/${shortName(schema.$ref.split('/').at(-1))}`;
  for (const key of KEPT) if (key in schema) node[key] = schema[key];
  if (schema.items !== undefined) node.items = plain(schema.items);
  if (schema.propertyNames !== undefined) node.propertyNames = plain(schema.propertyNames);
  if (schema.properties !== undefined) {
    node.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, plain(member)]),
    );
    node.additionalProperties = schema.additionalProperties === true;
  } else if (schema.additionalProperties !== undefined) {
    node.additionalProperties =
      schema.additionalProperties === true ? true : plain(schema.additionalProperties);
  }
  return { ...node, ...words(schema) };
}

function plainChoice(schema, choices) {
  const outer = { ...('default' in schema ? { default: schema.default } : {}), ...words(schema) };
  const others = choices.map(plain).filter(({ type }) => type !== 'null');
  const nullable = others.length < choices.length;
  // A text that may be a secret is one.
  const secret = others.find(({ format: name }) => name === 'password');
  const distinct = secret === undefined ? others : [secret];
  const texts = distinct.every(({ type }) => type === 'string') && distinct.length > 1;
  const [only] = texts ? [{ type: 'string' }] : distinct.length === 1 ? distinct : [];
  if (only === undefined) {
    const inner = distinct.flatMap((choice) => choice.anyOf ?? [choice]);
    return { anyOf: nullable ? [...inner, { type: 'null' }] : inner, ...outer };
  }
  if (!nullable) return { ...only, ...outer };
  if (only.type === undefined)
    return { anyOf: [...(only.anyOf ?? [only]), { type: 'null' }], ...outer };
  const { const: one, enum: several, ...rest } = only;
  const values = several ?? (one === undefined ? undefined : [one]);
  return {
    ...rest,
    type: [only.type, 'null'],
    ...(values === undefined ? {} : { enum: [...values, null] }),
    ...outer,
  };
}

function words(schema) {
  const { description, examples } = Object.fromEntries(WORDS.map((key) => [key, schema[key]]));
  return {
    ...(description === undefined || schema.properties !== undefined
      ? {}
      : { description: bareText(description) }),
    ...(examples === undefined ? {} : { examples }),
  };
}

/** The first sentence, without the markup of Python's documentation. */
function bareText(text) {
  const bare = text
    .replaceAll(/:\w+:`~?([^`]*)`/g, (_, name) => name.split('.').at(-1))
    .replaceAll(/`|\(?#\d+\)?/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return bare.split(/(?<=\.) (?=[A-Z[])/)[0];
}

/** Adds what a schema endpoint of the server tells of its fields: defaults, secrets, and fields that no component has. */
async function fill(defs, path, rootOf) {
  const { sections } = await read(`${base}/${path}`);
  for (const { fields } of sections) {
    for (const field of fields) {
      const keys = field.key.split('.');
      for (const parent of objectsAt(defs, rootOf(field), keys.slice(0, -1)))
        fillField(parent, keys.at(-1), field);
    }
  }
}

/** The object schemas at a path, each variant of them. */
function objectsAt(defs, schema, [key, ...rest]) {
  const here = schema.$ref === undefined ? schema : defs[schema.$ref.slice('#/$defs/'.length)];
  if (here.anyOf !== undefined)
    return here.anyOf.flatMap((one) => objectsAt(defs, one, [key, ...rest]));
  if (key === undefined) return here.properties === undefined ? [] : [here];
  const next = here.properties?.[key];
  return next === undefined ? [] : objectsAt(defs, next, rest);
}

function fillField(parent, name, { value_type, default: otherwise, secret, choices, description }) {
  const { anyOf, ...known } = parent.properties[name] ?? {};
  const isNew = anyOf === undefined && known.type === undefined && known.$ref === undefined;
  // A variant of a part has not got the members of the others.
  if (isNew && variants.has(parent)) return;
  const values = choices.map(({ value }) => value);
  parent.properties[name] = {
    ...(isNew ? { type: otherwise === null ? [value_type, 'null'] : value_type } : {}),
    ...(anyOf === undefined ? {} : { anyOf }),
    ...(isNew && values.length > 0 ? { enum: values } : {}),
    ...known,
    ...(secret ? { format: 'password', writeOnly: true } : {}),
    ...('default' in known || '$ref' in known ? {} : { default: otherwise }),
    ...(isNew && description ? { description: bareText(description) } : {}),
    ...(!isNew && values.length > 0 && !('enum' in known) && !('const' in known)
      ? { examples: values }
      : {}),
  };
}

/** What may be left out and names no default is null, or empty, if it may be left out. */
function withDefaults(node) {
  if (Array.isArray(node)) return node.map(withDefaults);
  if (!isMap(node)) return node;
  const members = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'default' ? value : withDefaults(value),
    ]),
  );
  const required = members.required ?? [];
  for (const [name, member] of Object.entries(members.properties ?? {})) {
    const otherwise = required.includes(name) ? undefined : emptyOf(member);
    if (otherwise === undefined || 'default' in member) continue;
    const { description: text, ...rest } = member;
    members.properties[name] = {
      ...rest,
      default: otherwise,
      ...(text === undefined ? {} : { description: text }),
    };
  }
  return members;
}

function emptyOf({ type, anyOf = [], properties, additionalProperties }) {
  const types = [type, ...anyOf.map((choice) => choice.type)].flat();
  if (types.includes('null')) return null;
  if (type === 'array') return [];
  return type === 'object' && properties === undefined && additionalProperties !== undefined
    ? {}
    : undefined;
}

/** Every definition that is referred to, from components and additions. */
function definitions(root) {
  const defs = {};
  const collect = (node) => {
    if (Array.isArray(node)) return node.forEach(collect);
    if (!isMap(node)) return undefined;
    const name = node.$ref?.slice('#/$defs/'.length);
    if (name !== undefined && defs[name] === undefined) {
      const component = componentOf(name);
      const addition = additions.$defs[name];
      if (component === undefined && addition === undefined)
        throw new Error(`no component ${name}`);
      defs[name] = patched(component === undefined ? {} : plain(component), addition ?? {});
      collect(defs[name]);
    }
    return Object.values(node).forEach(collect);
  };
  collect(root);
  return defs;
}

const { $defs: _, component, description, ...own } = additions;
const record = patched(plain(components[component]), own);
delete record.required;
let defs = definitions(record);
const agents = record.properties.agent_settings.anyOf.map(({ $ref }) => ({ $ref }));
const definition = ({ $ref }) => defs[$ref.slice('#/$defs/'.length)];
const kindOf = (agent) => definition(agent).properties.agent_kind.const;
const variants = new Set(
  Object.values(defs)
    .flatMap(({ properties = {} }) => Object.values(properties))
    .flatMap(({ anyOf = [] }) => anyOf.filter(({ $ref }) => $ref !== undefined))
    .map(definition),
);
await fill(defs, 'agent-schema', ({ variant }) =>
  agents.find((agent) => kindOf(agent) === (variant ?? 'openhands')),
);
await fill(defs, 'conversation-schema', () => record.properties.conversation_settings);
defs = withDefaults(defs);
for (const [name, addition] of Object.entries(additions.$defs))
  if (defs[name] !== undefined) defs[name] = patched(defs[name], addition);

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: `The settings of ${dialect} ${release}`,
  description: `What a server of release ${release} says of its own settings, made by scripts/server-schemas.mjs. ${description}`,
  ...withDefaults(record),
  $defs: Object.fromEntries(Object.entries(defs).toSorted(([a], [b]) => (a < b ? -1 : 1))),
};
const file = join(folder, `${dialect}-${release}.json`);
writeFileSync(file, formatJson(file, schema));
console.log(file);
