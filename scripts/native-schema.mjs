// What settings.yaml and the code take over from schemas/servers: the native parts of the settings, and one table for each dialect.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The snapshots, by their dialects. */
export function readSnapshots(root) {
  const folder = join(root, 'schemas/servers');
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) => {
      const [, dialect, release] = /^(.+)-(\d+\.\d+\.\d+)\.json$/.exec(file) ?? [];
      if (dialect === undefined) return [];
      return [{ dialect, release, schema: JSON.parse(readFileSync(join(folder, file), 'utf8')) }];
    });
}

/** The members at the top of a record that are native: what the specification does not name, and a client may write. */
function nativeMembers({ schema }, flat) {
  return Object.entries(schema.properties).filter(
    ([name, member]) => member.readOnly !== true && !flat.includes(name) && name !== 'mcp_config',
  );
}

/** The schema with the native parts that the snapshots of servers have; everything else in it is written by hand. */
export function withNative(written, snapshots) {
  const { settings, mcp_server: _, mcp_auth: __, ...defs } = written.$defs;
  const own = Object.entries(settings.properties).filter(
    ([, property]) => property['x-setpoint']?.native !== true,
  );
  const resolved = own.map(([name, { $ref, ...property }]) => [
    name,
    $ref === undefined ? property : { ...defs[$ref.slice('#/$defs/'.length)], ...property },
  ]);
  const native = Object.entries(nativeProperties(snapshots, Object.fromEntries(resolved)));
  const parts = native.map(([name, node]) => {
    const { title, ...rest } = { title: TITLES[name], ...node };
    const marked = { ...rest, 'x-setpoint': { native: true, ...rest['x-setpoint'] } };
    return [name, title === undefined ? marked : { title, ...marked }];
  });
  const server = { title: 'McpServer', ...mcpServer(snapshots) };
  const { auth } = server.properties;
  server.properties.auth = { $ref: '#/$defs/mcp_auth' };
  for (const [name, ownMembers] of Object.entries(ENTRY_MEMBERS)) {
    const entry = defs[name].anyOf?.find(({ type }) => type === 'object') ?? defs[name];
    const kept = Object.entries(entry.properties).filter(([key]) => ownMembers.includes(key));
    const more = Object.entries(server.properties)
      .filter(([key]) => !ownMembers.includes(key) && !['url', 'command', 'args'].includes(key))
      .map(([key, node]) => [
        key,
        { ...node, 'x-setpoint': { native: true, ...node['x-setpoint'] } },
      ]);
    entry.properties = Object.fromEntries([...kept, ...more]);
  }
  return {
    ...written,
    $defs: {
      ...defs,
      settings: { ...settings, properties: Object.fromEntries([...own, ...parts]) },
      mcp_server: server,
      mcp_auth: { title: 'McpAuth', ...AUTH_WORDS, ...auth },
    },
  };
}

/** The members of entries of the mcp lists that are written by hand; the others are those of an mcp server. */
const ENTRY_MEMBERS = {
  sse_server: ['url', 'api_key', 'name'],
  shttp_server: ['url', 'api_key', 'timeout', 'name'],
  stdio_server: ['name', 'command', 'args', 'env'],
};

const AUTH_WORDS = {
  description:
    'How the server is shown who calls. A new entry with api_key alone has the strategy api_key without a header name; one that has another keyed strategy keeps it.',
};

const TITLES = {
  agent_settings: 'AgentSettings',
  conversation_settings: 'ConversationSettings',
  misc_settings: 'MiscSettings',
};

/** The tables as JSON: each snapshot without what only people read. */
export function nativeTables(snapshots, flat) {
  return Object.fromEntries(
    snapshots.map((snapshot) => {
      const properties = Object.fromEntries(nativeMembers(snapshot, flat));
      const $defs = reached(properties, snapshot.schema.$defs);
      const served = Object.keys(snapshot.schema.properties).filter(
        (name) => snapshot.schema.properties[name].readOnly === true,
      );
      return [
        snapshot.dialect,
        { release: snapshot.release, served, ...bare({ properties, $defs }) },
      ];
    }),
  );
}

function reached(node, all, found = {}) {
  if (typeof node !== 'object' || node === null) return found;
  const name = node.$ref?.slice('#/$defs/'.length);
  if (name !== undefined && found[name] === undefined) {
    found[name] = all[name];
    reached(all[name], all, found);
  }
  for (const member of Object.values(node)) reached(member, all, found);
  return found;
}

/** A property may be called like an annotation: only texts and lists are annotations. */
function bare(node) {
  if (Array.isArray(node)) return node.map(bare);
  if (typeof node !== 'object' || node === null) return node;
  const isWord = ([key, value]) =>
    (key === 'description' && typeof value === 'string') ||
    (key === 'examples' && Array.isArray(value));
  return Object.fromEntries(
    Object.entries(node)
      .filter((entry) => !isWord(entry))
      .map(([key, value]) => [key, key === 'default' ? value : bare(value)]),
  );
}

/** The native parts as settings.yaml writes them: the union of what the snapshots have, values or references. */
function nativeProperties(snapshots, properties) {
  const flat = Object.keys(properties);
  const fields = new Map(
    Object.entries(properties).flatMap(([name, property]) => {
      const { native } = property['x-setpoint'] ?? {};
      return native === undefined ? [] : [[JSON.stringify(native.split('.')), { name, property }]];
    }),
  );
  const all = snapshots.map(({ dialect, release }) => `${dialect} ${release}`);
  const names = [
    ...new Set(snapshots.flatMap((one) => nativeMembers(one, flat).map(([name]) => name))),
  ];
  return Object.fromEntries(
    names.map((name) => {
      const nodes = snapshots.flatMap((snapshot) => {
        const found = nativeMembers(snapshot, flat).find(([key]) => key === name);
        const label = `${snapshot.dialect} ${snapshot.release}`;
        return found === undefined ? [] : [{ node: found[1], defs: snapshot.schema.$defs, label }];
      });
      return [name, union(nodes, { all, fields, path: [name] })];
    }),
  );
}

/** An mcp server as settings.yaml writes it. */
function mcpServer(snapshots) {
  const all = snapshots.map(({ dialect, release }) => `${dialect} ${release}`);
  const nodes = snapshots.map(({ dialect, release, schema }) => ({
    node: schema.$defs.MCPServer,
    defs: schema.$defs,
    label: `${dialect} ${release}`,
  }));
  return union(nodes, { all, fields: new Map(), path: [] });
}

/** The variants of a node, references followed. */
function variantsOf({ node, defs, label }) {
  if (node.$ref !== undefined) {
    const { $ref, ...beside } = node;
    const target = defs[$ref.slice('#/$defs/'.length)];
    const words = Object.fromEntries(Object.entries(beside).filter(([key]) => key !== '$ref'));
    return variantsOf({ node: { ...target, ...words }, defs, label });
  }
  if (node.anyOf === undefined) return [{ node, defs, label }];
  const { anyOf, ...beside } = node;
  return anyOf.flatMap((choice) => variantsOf({ node: { ...choice, ...beside }, defs, label }));
}

function union(nodes, context) {
  const field = context.fields.get(JSON.stringify(context.path));
  if (context.path.at(-1) === 'mcp_config') return { ...SERVERS, ...wordsOf([], nodes, context) };
  if (field !== undefined) return sameAs(field);
  const variants = nodes.flatMap(variantsOf);
  const own = variants.filter(({ node }) => node.type !== 'null');
  const words = wordsOf(variants, nodes, context);
  const objects = own.filter(({ node }) => node.properties !== undefined);
  if (objects.length > 0) {
    const nullable = nodes.every((one) => variantsOf(one).some(({ node }) => isNullable(node)));
    return { ...objectOf(objects, nullable, context), ...words };
  }
  if (own.some(({ node }) => node.format === 'password'))
    return { ...(context.key.endsWith('headers') ? HEADER : SECRET), ...words };
  const types = [...new Set(own.flatMap(({ node }) => node.type ?? []))].filter(
    (type) => type !== 'null',
  );
  if (types.length === 0) return words;
  const plain = types
    .filter((type) => !['array', 'object'].includes(type))
    .map((type) => scalarOf(own, type, context));
  const lists = types.includes('array')
    ? [{ type: ['array', 'null'], ...itemsOf(own, context) }]
    : [];
  const maps = types.includes('object')
    ? [{ type: ['object', 'null'], additionalProperties: valuesOf(own, context) }]
    : [];
  const textual = types.length === 1 && types[0] === 'string';
  const free = textual && Object.keys(plain[0]).length === 1;
  // A list of text may be one reference, which is split at commas.
  const isTextList = types.length === 1 && lists[0]?.items?.type === 'string';
  const scalars =
    isTextList || !(free || plain.length === 0) ? [...plain, TEMPLATE(textual)] : plain;
  const choices = [...scalars, ...lists, ...maps];
  return choices.length === 1 ? { ...choices[0], ...words } : { anyOf: choices, ...words };
}

/** A native place of a field of the specification takes what that field takes. */
function sameAs({ name, property }) {
  const { examples: _, 'x-setpoint': __, ...rest } = property;
  return { ...rest, 'x-setpoint': { field: name } };
}

const SERVERS = { type: ['object', 'null'], additionalProperties: { $ref: '#/$defs/mcp_server' } };
const TEXT = { type: ['string', 'null'] };
const SECRET = {
  type: ['string', 'null'],
  format: 'password',
  pattern: '^\\$\\{(env:[A-Za-z_][A-Za-z0-9_]*|file:[^}]+|secret:[^}]+)\\}$',
};
/** A header's value: one reference, or a scheme and one. */
const HEADER = {
  ...SECRET,
  pattern:
    '^((Bearer|bearer|Basic|basic|Token|token|ApiKey|Api-Key) )?' +
    SECRET.pattern.slice('^'.length),
};
const TEMPLATE = (textual) => ({ $ref: textual ? '#/$defs/template' : '#/$defs/reference' });

function isNullable({ type }) {
  return [type].flat().includes('null');
}

function objectOf(objects, nullable, context) {
  const names = [...new Set(objects.flatMap(({ node }) => Object.keys(node.properties)))];
  const members = names.flatMap((name) => {
    const path = [...context.path, name];
    const nodes = objects.flatMap(({ node, defs, label }) =>
      node.properties[name] === undefined ? [] : [{ node: node.properties[name], defs, label }],
    );
    if (nodes.every(({ node }) => node.readOnly === true)) return [];
    // Whether a variable of a program is a secret, its name tells.
    if (name === 'env') return [[name, { type: ['object', 'null'], additionalProperties: TEXT }]];
    return [[name, union(nodes, { ...context, path, key: name, inList: false })]];
  });
  const required = names.filter((name) =>
    objects.every(({ node }) => (node.required ?? []).includes(name)),
  );
  const open = objects.some(({ node }) => node.additionalProperties !== false);
  return {
    type: nullable ? ['object', 'null'] : 'object',
    additionalProperties: open,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(members),
  };
}

function scalarOf(own, type, { inList = false }) {
  const nodes = own.map(({ node }) => node).filter((node) => [node.type].flat().includes(type));
  const values = nodes.map(
    ({ enum: some, const: one }) => some ?? (one === undefined ? null : [one]),
  );
  const limits = [
    'minimum',
    'exclusiveMinimum',
    'minLength',
    'maximum',
    'exclusiveMaximum',
    'maxLength',
  ];
  const shared = limits.flatMap((key) => {
    const found = nodes.map((node) => node[key]).filter((limit) => limit !== undefined);
    if (found.length < nodes.length) return [];
    return [
      [key, key.startsWith('m') && key.startsWith('max') ? Math.max(...found) : Math.min(...found)],
    ];
  });
  const patterns = new Set(nodes.map(({ pattern }) => pattern));
  return {
    type: inList ? type : [type, 'null'],
    ...(values.includes(null) ? {} : { enum: choices(values.flat(), inList) }),
    ...Object.fromEntries(shared),
    ...(patterns.size === 1 && !patterns.has(undefined) ? { pattern: [...patterns][0] } : {}),
  };
}

/** Null is a choice wherever it brings the default back. */
function choices(values, inList) {
  const named = [...new Set(values.filter((value) => value !== null))];
  return inList ? named : [...named, null];
}

function itemsOf(own, context) {
  const nodes = own.flatMap(({ node, defs, label }) =>
    node.items === undefined ? [] : [{ node: node.items, defs, label }],
  );
  return nodes.length === 0
    ? {}
    : { items: union(nodes, { ...context, all: [], path: [], inList: true }) };
}

function valuesOf(own, context) {
  const nodes = own.flatMap(({ node, defs, label }) =>
    typeof node.additionalProperties === 'object'
      ? [{ node: node.additionalProperties, defs, label }]
      : [],
  );
  return nodes.length === 0 ? true : union(nodes, { ...context, all: [], path: [], inList: false });
}

/** The words of a node, its default if all have the same, and the servers that have it if not all do. */
function wordsOf(variants, nodes, { all, fields, path }) {
  const texts = [...nodes.map(({ node }) => node), ...variants.map(({ node }) => node)];
  const description = texts.map((node) => node.description).find((text) => text !== undefined);
  const examples = texts.map((node) => node.examples).find((list) => list !== undefined);
  const defaults = nodes.map(({ node }) => JSON.stringify(node.default));
  const same = new Set(defaults).size === 1 && defaults[0] !== undefined;
  const servers = [...new Set(nodes.map(({ label }) => label))];
  const field = fields.get(JSON.stringify(path))?.name;
  const store = {
    ...(all.length === 0 || servers.length === all.length ? {} : { servers }),
    ...(field === undefined ? {} : { field }),
  };
  return {
    ...(description === undefined ? {} : { description }),
    ...(same ? { default: JSON.parse(defaults[0]) } : {}),
    ...(examples === undefined ? {} : { examples }),
    ...(Object.keys(store).length === 0 ? {} : { 'x-setpoint': store }),
  };
}
