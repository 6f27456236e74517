import { describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { asMember, startOrganization } from '../../fixture/organization.ts';
import { startStore } from '../../fixture/store-server.ts';
import { request } from '../../fixture/settings.ts';
import { describeEach } from '../../fixture/long.ts';

/** A key that reaches every member, as a file may spell it, and the path that plans have for it. */
const SPELLINGS = [
  ['flat', '  llm_api_key: ${env:LLM_KEY}\n', 'llm_api_key'],
  ['native', '  agent_settings: { llm: { api_key: "${env:LLM_KEY}" } }\n', 'llm_api_key'],
  ['flat', '  search_api_key: ${env:SEARCH_KEY}\n', 'search_api_key'],
] as const;
const PROFILE =
  '\nllm_profiles: { fast: { model: anthropic/claude-haiku, api_key: "${env:LLM_KEY}" } }\n';

const ABOUT = [
  '/saas',
  '/api/keys/current',
  '/api/v1/users/me',
  '/api/organizations/00000000-0000-4000-8000-000000000000/members/count',
];

describeEach(SPELLINGS, (_, index) => index === 0)(
  'a key that every member would get, %s: %s',
  (_, settings, path) => {
    it('is refused before anything is sent, and says what and how', async () => {
      const service = await startOrganization();
      const [planned] = (await plan(asMember(service, settings))).environments;
      const refusals = planned?.refusals ?? [];
      expect(refusals.map(({ rule, path: at }) => [rule, at.join('.')])).toEqual([
        ['shared-key', path],
      ]);
      expect(refusals[0]?.message).toMatch(
        new RegExp(
          `^The plan sets ${path} for every member of the organisation Platform \\(5 memb`,
        ),
      );
      const [outcome] = (await apply(asMember(service, settings))).environments;
      expect(outcome).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
      expect(outcome?.error?.hint).toContain('--allow shared-key');
      expect(service.writes()).toEqual([]);
    });

    it.each([
      ['--allow shared-key', { allow: ['shared-key'] }],
      ['the file', { guards: '{ shared_key: false }' }],
    ])('is written and verified with %s', async (_way, more) => {
      const service = await startOrganization();
      const [outcome] = (await apply(asMember(service, settings, more))).environments;
      expect(outcome).toMatchObject({ status: 'applied' });
      expect(JSON.stringify(outcome)).not.toContain('CANARY');
    });

    it('is no matter of a personal workspace', async () => {
      const service = await startOrganization();
      const [outcome] = (await apply(asMember(service, settings, { key: 'k-alone' }))).environments;
      expect(outcome).toMatchObject({ status: 'applied' });
    });

    it('is not asked about on loopback', async () => {
      const service = await startOrganization();
      await apply(asMember({ ...service, url: service.local }, settings));
      expect(service.asked()).toEqual([]);
    });
  },
);

describe('what is asked', () => {
  it('is asked once in a run, however often the settings are read', async () => {
    const service = await startOrganization();
    await apply(asMember(service, SPELLINGS[0][1], { allow: ['shared-key'] }));
    expect(service.asked()).toEqual(ABOUT);
  });

  it('is asked once for environments of one address and key', async () => {
    const service = await startOrganization();
    const [, settings] = SPELLINGS[0];
    const { text = '' } = asMember(service, settings);
    const environments = 'environments: { one: {}, two: { settings: { language: de } } }\n';
    const document = await plan({ ...asMember(service, settings), text: text + environments });
    expect(document.environments.map(({ refusals }) => refusals.length)).toEqual([1, 1]);
    expect(service.asked()).toEqual(ABOUT);
  });

  it('is nothing if the file declares no such key', async () => {
    const service = await startOrganization();
    const [planned] = (await plan(asMember(service, '  language: de\n'))).environments;
    expect(planned?.organization).toBeUndefined();
    expect(service.asked()).toEqual([]);
  });

  it('is nothing of what the file lists as unmanaged', async () => {
    const service = await startOrganization();
    await plan(asMember(service, SPELLINGS[0][1], { unmanaged: '[llm_api_key]' }));
    expect(service.asked()).toEqual([]);
  });

  it('is nothing of a server of settings-v0', async () => {
    const store = await startStore({}, { language: 'en' });
    const url = store.url.replace('127.0.0.1', '0.0.0.0');
    const env = {
      SETPOINT_API_KEY: 'k',
      LLM_KEY: 'k-2',
      SETPOINT_ALLOWED_ORIGINS: url,
      SETPOINT_ALLOWED_VARIABLES: '*',
    };
    const [planned] = (
      await plan(request(url, SPELLINGS[0][1] + '  sandbox_api_key: null\n', { env }))
    ).environments;
    await store.close();
    expect(planned).toMatchObject({ status: 'differs', refusals: [] });
  });

  it('finds none on a server that has none, by two requests, and writes', async () => {
    const service = await startOrganization();
    service.instead = ({ path }) =>
      ABOUT.includes(path) ? { status: 404, body: { detail: 'Not Found' } } : null;
    const [outcome] = (await apply(asMember(service, SPELLINGS[0][1]))).environments;
    expect(outcome).toMatchObject({ status: 'applied' });
    expect(service.asked()).toEqual(['/saas', '/api/keys/current']);
  });

  it.each([
    ['its web page', { status: 200, type: 'text/html', body: '<!doctype html>' }],
    ['another service', { status: 200, body: { saas: false } }],
  ])('takes %s for none', async (_, answer) => {
    const service = await startOrganization();
    service.instead = ({ path }) => (ABOUT.includes(path) ? answer : null);
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1]))).environments;
    expect(planned).toMatchObject({ status: 'differs', refusals: [] });
    expect(planned?.organization).toBeUndefined();
  });

  it('is enough if only the keys answer', async () => {
    const service = await startOrganization();
    service.instead = ({ path }) =>
      path === '/saas' ? { status: 404, body: { detail: 'Not Found' } } : null;
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1]))).environments;
    expect(planned?.refusals).toMatchObject([{ rule: 'shared-key' }]);
  });

  it.each([401, 403, 404, 400])(
    'guards also where it is told no more than that (%i)',
    async (status) => {
      const service = await startOrganization();
      service.instead = ({ path }) =>
        ABOUT.slice(1).includes(path) ? { status, body: { detail: 'no' } } : null;
      const [planned] = (await plan(asMember(service, SPELLINGS[0][1]))).environments;
      expect(planned?.refusals).toMatchObject([{ rule: 'shared-key' }]);
      expect(planned?.organization).toMatchObject({ id: null, role: null, members: null });
    },
  );

  it('cannot be believed if the service fails: no plan then', async () => {
    const service = await startOrganization();
    service.instead = ({ path }) =>
      path === '/saas' ? { status: 502, body: { detail: 'down' } } : null;
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1]))).environments;
    expect(planned).toMatchObject({ status: 'error', error: { code: 'server-error' } });
    const [outcome] = (await apply(asMember(service, SPELLINGS[0][1]))).environments;
    expect(outcome).toMatchObject({ status: 'failed' });
    expect(service.writes()).toEqual([]);
  });
});

describe('the plan', () => {
  it('has the organisation, the key and the role as data', async () => {
    const service = await startOrganization();
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1]))).environments;
    expect(planned?.organization).toEqual({
      id: '00000000-0000-4000-8000-000000000000',
      name: 'Platform',
      personal: false,
      members: 5,
      role: 'member',
      key: { name: 'key of member-3', user: '00000000-0000-4000-8000-000000000003', bound: true },
    });
    expect(JSON.stringify(planned)).not.toContain('@example.com');
  });

  it.each([
    ['k-owner', 'owner', true],
    ['k-admin', 'admin', true],
    ['k-unbound', 'member', false],
  ])('tells %s: %s, bound %s', async (key, role, bound) => {
    const service = await startOrganization();
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1], { key }))).environments;
    expect(planned?.organization).toMatchObject({ role, key: { bound } });
    expect(planned?.refusals).toHaveLength(1);
  });

  it('warns that a save pins, and only where there is one', async () => {
    const service = await startOrganization();
    const settings = `${SPELLINGS[0][1]}  language: de\n`;
    const warned = async () =>
      (await plan(asMember(service, settings))).environments[0]?.warnings.map(({ code }) => code);
    expect(await warned()).toContain('organization');
    await apply(asMember(service, settings, { allow: ['shared-key'] }));
    expect(await warned()).toEqual([]);
  });

  it('has no guard for a key that the service gives to each member by itself', async () => {
    const service = await startOrganization();
    const managed = `  llm_model: openhands/claude-sonnet-4\n${SPELLINGS[0][1]}`;
    const [planned] = (await plan(asMember(service, managed))).environments;
    expect(planned?.refusals).toEqual([]);
    const own = `${managed}  llm_base_url: https://llm.example.com\n`;
    const [other] = (await plan(asMember(service, own))).environments;
    expect(other?.refusals).toMatchObject([{ rule: 'shared-key' }]);
  });

  it('refuses a cleared search key, which goes for every member, and not a cleared LLM key', async () => {
    const service = await startOrganization();
    const keys = SPELLINGS[0][1] + SPELLINGS[2][1];
    await apply(asMember(service, keys, { allow: ['shared-key'] }));
    const cleared = '  llm_api_key: null\n  search_api_key: null\n';
    const [planned] = (await plan(asMember(service, cleared))).environments;
    const shared = planned?.refusals.map(({ message }) => message) ?? [];
    expect(shared).toHaveLength(1);
    expect(shared[0]).toMatch(/^The plan clears search_api_key for every member/);
  });

  it('refuses a rotation like any other write of it', async () => {
    const service = await startOrganization();
    await apply(asMember(service, SPELLINGS[0][1], { allow: ['shared-key'] }));
    const rotating = { rotate: ['llm_api_key'] };
    const [planned] = (await plan(asMember(service, SPELLINGS[0][1], rotating))).environments;
    expect(planned?.refusals[0]?.message).toMatch(/^The plan rotates llm_api_key for every/);
  });

  it('refuses the key of a profile, which the organisation keeps', async () => {
    const service = await startOrganization();
    const asked = asMember(service, '  language: de\n');
    const [planned] = (await plan({ ...asked, text: `${asked.text}${PROFILE}` })).environments;
    expect(planned?.refusals).toMatchObject([
      { rule: 'shared-key', path: ['llm_profiles', 'fast', 'api_key'] },
    ]);
  });

  it('is not lifted by a saved plan, as the other guards are not', async () => {
    const service = await startOrganization();
    const asked = asMember(service, SPELLINGS[0][1]);
    const approved = await plan(asked);
    const [outcome] = (await apply({ ...asked, approved })).environments;
    expect(outcome).toMatchObject({ status: 'refused' });
    const [lifted] = (await apply({ ...asked, approved, allow: ['shared-key'] })).environments;
    expect(lifted).toMatchObject({ status: 'applied', allowed: ['shared-key'] });
  });
});

const OWNED = [
  ['remote_runtime_resource_factor', '2'],
  ['sandbox_base_container_image', 'base:1'],
  ['sandbox_runtime_container_image', 'runtime:1'],
  ['sandbox_grouping_strategy', 'NO_GROUPING'],
  ['max_budget_per_task', '3'],
  ['enable_proactive_conversation_starters', 'false'],
] as const;

describe.each(OWNED)('%s, which belongs to the organisation', (name, value) => {
  it.each([
    ['beside a key', `${SPELLINGS[0][1]}  ${name}: ${value}\n`],
    ['alone', `  language: de\n  ${name}: ${value}\n`],
  ])('is refused before the write, with its place and what to do: %s', async (_, settings) => {
    const service = await startOrganization();
    const allowed = { allow: ['shared-key'] };
    const [outcome] = (await apply(asMember(service, settings, allowed))).environments;
    expect(service.asked()).toEqual(ABOUT);
    expect(outcome?.error).toMatchObject({
      code: 'unfit-for-service',
      hint: expect.stringMatching(/unmanaged; an owner or admin/) as string,
    });
    expect(outcome?.error?.message).toMatch(
      new RegExp(`${name} \\(settings\\.yaml:7:\\d+\\) belongs to the organisation Platform`),
    );
    expect(service.writes()).toEqual([]);
  });

  it.skipIf(name === 'enable_proactive_conversation_starters')(
    'is left alone as null',
    async () => {
      const service = await startOrganization();
      const cleared = `${SPELLINGS[0][1]}  ${name}: null\n`;
      const allowed = { allow: ['shared-key'] };
      const [outcome] = (await apply(asMember(service, cleared, allowed))).environments;
      expect(outcome).toMatchObject({ status: 'applied' });
    },
  );

  it('is asked about once, and is no matter where there is no organisation', async () => {
    const service = await startOrganization();
    service.instead = ({ path }) =>
      ABOUT.includes(path) ? { status: 404, body: { detail: 'Not Found' } } : null;
    const { environments } = await plan(asMember(service, `  ${name}: ${value}\n`));
    expect(environments).toMatchObject([{ error: null, refusals: [] }]);
    expect(service.asked()).toEqual(['/saas', '/api/keys/current']);
  });

  it('is left alone as unmanaged', async () => {
    const service = await startOrganization();
    await plan(asMember(service, `  ${name}: ${value}\n`, { unmanaged: `[${name}]` }));
    expect(service.asked()).toEqual([]);
    const allowed = { allow: ['shared-key'] };
    const declared = `  llm_model: openai/gpt-5\n${SPELLINGS[0][1]}  ${name}: ${value}\n`;
    const left = { ...allowed, unmanaged: `[${name}]` };
    const [other] = (await apply(asMember(service, declared, left))).environments;
    expect(other).toMatchObject({ status: 'applied' });
  });
});
