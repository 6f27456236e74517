import { banner, code, prose, sentence, table } from './markdown.mjs';

/** docs/reference/documents.md: the JSON documents, member by member, from their schemas. */
export function documentsPage(schemas) {
  const list = schemas.map(([name, schema]) => [
    `[${code(name)}](#${name})`,
    prose(sentence(schema.description)),
  ]);
  const shared = sharedParts(schemas);
  return [
    banner('schemas/'),
    '# JSON documents\n',
    'What `-o json` prints, and what the [library](library.md) returns. `setpoint schema NAME` prints the JSON Schema. Readers ignore',
    'members that they do not know; a new major of `format_version` is another format. A sensitive value is the text `(sensitive)`.\n',
    table(['document', 'what it is'], list),
    '',
    ...schemas.map(([name, schema]) => section(name, schema, shared)),
    '## Shared parts\n',
    ...[...shared].map(([name, node]) => `### ${name}\n\n${described(node, shared)}\n`),
  ].join('\n');
}

/** Parts that several documents have, and that are the same in all of them. */
function sharedParts(schemas) {
  const defs = schemas.flatMap(([, schema]) => Object.entries(schema.$defs ?? {}));
  const shared = new Map();
  for (const [name, node] of defs) {
    const alike = defs.filter(([other]) => other === name).map(([, one]) => JSON.stringify(one));
    if (alike.length > 1 && new Set(alike).size === 1) shared.set(name, node);
  }
  return shared;
}

function section(name, schema, shared) {
  const parts = schema.oneOf?.map(({ $ref }) => $ref.split('/').at(-1)) ?? [];
  const inner = Object.keys(schema.$defs ?? {}).filter(
    (def) => !parts.includes(def) && !shared.has(def),
  );
  const tops = parts.length === 0 ? [described({ ...schema, description: undefined }, shared)] : [];
  return [
    `## ${name}\n`,
    `${prose(sentence(schema.description))} Schema: [${name}.schema.json](../../schemas/${name}.schema.json).\n`,
    ...tops.map((text) => `${text}\n`),
    ...[...parts, ...inner].map((def) => part(def, schema.$defs[def], shared)),
  ].join('\n');
}

function part(def, node, shared) {
  return `Its *${def}*:\n\n${described(node, shared)}\n`;
}

/** What a map is, and its members. Without members, its type. */
function described(node, shared) {
  const words = node.description === undefined ? '' : `${prose(sentence(node.description))}\n\n`;
  if (node.properties === undefined) return `${words}Type: ${typeOf(node, shared)}.`;
  return `${words}${table(['member', 'type', 'meaning'], membersOf(node, shared))}`;
}

/** Members, and those of maps within them, by their paths. */
function membersOf(node, shared, before = '') {
  return Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const path = `${before}${name}`;
    const row = [code(path), typeOf(member, shared), prose(sentence(member.description ?? ''))];
    const inner = innerOf(member);
    if (inner === null) return [row];
    const suffix = inner === member || inner.type?.includes?.('null') ? '.' : '[].';
    return [
      row,
      ...membersOf(inner, shared, `${path}${member.items === undefined ? suffix : '[].'}`),
    ];
  });
}

/** The map that a member is, or that its items are, if it has members of its own. */
function innerOf(member) {
  if (member.properties !== undefined) return member;
  if (member.items?.properties !== undefined) return member.items;
  // Of items of several forms, the first has most of them.
  if (member.items?.anyOf !== undefined) return member.items.anyOf[0];
  return member.anyOf?.find(({ properties }) => properties !== undefined) ?? null;
}

function typeOf(member, shared) {
  if (member.$ref !== undefined) return nameOf(member.$ref, shared);
  if (member.const !== undefined) return code(JSON.stringify(member.const));
  if (member.enum !== undefined) return member.enum.map((value) => code(String(value))).join(', ');
  const choices = member.anyOf ?? member.oneOf;
  if (choices !== undefined)
    return [...new Set(choices.map((choice) => typeOf(choice, shared)))].join(' or ');
  const types = [member.type ?? 'any'].flat();
  return types.map((type) => (type === 'array' ? listOf(member, shared) : type)).join(' or ');
}

function listOf({ items }, shared) {
  return items === undefined ? 'list' : `list of ${typeOf(items, shared)}`;
}

function nameOf(ref, shared) {
  const name = ref.split('/').at(-1);
  return shared.has(name) ? `[${name}](#${name})` : `*${name}*`;
}
