import { expect, it } from 'vitest';
import { problems } from './reading.ts';

const HEAD = 'version: 1\nserver: { url: https://agents.example.com }\n';

function found(settings: string, active: string): string[] {
  return problems(`${HEAD}settings: { ${settings} }\nactive: { ${active} }\n`);
}

const BOTH = [/^3:\d+ declared-twice$/, /^4:\d+ declared-twice$/];

it.each([
  ['active_profile: a', 'llm_profile: main'],
  ['llm_model: a/b', 'llm_profile: main'],
  ['agent_settings: { llm: { model: a/b } }', 'llm_profile: main'],
  ['active_profile: a', 'llm_profile: null'],
  ['active_meta_profile: a', 'meta_profile: router'],
  ['agent_settings: { active_meta_profile: a }', 'meta_profile: router'],
  ['agent_settings: { enable_classify_and_switch_llm_tool: true }', 'meta_profile: router'],
  ['agent_settings: { meta_profile: { classifier_model: a } }', 'meta_profile: router'],
  ['active_agent_profile_id: 3fa85f64-5717-4562-b3fc-2c963f66afa6', 'agent_profile: reviewer'],
])('settings.%s beside active.%s is an error at both places', (settings, active) => {
  const twice = found(settings, active).filter((one) => one.includes('declared-twice'));
  expect(twice).toEqual(BOTH.map((form) => expect.stringMatching(form)));
});

it.each([
  ['llm_model: a/b', 'llm_profile: null'],
  ['agent_settings: { meta_profile: { classifier_model: a } }', 'meta_profile: null'],
  ['language: en', 'llm_profile: main, meta_profile: router, agent_profile: reviewer'],
])('settings.%s beside active.%s is none: that writes something else', (settings, active) => {
  expect(found(settings, active).filter((one) => one.includes('declared-twice'))).toEqual([]);
});

it.each([
  ['active_profile: main, llm_model: a/b', 'llm_profiles: { main: { model: a/b } }'],
  ['active_profile: main, agent_settings: { llm: { timeout: 9 } }', 'llm_profiles: {}'],
  [
    'active_meta_profile: router, agent_settings: { meta_profile: { classifier_model: a } }',
    'meta_profiles: { router: { classifier: main, prompt_template: p } }',
  ],
])(
  'settings { %s } beside %s is an error: the profile becomes active after all',
  (settings, block) => {
    const all = problems(`${HEAD}settings: { ${settings} }\n${block}\n`);
    expect(all.filter((one) => one.includes('declared-twice'))).toHaveLength(2);
  },
);

it('a pointer beside its profiles, and beside members without profiles, is none', () => {
  const alone = 'settings: { active_profile: main }\nllm_profiles: { main: { model: a/b } }\n';
  const beside = 'settings: { active_profile: main, llm_model: a/b }\n';
  expect(problems(HEAD + alone)).toEqual([]);
  expect(problems(HEAD + beside)).toEqual([]);
});

it.each([
  ['mcp_servers', 'mcp_config: { stdio_servers: [{ name: one, command: npx }] }'],
  ['mcp_servers', 'agent_settings: { mcp_config: { one: { command: npx } } }'],
  ['marketplaces', 'registered_marketplaces: [{ name: team, source: "github:a/b" }]'],
  ['disabled_skills', 'agent_settings: { agent_context: { disabled_skills: [one] } }'],
])('collections.%s with others: remove beside settings { %s } is an error', (block, settings) => {
  const removing = `settings: { ${settings} }\ncollections: { ${block}: { others: remove } }\n`;
  const both = problems(HEAD + removing).filter((one) => one.includes('declared-twice'));
  expect(both).toEqual(BOTH.map((form) => expect.stringMatching(form)));
});
