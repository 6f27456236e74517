import { banner, code, prose, sentence, table } from './markdown.mjs';
import { nativeSection } from './native.mjs';
import { defaultWord, isSecret, membersTable, resolved, typeWords } from './schema-tables.mjs';

/** The blocks that declare something by name, and what each item of one is. */
const COLLECTIONS = [
  ['skills', 'installed'],
  ['plugins', 'installed'],
  ['provider_connections', 'provider_connection'],
  ['llm_profiles', 'llm_profile'],
  ['meta_profiles', 'meta_profile'],
  ['agent_profiles', 'agent_profile'],
  ['active', 'active'],
];

function blockSection(block, item, schema) {
  const [all, one] = [schema.$defs[block], schema.$defs[item]];
  const words = all === one ? all.description : `${all.description} ${one.description}`;
  return [`## ${block}\n`, `${prose(words)}\n`, membersTable(one, schema), ''];
}

/** docs/reference/settings.md, from schemas/settings.schema.json. */
export function settingsPage(schema) {
  const at = (name) => schema.$defs[name];
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
    '## labels\n',
    `${prose(at('labels').description)} [Labels](../settings-file.md#labels) shows how they are used. Example: ${code(JSON.stringify(at('labels').examples[0]))}.\n`,
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
    ...NAMED.flatMap(([block, item]) => [
      `## ${block}\n`,
      `${prose(at(block).description)} ${prose(at(item).description)}\n`,
      membersTable(at(item), schema),
      '',
    ]),
    '## active\n',
    `${prose(at('active').description)}\n`,
    membersTable(at('active'), schema),
    '',
    '## collections\n',
    `${prose(at('collections').description)} A member of a block:\n`,
    membersTable(at('collection'), schema),
    '',
    '## moved\n',
    `${prose(at('moved').description)} An entry:\n`,
    membersTable(at('moved').items, schema),
    '',
    '## git_providers\n',
    `${at('git_providers').description} ${at('git_provider').description}\n`,
    membersTable(at('git_provider'), schema),
    '',
    ...COLLECTIONS.flatMap(([block, item]) => blockSection(block, item, schema)),
    '## sandboxes\n',
    `${at('sandboxes').description} ${at('sandbox').description}\n`,
    membersTable(at('sandbox'), schema),
    '',
    '## mcp_servers\n',
    `${prose(at('mcp_servers').description)} A server:\n`,
    membersTable(at('mcp_server'), schema),
    '',
    '## marketplaces\n',
    `${prose(at('marketplaces').description)} A marketplace:\n`,
    membersTable(at('marketplace'), schema),
    '',
    '## disabled_skills\n',
    `${prose(at('disabled_skills').description)}\n`,
    '## guards\n',
    `${prose(at('guards').description)}\n`,
    membersTable(at('guards'), schema),
    '## watch\n',
    `${prose(at('watch').description)} [Keep watch](../guides/watch.md) shows how it is used.\n`,
    membersTable(at('watch'), schema),
    '## kubernetes\n',
    `${prose(at('kubernetes').description)} [In a cluster](../guides/in-a-cluster.md) shows how it is used.\n`,
    membersTable(at('kubernetes'), schema),
    'An entry of `references`:\n',
    membersTable(at('kubernetes').properties.references.additionalProperties, schema),
    '',
    '## unmanaged\n',
    `${prose(at('unmanaged').description)}\n`,
    '## environments\n',
    `${schema.properties.environments.description} An environment takes: ${Object.keys(
      at('environment').properties,
    )
      .map((name) => `[${code(name)}](#${name})`)
      .join(', ')}.\n`,
  ].join('\n');
}

/** The blocks that name items, and what one is. */
const NAMED = [
  ['secrets', 'custom_secret'],
  ['git_providers', 'git_provider'],
  ['provider_connections', 'provider_connection'],
  ['llm_profiles', 'llm_profile'],
  ['meta_profiles', 'meta_profile'],
  ['agent_profiles', 'agent_profile'],
];

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
