import { banner, code, prose, sentence, table } from './markdown.mjs';
import { nativeSection } from './native.mjs';
import { defaultWord, isSecret, membersTable, resolved, typeWords } from './schema-tables.mjs';

/** Blocks with a section of its own form. */
const OWN = new Set(['server', 'settings']);

/** What a section says besides the descriptions of its block, by the name of the block. */
const BESIDES = {
  labels: (at) =>
    `[Labels](../settings-file.md#labels) shows how they are used. Example: ${code(JSON.stringify(at('labels').examples[0]))}.`,
  watch: () => '[Keep watch](../guides/watch.md) shows how it is used.',
  kubernetes: () => '[In a cluster](../guides/in-a-cluster.md) shows how it is used.',
};

/** A section for a block: what it declares, and the members of it, or of each of its items. */
function blockSection(name, schema) {
  const block = schema.$defs[name];
  const item = itemOf(block, schema);
  const besides = BESIDES[name]?.((one) => schema.$defs[one]);
  const words = [block.description, item?.description, besides].filter((one) => one !== undefined);
  const members = item ?? block;
  return [
    `## ${name}\n`,
    `${prose(words.join(' '))}\n`,
    ...(members.properties === undefined ? [] : [membersTable(members, schema), '']),
    ...(name === 'kubernetes'
      ? [
          'An entry of `references`:\n',
          membersTable(block.properties.references.additionalProperties, schema),
          '',
        ]
      : []),
  ];
}

/** What a block names, or lists, several of; undefined if it has members of its own. */
function itemOf({ additionalProperties: named, items, properties }, schema) {
  const [member, ...others] = Object.values(properties ?? {});
  const isEachAlike =
    member?.$ref !== undefined && others.every(({ $ref }) => $ref === member.$ref);
  if (properties !== undefined && !isEachAlike) return undefined;
  const given = [member, named, items].find((one) => typeof one === 'object');
  const own = given?.anyOf?.find(({ $ref }) => $ref !== undefined) ?? given;
  const item = own === undefined ? undefined : resolved(own, schema);
  return item?.properties === undefined ? undefined : item;
}

/** docs/reference/settings.md, from schemas/settings.schema.json. */
export function settingsPage(schema) {
  const at = (name) => schema.$defs[name];
  const blocks = Object.keys(at('environment').properties).filter((name) => !OWN.has(name));
  const fields = Object.entries(at('settings').properties).filter(
    ([, property]) => property['x-setpoint']?.native !== true,
  );
  return [
    banner('schemas/settings.schema.json'),
    '# settings.yaml\n',
    `${prose(schema.description)} [The settings file](../settings-file.md) explains the rules; \`setpoint explain PATH\` answers for one`,
    'field, with its value in each environment. A type that "takes a reference" is replaced by one as a whole; text may hold references',
    'anywhere. A dash under *default* is null.\n',
    '## Top level\n',
    membersTable(schema, schema),
    '',
    ...blockSection('labels', schema),
    '## server\n',
    `${at('server').description}\n`,
    membersTable(at('server'), schema),
    '',
    '## settings\n',
    `${at('settings').description} What \`null\` does:\n`,
    ...Object.values(NULL_WORDS).map(([word, meaning]) => `- **${word}**: ${meaning}`),
    '',
    table(
      ['field', 'type', 'default', 'null', 'secret'],
      fields.map(([name, property]) => fieldRow(name, resolved(property, schema), schema)),
    ),
    '',
    ...fields.map(([name, property]) => fieldSection(name, resolved(property, schema))),
    '### Members of secrets_store\n',
    membersTable(at('secrets_store'), schema),
    '',
    '### Members of mcp_config\n',
    membersTable(at('mcp_config'), schema),
    '',
    ...['sse_server', 'shttp_server', 'stdio_server'].map((name) => entrySection(name, schema)),
    ...nativeSection(schema),
    ...blocks.filter((name) => name !== 'labels').flatMap((name) => blockSection(name, schema)),
    '## environments\n',
    `${schema.properties.environments.description} An environment takes: ${Object.keys(
      at('environment').properties,
    )
      .map((name) => `[${code(name)}](#${name})`)
      .join(', ')}.\n`,
  ].join('\n');
}

/** What the service does with null, by x-setpoint. */
const NULL_WORDS = {
  clears: ['clears', 'null is sent, and the service has no value then.'],
  empty: [
    'clears, as ""',
    'the service keeps its value on null, so empty text is sent, which clears it.',
  ],
  keeps: ['not possible', 'the service has no way back to null; `validate` refuses it.'],
  refuses: ['refused', 'the field takes no null.'],
};

function nullWord(property, store) {
  if (store.on_null === 'refuses') return NULL_WORDS.refuses[0];
  if (store.clear_with !== undefined) return NULL_WORDS.empty[0];
  return store.on_null === 'keeps' ? NULL_WORDS.keeps[0] : NULL_WORDS.clears[0];
}

function fieldRow(name, property, schema) {
  const store = property['x-setpoint'] ?? {};
  const cells = [typeWords(property, schema), defaultWord(property), nullWord(property, store)];
  return [`[${code(name)}](#${name})`, ...cells, secretWord(property, store)];
}

/** Whether a field is a secret, and what the service reports of it. */
function secretWord(property, { set_flag: flag, readable }) {
  if (!isSecret(property)) return readable === false ? 'its values' : '';
  return flag === undefined ? 'yes; nothing is reported' : 'yes; reported whether it is set';
}

function fieldSection(name, property) {
  const examples = (property.examples ?? []).map((example) => code(JSON.stringify(example)));
  const example = examples.length === 0 ? '' : ` Example: ${examples.join(', ')}.`;
  return `### ${name}\n\n${prose(sentence(property.description))}${example}\n`;
}

function entrySection(name, schema) {
  const entry = schema.$defs[name];
  const object = entry.anyOf?.find(({ type }) => type === 'object') ?? entry;
  const short = entry.anyOf === undefined ? '' : ', or its url alone as text';
  return `An entry of ${code(`${name}s`)}: a map${short}.\n\n${membersTable(object, schema)}\n`;
}
