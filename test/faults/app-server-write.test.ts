import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret, UnseenSecret } from '../../src/model/secret.ts';
import type { SettingsWrite } from '../../src/model/plan.ts';
import { recordOf, WireNumber, type Value } from '../../src/model/value.ts';
import { EMPTY_STORE } from '../../src/service/app-server/read.ts';
import { bodyToStore } from '../../src/service/app-server/write.ts';
import { startAppServer, storedRecord } from '../fixture/app-server.ts';
import { serviceAt, tellsNothing } from './service.ts';

const server = { apiKey: new Secret('contract-key', '${env:KEY}') };

function writeOf(fields: Readonly<Record<string, Value>>): SettingsWrite {
  return { fields: recordOf(Object.entries(fields)), observed: EMPTY_STORE };
}

describe('what the service could not read again is not sent', () => {
  it.each<[string, Value]>([
    ['language', 5],
    ['language', ['canary']],
    ['remote_runtime_resource_factor', '3'],
    ['remote_runtime_resource_factor', 1.5],
    ['remote_runtime_resource_factor', new Secret('canary', '${env:X}')],
    ['max_budget_per_task', 'canary'],
    ['max_budget_per_task', Number.NaN],
    ['email_verified', ''],
    ['user_consents_to_analytics', 'yes'],
    ['enable_sound_notifications', null],
    ['enable_proactive_conversation_starters', null],
    ['llm_model', null],
    ['search_api_key', 7],
    ['search_api_key', new UnseenSecret()],
    ['search_api_key', new Secret('**********', '${env:X}')],
    ['enable_solvability_analysis', true],
    ['secrets_store', {}],
    ['llm_profiles', {}],
  ])('%s: %o', async (name, value) => {
    const store = await startAppServer(storedRecord({ language: 'en' }));
    onTestFinished(() => store.close());
    const answer = await serviceAt(store.url, { server }).actuator.store(
      writeOf({ [name]: value }),
    );
    expect(answer).toMatchObject({ kind: 'not-applied', retry: false, reached: false });
    if (answer.kind !== 'stored') tellsNothing(answer.error);
    expect(store.requests).toEqual([]);
  });
});

it('a refusal repeats what is stored, and none of it is shown', async () => {
  const llm = { api_key: 'canary-stored' };
  const store = await startAppServer(storedRecord({ agent_settings: { llm } }));
  onTestFinished(() => store.close());
  const { actuator } = serviceAt(store.url, { server });
  const answer = await actuator.store(writeOf({ max_iterations: 0 }));
  expect(answer).toMatchObject({
    kind: 'not-applied',
    reached: true,
    error: { code: 'settings-refused' },
  });
  if (answer.kind === 'stored') throw new Error('it was stored');
  expect(answer.error.message).toBe(
    `POST ${store.url}/api/v1/settings was refused as invalid (status 400). The answer is not shown, because it repeats stored secrets.`,
  );
  tellsNothing(answer.error);
});

it('two servers of one name are not sent', () => {
  const program = recordOf([
    ['name', 'x'],
    ['command', 'npx'],
  ]);
  const config = recordOf([
    ['stdio_servers', [program]],
    [
      'sse_servers',
      [
        recordOf([
          ['name', 'x'],
          ['url', 'https://a.example.com'],
        ]),
      ],
    ],
  ]);
  expect(bodyToStore(writeOf({ mcp_config: config }))).toEqual({
    problem:
      'two servers of mcp_config would have the name x, which names one server there; one of them may be unmanaged, or in a list that the file does not declare',
  });
});

it('each field is sent in its place, and numbers keep their digits', () => {
  const fields = {
    language: 'en',
    llm_model: 'm',
    llm_base_url: null,
    condenser_max_size: new WireNumber('80.0'),
    max_budget_per_task: new WireNumber('2.50'),
    security_analyzer: 'none',
  };
  expect(bodyToStore(writeOf({ ...fields, condenser_max_size: 80 }))).toEqual({
    record: recordOf([
      ['language', 'en'],
      ['agent_settings_diff', { llm: { model: 'm', base_url: null }, condenser: { max_size: 80 } }],
      ['max_budget_per_task', fields.max_budget_per_task],
      ['conversation_settings_diff', { security_analyzer: 'none' }],
    ]),
  });
  expect(bodyToStore(writeOf(fields))).toHaveProperty('problem');
});
