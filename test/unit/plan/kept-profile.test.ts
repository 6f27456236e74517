import { describe, expect, it } from 'vitest';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import { findDeactivation } from '../../../src/reconciler/plan/consequences.ts';
import {
  warnProfileDeactivation,
  isProfileDeactivated,
  isUnchanged,
} from '../../../src/reconciler/plan/profiles.ts';
import { observeAppServer } from '../../../src/reconciler/service/app-server/read.ts';
import type { ValueRecord } from '../../../src/reconciler/model/value.ts';

const MODEL = 'anthropic/y';
const BARE = { model: MODEL, base_url: null };
const ADDRESSED = { model: MODEL, base_url: 'https://llm.example.com' };
const ELSEWHERE = { model: 'other/y', base_url: null };
const PROFILES = { main: BARE, addressed: ADDRESSED, elsewhere: ELSEWHERE };

function shown(
  active: string | null,
  profiles: Readonly<Record<string, { model?: string; base_url?: string | null }>> = { main: BARE },
  more: object = {},
): ObservedState {
  const agent_settings = { agent_kind: 'openhands', llm: {} };
  const { model = MODEL, base_url = null } = Object.entries(profiles).find(
    ([name]) => name === active,
  )?.[1] ?? { model: MODEL };
  const address = { llm_model: model, llm_base_url: base_url };
  const answer = { ...address, llm_api_key_set: true, agent_settings, ...more };
  return observeAppServer({
    ...answer,
    llm_profiles: { active, profiles },
  });
}

describe('the LLM profile that a write ends', () => {
  it.each([
    ['none without an active one', null, { language: 'fr' }, null],
    ['one without an address, by any field', 'main', { language: 'fr' }, true],
    ['none of a provider without an address', 'elsewhere', { language: 'fr' }, null],
    ['one without an address, by its model', 'main', { llm_model: 'a' }, false],
    ['one with an address, by no other field', 'addressed', { language: 'fr' }, null],
    ['one with an address, by its key', 'addressed', { llm_api_key: 'k' }, false],
    ['one by a native member', 'addressed', { 'agent_settings.llm.seed': 1 }, false],
    ['one by the kind of agent', 'addressed', { 'agent_settings.agent_kind': 'acp' }, false],
    ['one that the answer does not show', 'other', { language: 'fr' }, true],
  ])('is %s', (_, active, fields, again) => {
    const observed = shown(active, PROFILES);
    const write = { fields: fields as unknown as ValueRecord, observed };
    const ending = findDeactivation(write, observed);
    expect(ending).toEqual(again === null ? null : { name: active, again });
    const words =
      again === null ? [] : [again ? 'activates it again' : 'This write changes the llm'];
    const found = warnProfileDeactivation(write, observed, { items: new Map() });
    expect(found.map(({ message }) => message)).toEqual(
      words.map((word) => expect.stringContaining(word)),
    );
  });

  it('is none on a service without profiles', () => {
    const { profiles: _, ...observed } = shown('main');
    const fields = { language: 'fr' } as unknown as ValueRecord;
    expect(findDeactivation({ fields, observed }, observed)).toBe(null);
    expect(isProfileDeactivated(observed, shown('main'))).toBe(false);
  });

  it('has ended once another is active, or none', () => {
    expect(isProfileDeactivated(shown('main'), shown('main'))).toBe(false);
    expect(isProfileDeactivated(shown('main'), shown(null))).toBe(true);
    expect(isProfileDeactivated(shown('main'), shown('other'))).toBe(true);
    expect(isProfileDeactivated(shown(null), shown('main'))).toBe(false);
  });

  it.each([
    ['nothing of it is another', {}, { main: BARE }, true],
    ['another profile is', {}, { main: BARE, other: ADDRESSED }, true],
    ['the language is', { language: 'fr' }, { main: BARE }, true],
    ['its own llm is', {}, { main: { ...BARE, model: 'a/b' } }, false],
    ['it is gone', {}, {}, false],
    ['the model is', { llm_model: 'a/b' }, { main: BARE }, false],
    ['the key is', { llm_api_key_set: false }, { main: BARE }, false],
    [
      'a native member is',
      { agent_settings: { agent_kind: 'openhands', llm: { temperature: 2 } } },
      { main: BARE },
      false,
    ],
  ])('may be activated again if %s: %s %s', (_, more, profiles, may) => {
    expect(isUnchanged('main', shown('main'), shown(null, profiles, more))).toBe(may);
  });
});
