/** What a service would refuse because of what it has stored is an error of the plan, before anything is sent. */
import { afterEach, describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { ERRORS } from '../../../src/reconciler/model/error.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { DIALECTS } from '../../../src/reconciler/service/dialects.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

let front: Fronted | null = null;
afterEach(async () => {
  await front?.close();
  front = null;
});

/** What is stored first, and a file of which the server would refuse a request; or why no plan has such a request. */
interface Case {
  readonly stored: readonly (readonly [method: string, path: string, body: object])[];
  /** A file that is applied before. */
  readonly before?: string;
  readonly file: string;
  /** What the error names, besides the place in the file. */
  readonly names: string;
}

const SETTINGS = '/api/settings';
const CONNECTIONS = '/api/llm/provider-connections';
const V1 = '/api/v1/settings/profiles';
const llm = { model: 'openai/gpt-5' };
const LISTED = 'a plan changes and removes what a list shows, and nothing else';
const put = (path: string, body: object) => ['POST', path, body] as const;
const count = (most: number) => Array.from({ length: most }, (_, index) => `n${index + 1}`);
const named = (path: string, names: readonly string[], body: object) =>
  names.map((name) => put(`${path}/${name}`, body));
const linked = { ...llm, provider_connection_id: 'conn-gone' };
const connection = { display_name: 'team', provider: 'openai', api_key: 'a-key' };
const renamed = (block: string) =>
  `${block}: { two: { ${block === 'agent_profiles' ? 'llm_profile: x' : 'model: openai/gpt-5'} } }\nmoved: [{ from: ${block}.one, to: ${block}.two }]`;

const AGENT_SERVER: Readonly<Record<string, Case | string>> = {
  'settings: an agent of another maker takes no llm': {
    stored: [['PATCH', SETTINGS, { agent_settings_diff: { agent_kind: 'acp' } }]],
    file: 'settings: { llm_model: openai/gpt-5 }',
    names: 'llm_model',
  },
  'settings: active_profile names a profile that is there, unless an llm is sent beside it': {
    stored: [],
    file: 'settings: { active_profile: none }',
    names: 'active_profile',
  },
  'settings: active_profile names a profile whose connection is there': {
    stored: [put('/api/profiles/p', { llm: linked })],
    file: 'settings: { active_profile: p }',
    names: 'active_profile',
  },
  'llm_profiles: there are no more than 50': {
    stored: named('/api/profiles', count(50), { llm }),
    file: 'llm_profiles: { mine: { model: openai/gpt-5 } }',
    names: 'llm_profiles.mine',
  },
  'meta_profiles: there are no more than 50': {
    stored: [
      put('/api/profiles/x', { llm }),
      ...named('/api/meta-profiles', count(50), { classifier_model: 'x', classes: [] }),
    ],
    file: 'meta_profiles: { mine: { classifier: x } }',
    names: 'meta_profiles.mine',
  },
  'agent_profiles: there are no more than 50': {
    stored: [
      put('/api/profiles/x', { llm }),
      ...named('/api/agent-profiles', count(50), { llm_profile_ref: 'x' }),
    ],
    file: `agent_profiles: { ${[...count(50), 'mine'].map((one) => `${one}: { llm_profile: x }`).join(', ')} }`,
    names: 'agent_profiles.mine',
  },
  'provider_connections: there are no more than 64': {
    stored: count(64).map((name) => put(CONNECTIONS, { ...connection, display_name: name })),
    file: 'provider_connections: { mine: { provider: openai, api_key: "${env:KEY}" } }',
    names: 'provider_connections.mine',
  },
  'llm_profiles: what a request names is there': {
    stored: [],
    file: 'active: { llm_profile: none }',
    names: 'active.llm_profile',
  },
  'meta_profiles: what a request names is there': {
    stored: [],
    file: 'active: { meta_profile: none }',
    names: 'active.meta_profile',
  },
  'agent_profiles: what a request names is there': LISTED,
  'agent_profiles: the id that is made active is there': {
    stored: [],
    file: 'active: { agent_profile: none }',
    names: 'active.agent_profile',
  },
  'provider_connections: what a request names is there': LISTED,
  'mcp_servers: what a request names is there': LISTED,
  'secrets: what a request names is there': LISTED,
  'llm_profiles: no two have one name': {
    stored: named('/api/profiles', ['one', 'two'], { llm }),
    file: renamed('llm_profiles'),
    names: 'llm_profiles.two',
  },
  'agent_profiles: no two have one name': {
    stored: [
      put('/api/profiles/x', { llm }),
      ...named('/api/agent-profiles', ['one', 'two'], { llm_profile_ref: 'x' }),
    ],
    file: renamed('agent_profiles'),
    names: 'agent_profiles.two',
  },
  'mcp_servers: one that is there is not stored anew': 'a plan sends a diff of one that is there',
  'llm_profiles: one whose connection is gone is not made active': {
    stored: [put('/api/profiles/p', { llm: linked })],
    file: 'active: { llm_profile: p }',
    names: 'active.llm_profile',
  },
  'llm_profiles: one that an agent profile names stays': {
    stored: [
      put('/api/profiles/x', { llm }),
      put('/api/agent-profiles/a', { llm_profile_ref: 'x' }),
    ],
    before: 'active: { agent_profile: a }',
    file: 'llm_profiles: { x: null }',
    names: 'llm_profiles.x',
  },
  'provider_connections: one that a profile or the settings name stays': {
    stored: [put(CONNECTIONS, connection)],
    before: 'llm_profiles: { p: { model: openai/gpt-5, connection: team } }',
    file: 'provider_connections: { team: null }',
    names: 'provider_connections.team',
  },
};

const APP_SERVER: Readonly<Record<string, Case | string>> = {
  'llm_profiles: none is stored before the settings are': {
    stored: [],
    file: 'llm_profiles: { mine: { model: openai/gpt-5 } }',
    names: 'llm_profiles.mine',
  },
  'llm_profiles: there are no more than 10': {
    stored: [put('/api/v1/settings', { language: 'en' }), ...named(V1, count(10), { llm })],
    file: 'llm_profiles: { mine: { model: openai/gpt-5 } }',
    names: 'llm_profiles.mine',
  },
  'llm_profiles: what a request names is there': {
    stored: [put('/api/v1/settings', { language: 'en' })],
    file: 'active: { llm_profile: none }',
    names: 'active.llm_profile',
  },
  'llm_profiles: no two have one name': {
    stored: [put('/api/v1/settings', { language: 'en' }), ...named(V1, ['one', 'two'], { llm })],
    file: renamed('llm_profiles'),
    names: 'llm_profiles.two',
  },
  'secrets: what a request names is there': LISTED,
  'secrets: what is removed is there': LISTED,
};

const SETTINGS_V0: Readonly<Record<string, Case | string>> = {
  'secrets: no two have one name': 'one that is there is not created again',
  'secrets: what a request names is there': LISTED,
  'secrets: none gets the name of another': {
    stored: ['one', 'two'].map((name) => put('/api/secrets', { name, value: 'v' })),
    file: 'secrets: { two: "${env:KEY}" }\nmoved: [{ from: secrets.one, to: secrets.two }]',
    names: 'secrets.two',
  },
};

const CASES: Readonly<Record<DialectName, Readonly<Record<string, Case | string>>>> = {
  'agent-server': AGENT_SERVER,
  'app-server': APP_SERVER,
  'settings-v0': SETTINGS_V0,
};

describe.each(Object.keys(CASES) as DialectName[])('%s', (dialect) => {
  const cases = Object.entries(CASES[dialect]);

  it('has a case for each thing that it refuses', () => {
    const rules = DIALECTS[dialect].storage?.effects.refusals.map(({ rule }) => rule);
    expect(cases.map(([rule]) => rule).toSorted()).toEqual(rules?.toSorted());
  });

  it.each(cases.filter((one): one is [string, Case] => typeof one[1] !== 'string'))(
    '%s',
    async (_, { stored, before, file, names }) => {
      front = await startFronted({ dialect });
      const server = `version: 1\nserver: { url: "${front.url}" }\nguards: { empty_store: false }`;
      const applied = (blocks: string) =>
        apply({ text: `${server}\n${blocks}\n`, env: { KEY: 'a-key' }, clock: quickClock() });
      for (const [method, path, body] of stored)
        expect((await front.ask(method, path, body)).status, path).toBeLessThan(300);
      if (before !== undefined)
        expect((await applied(before)).environments).toMatchObject([{ status: 'applied' }]);
      front.seen.length = 0;
      const [found] = (await applied(file)).environments;
      expect(found?.error).toMatchObject({ code: 'unfit-for-service' });
      expect(found?.error?.message).toContain(names);
      expect(ERRORS['unfit-for-service'].exit).toBe(3);
      expect(front.writes()).toEqual([]);
    },
  );
});
