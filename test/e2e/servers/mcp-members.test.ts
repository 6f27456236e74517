import { describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import {
  BOTH,
  declaring,
  isOnce,
  LATER,
  serviceWith,
  SPELLINGS,
} from '../../fixture/mcp-servers.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';
import { describeEach } from '../../fixture/long.ts';

const URL = 'https://mcp.example.com/mcp';
const SECRET = 'CANARY-71c2aa09';
const env = { KEY: SECRET };

describeEach(BOTH, isOnce)('a way to send a key, on $dialect, in $spelling', (given) => {
  it.each([null, { strategy: 'none' }, { strategy: 'api_key' }, { strategy: 'bearer' }])(
    'counts as none where there is no key: %j',
    async (auth) => {
      const before = { url: URL, transport: 'http', auth: { strategy: 'api_key' } };
      const service = await serviceWith(given.dialect, { one: before, two: before });
      const declared = { one: { url: URL, auth }, two: { url: URL, auth, description: 'd' } };
      const asked = declaring(service, declared, given.spelling, { env });
      expect((await plan(asked)).environments[0]?.changes).toHaveLength(1);
      const { environments } = await apply({ ...asked, allow: ['secrets-gone'] });
      expect(environments[0]).toMatchObject({ status: 'applied', error: null });
      expect((await plan(asked)).environments[0]?.changes).toEqual([]);
    },
  );
});

describeEach(BOTH, isOnce)(
  'what says that a server needs no key on $dialect, in $spelling',
  (given) => {
    const { dialect, spelling } = given;

    it('stays as it is stored beside a change, and is a change by itself for nobody', async () => {
      const auth = { strategy: 'none' };
      const service = await serviceWith(dialect, { one: { url: URL, transport: 'http', auth } });
      const quiet = declaring(service, { one: { url: URL, auth: null } }, spelling);
      expect((await plan(quiet)).environments[0]?.changes).toEqual([]);
      const asked = declaring(service, { one: { url: URL, description: 'd' } }, spelling);
      expect((await apply(asked)).environments[0]).toMatchObject({
        status: 'applied',
        error: null,
      });
      expect((await service.servers())['one']).toMatchObject({ url: URL, auth, description: 'd' });
      expect((await plan(asked)).environments[0]?.changes).toEqual([]);
    });
  },
);

describeEach(BOTH, isOnce)('the header Authorization on $dialect, in $spelling', (given) => {
  const { dialect, spelling } = given;

  it.each(['Token', 'Bearer'])(
    'is stored as it is declared, or refused by the plan with what to declare: %s',
    async (word) => {
      const sent = `${word} ${SECRET}`;
      const service = await serviceWith(dialect, { one: { url: URL, transport: 'http' } });
      const declared = { one: { url: URL, headers: { Authorization: '${env:SENT}' } } };
      const asked = declaring(service, declared, spelling, { env: { SENT: sent } });
      const [planned] = (await plan(asked)).environments;
      const [applied] = (await apply(asked)).environments;
      const { one } = await service.servers();
      if (dialect === 'agent-server') {
        expect(one?.['headers']).toEqual({ Authorization: sent });
        expect((await plan(asked)).environments[0]?.changes).toEqual([]);
        return;
      }
      const error = {
        code: 'unfit-for-service',
        message: expect.stringContaining(
          `${spelling === 'block' ? 'mcp_servers.one' : 'mcp_config.shttp_servers[https://mcp.example.com/mcp]'}.headers.Authorization is kept as auth there: declare auth with the strategy bearer or header instead.`,
        ),
      };
      expect([planned, applied]).toMatchObject([{ error }, { error }]);
      expect(one).not.toHaveProperty('headers');
    },
  );
});

describe.each(LATER)('a transport that the server has inferred on %s', (dialect) => {
  it('is said beside an address that another one would be inferred from', async () => {
    const service = await serviceWith(dialect, { one: { url: URL } });
    const asked = declaring(
      service,
      { one: { url: `${new globalThis.URL(URL).origin}/sse` } },
      'lists',
    );
    const { environments } = await apply(asked);
    expect(environments[0]).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect((await service.servers())['one']).toMatchObject({ transport: 'http' });
    expect((await plan(asked)).environments[0]).toMatchObject({ status: 'in-sync' });
  });
});

describe('enabled on an Agent Server', () => {
  it.each(SPELLINGS)('null in %s is the default', async (spelling) => {
    const service = await serviceWith('agent-server', { one: { url: URL, enabled: false } });
    const asked = declaring(service, { one: { url: URL, enabled: null } }, spelling);
    const { environments } = await apply(asked);
    expect(environments[0]).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect((await service.servers())['one']).toMatchObject({ enabled: true });
    expect((await plan(asked)).environments[0]).toMatchObject({ status: 'in-sync' });
  });
});

describe.each(LATER)('%s: a member of another strategy', (dialect) => {
  const members: JsonRecord = {
    value: '${env:KEY}',
    header_name: 'X-Key',
    username: 'u',
    password: '${env:KEY}',
    headers: { 'X-Key': '${env:KEY}' },
    authentication: { type: 'oauth' },
  };
  const OWN: Readonly<Record<string, readonly string[]>> = {
    api_key: ['value', 'header_name'],
    bearer: ['value'],
    basic: ['username', 'password'],
    header: ['headers'],
    oauth2: ['authentication'],
  };
  const cases = Object.entries(OWN).flatMap(([strategy, own]) =>
    Object.keys(members).map((member) => [strategy, member, own.includes(member)] as const),
  );

  it('is refused before anything is sent, for every strategy and member', async () => {
    const service = await serviceWith(dialect, {});
    for (const [strategy, member, isOwn] of cases) {
      const server = {
        url: URL,
        transport: 'http',
        auth: { strategy, [member]: members[member] ?? null },
      };
      const asked = declaring(service, { one: server }, 'block', { env });
      const [environment] = (await plan(asked)).environments;
      const foreign = `mcp_servers.one.auth.${member} does not belong to the strategy ${strategy}`;
      const missing = 'mcp_servers.one.auth.username is missing: the strategy basic needs it.';
      if (!isOwn) expect(environment?.error?.message).toContain(foreign);
      else if (strategy === 'basic' && member !== 'username')
        expect(environment?.error?.message).toContain(missing);
      else expect(environment?.error).toBeNull();
    }
  });
});

describe.each(LATER)('%s: an authentication that the service refuses', (dialect) => {
  it.each<[JsonRecord, string]>([
    [{ strategy: 'basic', username: null }, 'username is missing: the strategy basic needs it.'],
    [
      { strategy: 'oauth2', authentication: { type: null } },
      'authentication.type is missing: the strategy oauth2 needs it.',
    ],
  ])('%j is refused before anything is sent', async (auth, problem) => {
    const service = await serviceWith(dialect, {});
    const server = { url: URL, transport: 'http', auth };
    const [environment] = (await plan(declaring(service, { one: server }, 'block'))).environments;
    expect(environment?.error?.message).toContain(`mcp_servers.one.auth.${problem}`);
  });
});

describe.each(LATER)('%s: what is empty in an authentication', (dialect) => {
  it.each<[string, JsonRecord]>([
    ['headers', { strategy: 'header', headers: {} }],
    [
      'members of authentication',
      {
        strategy: 'oauth2',
        authentication: {
          type: 'oauth',
          client_id: 'c',
          scopes: [],
          additional_client_metadata: {},
        },
      },
    ],
  ])('is not stored, and in sync: %s', async (_, auth) => {
    const service = await serviceWith(dialect, {});
    const asked = declaring(service, { one: { url: URL, transport: 'http', auth } }, 'block');
    const [outcome] = (await apply(asked)).environments;
    expect(outcome).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect((await plan(asked)).environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
  });
});

describe.each(LATER)('%s: auth: null beside the key of an entry in a list', (dialect) => {
  it('sends the key in the usual way, and is in sync', async () => {
    const service = await serviceWith(dialect, {});
    const one = { url: URL, api_key: '${env:KEY}', auth: null };
    const asked = declaring(service, { one }, 'lists', { env });
    const [outcome] = (await apply(asked)).environments;
    expect(outcome).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect((await service.servers())['one']).toMatchObject({
      url: URL,
      auth: { strategy: 'api_key', value: SECRET },
    });
    expect((await plan(asked)).environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
  });
});
