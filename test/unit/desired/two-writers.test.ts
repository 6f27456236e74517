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
