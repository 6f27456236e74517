import { describe, expect, it } from 'vitest';
import { concealAnswer } from '../../../src/reconciler/service/app-server/read.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { observedOf } from '../../fixture/observed.ts';
import { storedRecord } from '../../fixture/app-server.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';

/** The members that releases added to a record of settings-v0; all of them show every member, null or not. */
const V0 = { language: null, llm_api_key_set: false, condenser_max_size: null };
const LATER = { ...V0, v1_enabled: true, user_version: null };

/** Members that only an answer has. */
const FLAGS = { llm_api_key_set: false, search_api_key_set: false };

describe('the release that a record shows', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['0.62 or earlier', V0],
    ['1.0', { ...V0, v1_enabled: null }],
    ['1.1 or 1.2', { ...LATER, v1_enabled: null }],
    ['1.1 to 1.5', LATER],
    ['1.6', { ...LATER, disabled_skills: null, sandbox_grouping_strategy: 'NO_GROUPING' }],
  ])('settings-v0: %s', (release, record) => {
    expect(observedOf(record).release).toBe(release);
  });

  const base = storedRecord(FLAGS);
  const { active_agent_profile_id: _, active_agent_profile_revision: __, ...earlier } = base;
  it.each<[string | null, JsonRecord]>([
    ['1.11', base],
    ['1.9 or 1.10', earlier],
    ['later than 1.11', storedRecord({ ...FLAGS, agent_settings: { schema_version: 5 } })],
    [null, storedRecord({ ...FLAGS, agent_settings: { schema_version: 'x' } })],
  ])('app-server: %s', (release, record) => {
    const members = Object.entries(record) as [string, Value][];
    const appServer = DIALECTS['app-server'];
    expect(appServer.saved(concealAnswer(createRecord(members))).release).toBe(release);
  });

  it('an empty store shows none', () => {
    for (const dialect of Object.values(DIALECTS)) expect(dialect.saved(null).release).toBeNull();
  });
});
