import { describe, expect, it } from 'vitest';
import type { SettingsWrite } from '../../../src/reconciler/model/state.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, WireNumber, type Value } from '../../../src/reconciler/model/value.ts';
import { EMPTY_STORE } from '../../../src/reconciler/service/app-server/read.ts';
import {
  buildPostBody,
  postChangedSettings,
  explainPostRefusal,
} from '../../../src/reconciler/service/app-server/write.ts';
import { answering, bodyText, ORIGIN } from './answering.ts';

const URL = 'https://mcp.example.com/mcp';
/** What the service answers in place of a secret. */
const MASK = new Secret('**********');
const PLACE = `POST ${ORIGIN}/api/v1/settings`;

type Fields = Readonly<Record<string, Value>>;

function writeOf(fields: Fields): SettingsWrite {
  const stored = createRecord([['git_user_name', 'stored']]);
  return {
    fields: createRecord(Object.entries(fields)),
    observed: { ...EMPTY_STORE, stored: true, values: stored },
  };
}

/** The body of a POST, or why there is none. */
function post(fields: Fields): unknown {
  return bodyText(buildPostBody(writeOf(fields)));
}

const unreadable = (name: string) =>
  `the value of ${name} would make the stored settings unreadable`;
const secret = (value: string | number) => new Secret(value, '${env:X}');

describe('a POST', () => {
  it.each<[string, Value, unknown]>([
    ['language', 'en', { language: 'en' }],
    ['agent', 'A', { agent_settings_diff: { agent: 'A' } }],
    ['llm_api_key', secret('k'), { agent_settings_diff: { llm: { api_key: 'k' } } }],
    ['max_iterations', 9, { conversation_settings_diff: { max_iterations: 9 } }],
    ['search_api_key', secret('k'), { search_api_key: 'k' }],
    ['remote_runtime_resource_factor', 2, { remote_runtime_resource_factor: 2 }],
    ['max_budget_per_task', 2.5, { max_budget_per_task: 2.5 }],
    ['email_verified', false, { email_verified: false }],
    ['agent_settings.llm.top_p', 0.5, { agent_settings_diff: { llm: { top_p: 0.5 } } }],
    ['disabled_skills', ['a'], { disabled_skills: ['a'] }],
    ['git_full_clone', true, { git_full_clone: true }],
    ['sandbox_grouping_strategy', 'NO_GROUPING', { sandbox_grouping_strategy: 'NO_GROUPING' }],
  ])('has %s in its place', (name, value, body) => {
    expect(post({ [name]: value })).toStrictEqual(body);
  });

  it('has all that is written, flat and native names beside each other, and nothing else', () => {
    expect(
      post({
        llm_model: 'a/b',
        'agent_settings.llm.top_p': 0.5,
        security_analyzer: 'none',
        condenser_max_size: 80,
        git_full_clone: false,
      }),
    ).toStrictEqual({
      agent_settings_diff: { llm: { top_p: 0.5, model: 'a/b' }, condenser: { max_size: 80 } },
      git_full_clone: false,
      conversation_settings_diff: { security_analyzer: 'none' },
    });
    expect(post({})).toStrictEqual({});
  });

  it('keeps the digits of numbers', () => {
    const fields = {
      max_budget_per_task: new WireNumber('2.50'),
      max_iterations: new WireNumber('12345678901234567890'),
    };
    expect(buildPostBody(writeOf(fields))).toEqual({
      record: createRecord([
        ['max_budget_per_task', fields.max_budget_per_task],
        ['conversation_settings_diff', { max_iterations: fields.max_iterations }],
      ]),
    });
  });

  it.each(['secrets_store', 'enable_solvability_analysis', 'llm_profiles', 'no_such_field'])(
    'is none if it would have %s, which the service does not have',
    (name) => {
      expect(post({ language: 'en', [name]: true })).toBe(`these services have no ${name}`);
      expect(explainPostRefusal(writeOf({ [name]: null }))).toBe(`these services have no ${name}`);
    },
  );

  it.each<[string, Value]>([
    ['search_api_key', new Secret('**********', '${env:X}')],
    ['agent_settings.llm.aws_access_key_id', MASK],
    ['mcp_config', { shttp_servers: [{ name: 'one', url: URL, api_key: MASK }] }],
  ])('is none if it would have a mask: %s', (name, value) => {
    expect(post({ [name]: value })).toBe('it would store a mask instead of a secret');
  });

  it('may be sent if nothing speaks against it', () => {
    expect(explainPostRefusal(writeOf({ llm_api_key: secret('k'), language: null }))).toBeNull();
  });
});

describe('what the service could not read again is not sent', () => {
  it.each<[string, Value]>([
    ['language', 5],
    ['language', true],
    ['language', ['en']],
    ['language', secret(5)],
    ['remote_runtime_resource_factor', '3'],
    ['remote_runtime_resource_factor', 1.5],
    ['remote_runtime_resource_factor', true],
    ['remote_runtime_resource_factor', secret('3')],
    ['remote_runtime_resource_factor', secret(1.5)],
    ['remote_runtime_resource_factor', Number.POSITIVE_INFINITY],
    ['condenser_max_size', new WireNumber('80.0')],
    ['condenser_max_size', new WireNumber('8e1')],
    ['max_budget_per_task', '2.5'],
    ['max_budget_per_task', false],
    ['max_budget_per_task', Number.NaN],
    ['max_budget_per_task', new UnseenSecret()],
    ['max_budget_per_task', { amount: 2 }],
    ['email_verified', ''],
    ['email_verified', 1],
    ['user_consents_to_analytics', 'yes'],
    ['search_api_key', 7],
    ['search_api_key', new UnseenSecret()],
    ['disabled_skills', 'a'],
    ['disabled_skills', [1]],
    ['git_full_clone', 'yes'],
    ['sandbox_grouping_strategy', 'OTHER'],
    ['user_version', 'x'],
  ])('%s: %o', (name, value) => {
    expect(post({ [name]: value })).toBe(unreadable(name));
  });

  it.each<[string, Value, unknown]>([
    ['remote_runtime_resource_factor', secret(3), 3],
    ['remote_runtime_resource_factor', -3, -3],
    ['remote_runtime_resource_factor', new WireNumber('-3'), -3],
    ['max_budget_per_task', 2, 2],
    ['language', secret('en'), 'en'],
    ['language', '', ''],
  ])('and what it can is: %s: %o', (name, value, sent) => {
    expect(post({ [name]: value })).toStrictEqual({ [name]: sent });
  });

  it('is judged by the service itself inside the parts whose changes are sent', () => {
    expect(post({ 'agent_settings.llm.top_p': 'x' })).toStrictEqual({
      agent_settings_diff: { llm: { top_p: 'x' } },
    });
  });

  it('is nothing of what is written beside it, either', async () => {
    const { writing, sent } = answering(200);
    const fields = { language: 'en', search_api_key: 7 };
    await expect(postChangedSettings(writing)(writeOf(fields))).resolves.toMatchObject({
      kind: 'not-applied',
      retry: false,
      reached: false,
      error: {
        code: 'settings-refused',
        message: `${PLACE} was not sent: ${unreadable('search_api_key')}.`,
      },
    });
    expect(sent).toEqual([]);
  });
});

describe('null', () => {
  it.each<[string, unknown]>([
    ['language', { language: null }],
    ['search_api_key', { search_api_key: null }],
    ['llm_api_key', { agent_settings_diff: { llm: { api_key: null } } }],
    ['llm_base_url', { agent_settings_diff: { llm: { base_url: null } } }],
    ['max_iterations', { conversation_settings_diff: { max_iterations: null } }],
    ['agent_settings.llm.top_p', { agent_settings_diff: { llm: { top_p: null } } }],
    ['conversation_settings.later', { conversation_settings_diff: { later: null } }],
    ['mcp_config', { agent_settings_diff: { mcp_config: {} } }],
  ])('clears or resets %s', (name, body) => {
    expect(post({ [name]: null })).toStrictEqual(body);
  });

  it.each<[string, unknown]>([
    ['git_full_clone', false],
    ['sandbox_grouping_strategy', 'NO_GROUPING'],
    ['registered_marketplaces', []],
    ['disabled_skills', null],
    ['default_sandbox_spec_id', null],
    ['user_version', null],
  ])('is stored at the top of the record, so that %s is sent its default', (name, sent) => {
    expect(post({ [name]: null })).toStrictEqual({ [name]: sent });
  });

  it.each(['enable_sound_notifications', 'enable_proactive_conversation_starters', 'llm_model'])(
    'is not sent for %s, which cannot be null',
    (name) => {
      expect(post({ [name]: null })).toBe(unreadable(name));
    },
  );

  it.each(['agent_settings', 'conversation_settings'])('is not sent for all of %s', (name) => {
    expect(post({ [name]: null })).toBe(unreadable(name));
  });
});

describe('the mcp servers of a POST', () => {
  const program = { name: 'x', command: 'npx' };

  it('are all sent, each under its name', () => {
    const remote = { name: 'y', url: URL, api_key: secret('k') };
    expect(
      post({ mcp_config: { stdio_servers: [program], shttp_servers: [remote] } }),
    ).toStrictEqual({
      agent_settings_diff: {
        mcp_config: {
          x: { command: 'npx' },
          y: { url: URL, transport: 'http', auth: { strategy: 'api_key', value: 'k' } },
        },
      },
    });
  });

  it('are not sent if two would have one name', () => {
    const config = { stdio_servers: [program], sse_servers: [{ name: 'x', url: URL }] };
    expect(post({ mcp_config: config })).toBe(
      'two servers of mcp_config would have the name x, but names are unique there; one of them may be unmanaged, or in a list that the file does not declare',
    );
  });
});

describe('a write', () => {
  it('is one POST', async () => {
    const { writing, sent } = answering(200);
    const fields = { language: 'en', llm_api_key: secret('canary-key') };
    await expect(postChangedSettings(writing)(writeOf(fields))).resolves.toEqual({
      kind: 'stored',
    });
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/api/v1/settings',
        body: '{"language":"en","agent_settings_diff":{"llm":{"api_key":"canary-key"}}}',
      },
    ]);
  });

  it.each([400, 422])(
    'that is refused (%s) repeats what is stored: none of it is shown',
    async (status) => {
      const { writing } = answering(status, { detail: 'canary-stored' });
      const answer = await postChangedSettings(writing)(writeOf({ max_iterations: 0 }));
      if (answer.kind !== 'not-applied') throw new Error(answer.kind);
      expect(answer).toMatchObject({ retry: false, reached: true });
      const { code, message, hint } = answer.error;
      expect({ code, message, hint }).toEqual({
        code: 'settings-refused',
        message: `${PLACE} was refused as invalid (status ${status}). The answer is not shown, because it repeats stored secrets.`,
        hint: "Look for the reason in the service's logs. nothing was written.",
      });
    },
  );

  it('that a service fails at may have taken effect', async () => {
    const { writing } = answering(500);
    await expect(postChangedSettings(writing)(writeOf({ language: 'en' }))).resolves.toMatchObject({
      kind: 'ambiguous',
      error: { code: 'server-error' },
    });
  });
});
