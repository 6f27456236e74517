/** What the items of a file contradict in each other is an error before anything is sent, with both places. */
import { expect, it } from 'vitest';
import { readTargets } from '../../../src/reconciler/desired/target.ts';

function errorsOf(blocks: string): readonly string[] {
  const text = `version: 1\nserver: { url: "https://agents.example.com" }\n${blocks}\n`;
  const { diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [] },
    { serverGiven: true, several: false },
  );
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ line, message }) => `${line}: ${message}`);
}

const MAIN = 'llm_profiles: { main: { model: openai/gpt-5 }, old: null }';

it.each([
  [
    'active',
    `${MAIN}\nactive: { llm_profile: old }`,
    ['4: This names the LLM profile old, which the file removes (settings.yaml:3).'],
  ],
  [
    'a pointer of the settings',
    'meta_profiles: { old: null }\nsettings: { active_meta_profile: old }',
    ['4: This names the meta profile old, which the file removes (settings.yaml:3).'],
  ],
  [
    'an agent profile',
    `${MAIN}\nagent_profiles: { a: { llm_profile: old } }`,
    ['4: This names the LLM profile old, which the file removes (settings.yaml:3).'],
  ],
  [
    'a connection',
    'provider_connections: { team: null }\nllm_profiles: { main: { model: m/x, connection: team } }',
    ['4: This names the connection team, which the file removes (settings.yaml:3).'],
  ],
  [
    'an mcp server',
    'mcp_servers: { files: null }\nagent_profiles: { a: { agent_kind: acp, mcp_servers: [files] } }',
    ['4: This names the mcp server files, which the file removes (settings.yaml:3).'],
  ],
  [
    'the former name of one that is renamed',
    'llm_profiles: { next: { model: m/x } }\nmoved: [{ from: llm_profiles.old, to: llm_profiles.next }]\nactive: { llm_profile: old }',
    [
      '5: This names the LLM profile old, which the file renames to llm_profiles.next (settings.yaml:4).',
    ],
  ],
  [
    'two tools of one name',
    'agent_profiles: { a: { llm_profile: m, tools: [{ name: terminal }, { name: x }, { name: terminal, params: { a: 1 } }] } }',
    [
      '3: agent_profiles.a.tools[2] is the same tool as agent_profiles.a.tools[0] (settings.yaml:3).',
    ],
  ],
  [
    'no active agent profile beside a list that makes one active',
    'active: { agent_profile: null }\ncollections: { agent_profiles: { others: remove } }',
    [
      '3: collections.agent_profiles reads the list of agent profiles, with which a server makes one active.',
    ],
  ],
  [
    'a pointer of the settings and the llm, beside profiles of which others are removed',
    'settings: { active_profile: a, agent_settings: { llm: { model: own/x } } }\ncollections: { llm_profiles: { others: remove } }',
    [
      '3: This and agent_settings.llm set the same values: activating a profile replaces the values in the settings.',
      '3: This and active_profile set the same values: activating a profile replaces the values in the settings.',
    ],
  ],
  [
    'two marketplaces of one name',
    'settings: { registered_marketplaces: [{ name: a, source: "github:x/a" }, { name: b, source: "github:x/b" }, { name: a, source: "github:x/c" }] }',
    [
      '3: registered_marketplaces[2] is the same marketplace as registered_marketplaces[0] (settings.yaml:3).',
    ],
  ],
  [
    'a tool by its name and by its class',
    'agent_profiles:\n  a:\n    llm_profile: m\n    tools:\n      - name: finish\n      - name: FinishTool',
    [
      '8: agent_profiles.a.tools[1] is the same tool as agent_profiles.a.tools[0] (settings.yaml:7).',
    ],
  ],
  [
    'an mcp server at its native place that cannot be reached',
    'settings: { agent_settings: { mcp_config: { a: { cwd: x }, c: { url: null }, d: { command: npx } } } }',
    ['3: url or command is missing here.', '3: url or command is missing here.'],
  ],
  [
    'an mcp server at its native place that no file can name',
    'settings: { agent_settings: { mcp_config: { " a": { command: npx } } } }',
    ['3: Invalid mcp server name.'],
  ],
  [
    'one of an environment',
    'environments:\n  e:\n    settings: { agent_settings: { mcp_config: { a: { cwd: x } } } }',
    ['5: url or command is missing here.'],
  ],
  [
    'tools that differ, or may',
    'agent_profiles: { a: { llm_profile: m, tools: [{ name: a }, { name: b }, { name: "${env:T}" }, { name: "${env:T}" }] } }',
    [],
  ],
  [
    'the agent profile that a server makes',
    'agent_profiles: { default: null }\nactive: { agent_profile: default }',
    ['4: This names the agent profile default, which the file removes (settings.yaml:3).'],
  ],
  ['what a server makes', 'agent_profiles: {}\nactive: { agent_profile: default }', []],
  ['what stays', `${MAIN}\nactive: { llm_profile: main }`, []],
  ['what the server may have', `${MAIN}\nactive: { llm_profile: elsewhere }`, []],
])('%s', (_, blocks, errors) => {
  expect(errorsOf(blocks)).toEqual(errors);
});
