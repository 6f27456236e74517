import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/reconciler/model/plan.ts';
import { parsePath } from '../../../src/reconciler/model/path.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { ObservedState, SecretState } from '../../../src/reconciler/model/state.ts';
import type { Value, ValueRecord } from '../../../src/reconciler/model/value.ts';
import { findMovedEndpoints } from '../../../src/reconciler/plan/moved.ts';
import { change, observed, settingsPlan } from './hand-made.ts';

const [HERE, THERE] = ['https://a.example', 'https://b.example'];
const CRITIC = 'agent_settings.verification.critic_server_url';
const CRITIC_KEY = 'agent_settings.verification.critic_api_key';
const BEDROCK = 'agent_settings.llm.aws_bedrock_runtime_endpoint';
const HEADERS = 'agent_settings.llm.extra_headers';

interface Stored {
  readonly secrets?: Readonly<Record<string, SecretState>>;
  readonly values?: ValueRecord;
}

function state({ secrets = {}, values = {} }: Stored): ObservedState {
  return { ...observed({}), secrets: new Map(Object.entries(secrets)), values };
}

function at(path: string, more: Partial<Change> = {}): Change {
  return change(parsePath(path) ?? [], more);
}

function moved(path: string, stored: Stored, ...more: Change[]): string[] {
  const moves = at(path, { before: HERE, after: THERE });
  return findMovedEndpoints(settingsPlan([moves, ...more]), state(stored)).map(
    ({ message }) => message,
  );
}

const sentence = (path: string, what: string) =>
  `The plan moves ${path} to another host, and ${what} would go there.`;

describe('an address takes along what is stored for it', () => {
  it('its own key', () => {
    const stored: Stored = { secrets: { [CRITIC_KEY]: 'stored', llm_api_key: 'stored' } };
    expect(moved(CRITIC, stored)).toEqual([sentence(CRITIC, `the stored ${CRITIC_KEY}`)]);
  });

  it('the key of the model, if it has none of its own', () => {
    const stored: Stored = { secrets: { [CRITIC_KEY]: 'not-stored', llm_api_key: 'stored' } };
    expect(moved(CRITIC, stored)).toEqual([sentence(CRITIC, 'the stored llm_api_key')]);
    const cleared = at(CRITIC_KEY, { action: 'clear' });
    const both: Stored = { secrets: { [CRITIC_KEY]: 'stored', llm_api_key: 'stored' } };
    expect(moved(CRITIC, both, cleared)).toEqual([sentence(CRITIC, 'the stored llm_api_key')]);
  });

  it('nothing that is written anew with it', () => {
    const stored: Stored = { secrets: { [CRITIC_KEY]: 'stored', llm_api_key: 'stored' } };
    for (const action of ['set', 'change', 'rotate'] as const)
      expect(moved(CRITIC, stored, at(CRITIC_KEY, { action }))).toEqual([]);
    expect(moved(CRITIC, stored, at('language'))).toHaveLength(1);
  });

  it('each of several credentials, and those of which nothing shows whether they are stored', () => {
    const [id, key] = [
      'agent_settings.llm.aws_access_key_id',
      'agent_settings.llm.aws_session_token',
    ];
    expect(moved(BEDROCK, { secrets: { [id]: 'stored', [key]: 'not-reported' } })).toEqual([
      sentence(BEDROCK, `any stored ${id}, ${key}`),
    ]);
    expect(moved(BEDROCK, { secrets: { [id]: 'stored', [key]: 'not-stored' } })).toEqual([
      sentence(BEDROCK, `the stored ${id}`),
    ]);
    expect(moved(BEDROCK, { secrets: { [id]: 'stored' } }, at(id, { action: 'clear' }))).toEqual(
      [],
    );
    expect(moved(BEDROCK, { secrets: { llm_api_key: 'stored' } })).toEqual([]);
    expect(moved(BEDROCK, {})).toEqual([]);
  });

  it.each<[string, Value, boolean]>([
    ['Authorization', new Secret('x'), true],
    ['X-Api-Key', 'x', true],
    ['X-Title', new Secret('a title'), false],
    ['X-Title', 'a title', false],
    ['X-Title', 'Bearer 0123456789', true],
    ['X-Title', new Secret('sk-live-0123456789'), true],
    ['X-Title', 12, false],
    ['Authorization', null, false],
    ['Authorization', new Secret(''), false],
  ])('a header that lets somebody in: %s', (name, value, isSent) => {
    const header = `${HEADERS}.${name}`;
    expect(moved('llm_base_url', { values: { [header]: value } })).toEqual(
      isSent ? [sentence('llm_base_url', `the stored ${header}`)] : [],
    );
    const cleared = [at(HEADERS, { action: 'clear' })];
    expect(moved('llm_base_url', { values: { [header]: value } }, ...cleared)).toEqual([]);
  });

  it('also if the part around it is reset, and the credential stays', () => {
    const part = at('agent_settings.verification', { action: 'clear', before: {} });
    const stored = { secrets: { llm_api_key: 'stored' }, values: { [CRITIC]: HERE } } as const;
    expect(findMovedEndpoints(settingsPlan([part]), state(stored)).map(({ path }) => path)).toEqual(
      [parsePath(CRITIC)],
    );
    const none = { ...stored, values: {} };
    expect(findMovedEndpoints(settingsPlan([part]), state(none))).toEqual([]);
  });

  it('and a key that the service always tells of only if it does', () => {
    expect(moved(CRITIC, { secrets: { llm_api_key: 'not-reported' } })).toEqual([]);
    expect(moved(CRITIC, { secrets: { [CRITIC_KEY]: 'not-reported' } })).toEqual([
      sentence(CRITIC, `any stored ${CRITIC_KEY}`),
    ]);
  });

  it('also a model that the service addresses by itself', () => {
    const model = at('llm_model', { before: 'openai/a', after: 'anthropic/b' });
    const stored = { ...observed({ user_version: 1, v1_enabled: true, llm_api_key_set: true }) };
    expect(findMovedEndpoints(settingsPlan([model]), stored).map(({ message }) => message)).toEqual(
      ['The plan moves llm_model to another provider, and the stored llm_api_key would go there.'],
    );
  });

  it('if a part around it is written with another one in it, and not with the same', () => {
    const stored = { secrets: { llm_api_key: 'stored' }, values: { [CRITIC]: HERE } } as const;
    const found = (url: string) => {
      const after = { critic_server_url: url };
      const part = at('agent_settings.verification', { before: {}, after });
      return findMovedEndpoints(settingsPlan([part]), state(stored)).map(({ message }) => message);
    };
    expect(found(THERE)).toEqual([sentence(CRITIC, 'the stored llm_api_key')]);
    expect(found(HERE)).toEqual([]);
  });
});

describe('an address that comes with active_profile', () => {
  const stored: Stored = { secrets: { llm_api_key: 'stored' } };
  const found = (address: Partial<Change>, key: Partial<Change>, named = 'llm_api_key') => {
    const moves = at('llm_base_url', { before: HERE, after: THERE, ...address });
    const changes = [moves, at(named, { action: 'clear', ...key })];
    return findMovedEndpoints(settingsPlan(changes), state(stored)).map(({ message }) => message);
  };
  const brought = { cause: ['active_profile'] };

  it('and no key is refused: the service would take one from elsewhere', () => {
    expect(found(brought, brought)).toEqual([
      'The plan moves llm_base_url to another host by active_profile, which has no key. The service would send a key from elsewhere there.',
    ]);
  });

  it('and a key is not, nor is one that the file declares or clears the key of', () => {
    expect(found(brought, { ...brought, action: 'change' })).toEqual([]);
    expect(found({}, brought)).toEqual([]);
    expect(found(brought, {})).toEqual([]);
  });

  it('and clears something else takes the stored key along', () => {
    expect(found(brought, brought, 'search_api_key')).toEqual([
      sentence('llm_base_url', 'the stored llm_api_key'),
    ]);
  });
});
