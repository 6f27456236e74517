import { code, prose, sentence, table } from './markdown.mjs';
import { defaultWord, membersTable, typeWords } from './schema-tables.mjs';

/** The native parts of the settings: every member by its path, and the servers that have it. */
export function nativeSection(schema) {
  const { properties } = schema.$defs.settings;
  const parts = Object.entries(properties).filter(
    ([, property]) => property['x-setpoint']?.native === true,
  );
  const rows = parts.flatMap(([name, property]) => membersAt([name], property, [], schema));
  return [
    '### Native parts\n',
    'What servers after settings-v0 have besides the fields above, in their own nesting. A member with the name of a field in its last',
    'column is that field, and is declared in one of the two places. `null` brings back the default of the server. Servers of the',
    'releases that are named have the member; if none is, all of app-server and agent-server have it.\n',
    table(['path', 'type', 'default', 'servers', 'meaning'], rows),
    '',
    'An mcp server, under its name in `agent_settings.mcp_config`; entries of the lists of `mcp_config` take the same members:\n',
    membersTable(schema.$defs.mcp_server, schema),
    '',
  ];
}

function membersAt(path, node, above, schema) {
  const { servers = above, field } = node['x-setpoint'] ?? {};
  if (node.properties !== undefined)
    return Object.entries(node.properties).flatMap(([name, member]) =>
      membersAt([...path, name], member, servers, schema),
    );
  const meaning =
    field === undefined
      ? prose(sentence(node.description ?? ''))
      : `the field [${code(field)}](#${field})`;
  return [
    [code(path.join('.')), typeWords(node, schema), defaultWord(node), servers.join(', '), meaning],
  ];
}
