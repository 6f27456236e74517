// What the embedded service needs of the servers of later dialects, as modules: their schema, from schemas/servers, and what they
// answer word for word, from the exchanges recorded in test/contract.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLosslessNumber, parse, stringify } from 'lossless-json';

const SERVERS = {
  'app-server': {
    schema: 'app-server-1.11.0',
    answers: {
      AGENT_SCHEMA: '/api/v1/settings/agent-schema',
      CONVERSATION_SCHEMA: '/api/v1/settings/conversation-schema',
    },
  },
  'agent-server': {
    schema: 'agent-server-1.57.0',
    answers: {
      SERVER_INFO: '/server_info',
      AGENT_SCHEMA: '/api/settings/agent-schema',
      CONVERSATION_SCHEMA: '/api/settings/conversation-schema',
    },
  },
};

export function emulatorData(root) {
  const read = (...path) => parse(readFileSync(join(root, ...path), 'utf8'));
  return Object.fromEntries(
    Object.entries(SERVERS).map(([dialect, { schema, answers }]) => {
      const { cases } = read('test/contract', `${dialect}.json`);
      const constants = {
        SNAPSHOT: rules(read('schemas/servers', `${schema}.json`)),
        ...Object.fromEntries(
          Object.entries(answers).map(([name, path]) => [name, answer(cases, path)]),
        ),
      };
      const lines = Object.entries(constants).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(stringify(value))};\n`,
      );
      const banner = `// Generated from schemas/servers and test/contract by \`npm run generate\`. Do not edit.\n`;
      return [`src/emulator/${dialect}/data.gen.ts`, banner + lines.join('')];
    }),
  );
}

function answer(cases, path) {
  const found = cases
    .flatMap(({ steps }) => steps)
    .find(({ request, response }) => request?.path === path && Number(response.status) === 200);
  return found.response.body;
}

/** A schema without what only people read. */
function rules(node) {
  if (Array.isArray(node)) return node.map(rules);
  if (typeof node !== 'object' || node === null || isLosslessNumber(node)) return node;
  const { description, examples, title, $schema: _, ...rest } = node;
  const kept = isText(description) ? rest : { ...rest, ...defined({ description }) };
  const named = isText(title) ? kept : { ...kept, ...defined({ title }) };
  const all = Array.isArray(examples) ? named : { ...named, ...defined({ examples }) };
  return Object.fromEntries(
    Object.entries(all).map(([key, value]) => [key, key === 'default' ? value : rules(value)]),
  );
}

/** A member of `properties` may be called like an annotation; then it is a schema and not a text. */
function isText(value) {
  return typeof value === 'string';
}

function defined(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
