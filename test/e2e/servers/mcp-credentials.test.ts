import { describe, expect } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { BOTH, declaring, isOnce, serviceWith } from '../../fixture/mcp-servers.ts';
import type { JsonRecord } from '../../fixture/store-server.ts';
import { itEach } from '../../fixture/long.ts';

const SECRET = 'CANARY-2f81c0de';
const HERE = 'https://here.example.com/mcp';
const ELSEWHERE = 'https://elsewhere.example.com/mcp';

/** Every way to hold a credential for an address. */
const KEPT: readonly (readonly [string, JsonRecord])[] = [
  ['api_key', { auth: { strategy: 'api_key', value: SECRET } }],
  ['another header_name', { auth: { strategy: 'api_key', value: SECRET, header_name: 'X-Key' } }],
  ['bearer', { auth: { strategy: 'bearer', value: SECRET } }],
  ['basic', { auth: { strategy: 'basic', username: 'u', password: SECRET } }],
  ['header', { auth: { strategy: 'header', headers: { 'X-Key': SECRET } } }],
  ['headers', { headers: { 'X-Key': SECRET } }],
];

const CASES = BOTH.flatMap((one) => KEPT.map(([how, member]) => ({ ...one, how, member })));
const COMPARED = [false, true].flatMap((compares) => CASES.map((one) => ({ ...one, compares })));

/** One way on each dialect, also with secrets that are compared. */
const isShort = (one: (typeof COMPARED)[number]): boolean => isOnce(one) && one.how === 'bearer';

/** Compared secrets are a matter of the Agent Server alone: the other answers none. */
const cases = COMPARED.filter(({ dialect, compares }) => dialect === 'agent-server' || !compares);

describe('a stored credential never travels to another origin', () => {
  itEach(cases, isShort)(
    '$dialect, $spelling, $how, compared: $compares: a new address under the same name keeps none',
    async ({ dialect, spelling, member, compares }) => {
      const service = await serviceWith(dialect, {
        one: { url: HERE, transport: 'http', ...member },
      });
      const moved = declaring(service, { one: { url: ELSEWHERE } }, spelling, { compares });
      const { environments } = await apply(moved);
      expect(environments[0]).toMatchObject({ status: 'applied', error: null });
      const { one } = await service.servers();
      expect(one).toMatchObject({ url: ELSEWHERE });
      expect(JSON.stringify(one)).not.toContain(SECRET);
      expect(service.writes()).toHaveLength(1);
    },
  );

  itEach(cases, isShort)(
    '$dialect, $spelling, $how, compared: $compares: move-endpoint refuses it, and clear-secret',
    async ({ dialect, spelling, member, compares }) => {
      const service = await serviceWith(dialect, {
        one: { url: HERE, transport: 'http', ...member },
      });
      const rulesFor = async (guards: string) => {
        const given = { compares, guards };
        const asked = declaring(service, { one: { url: ELSEWHERE } }, spelling, given);
        const { environments } = await apply(asked);
        expect(environments[0]?.status).toBe('refused');
        return [...new Set(environments[0]?.refusals.map(({ rule }) => rule))];
      };
      expect(await rulesFor('{ move_endpoint: true }')).toEqual(['move-endpoint']);
      expect(await rulesFor('{ clear_secret: true }')).toEqual(['clear-secret']);
      expect(service.writes()).toEqual([]);
      expect(JSON.stringify(await service.servers())).toContain(SECRET);
    },
  );

  const LISTS = [
    [{ url: HERE, transport: 'sse' }, { url: ELSEWHERE }],
    [
      { url: HERE, transport: 'http' },
      { url: ELSEWHERE, transport: 'sse' },
    ],
    [{ command: 'npx', env: { TOKEN: SECRET } }, { url: ELSEWHERE }],
  ] as const;
  const moves = BOTH.flatMap((one) => LISTS.map(([before, after]) => ({ ...one, before, after })));
  itEach(moves, isOnce)(
    '$dialect, $spelling: an entry that moves from $before to $after keeps none, and move-endpoint sees it',
    async ({ dialect, spelling, before, after }) => {
      const key = 'url' in before ? { auth: { strategy: 'bearer', value: SECRET } } : {};
      const service = await serviceWith(dialect, { one: { ...before, ...key } });
      const asked = (guards?: string) =>
        declaring(service, { one: after }, spelling, guards === undefined ? {} : { guards });
      const refused = await apply(asked('{ move_endpoint: true }'));
      expect(refused.environments[0]?.refusals.map(({ rule }) => rule)).toEqual(['move-endpoint']);
      const { environments } = await apply(asked());
      expect(environments[0]).toMatchObject({ status: 'applied', error: null });
      expect(JSON.stringify(await service.servers())).not.toContain(SECRET);
    },
  );

  itEach(CASES, isOnce)(
    '$dialect, $spelling, $how: what the file declares anew is sent there, and the guard asks for a word',
    async ({ dialect, spelling, member }) => {
      const service = await serviceWith(dialect, {
        one: { url: HERE, transport: 'http', ...member },
      });
      const declared = JSON.parse(
        JSON.stringify({ url: ELSEWHERE, ...member }).replaceAll(SECRET, '${env:NEW}'),
      ) as JsonRecord;
      const env = { NEW: 'another-key' };
      const guarded = await plan(
        declaring(service, { one: declared }, spelling, { env, guards: '{ move_endpoint: true }' }),
      );
      expect(guarded.environments[0]?.refusals.map(({ rule }) => rule)).toEqual(['move-endpoint']);
      const { environments } = await apply(
        declaring(service, { one: declared }, spelling, { env }),
      );
      expect(environments[0]).toMatchObject({ status: 'applied', error: null });
      const text = JSON.stringify(await service.servers());
      expect(text).toContain('another-key');
      expect(text).not.toContain(SECRET);
    },
  );

  itEach(BOTH, isOnce)(
    '$dialect, $spelling: another path of the same host keeps what the server can keep',
    async ({ dialect, spelling }) => {
      const auth = { strategy: 'bearer', value: SECRET };
      const service = await serviceWith(dialect, { one: { url: HERE, transport: 'http', auth } });
      const asked = declaring(service, { one: { url: `${HERE}/v2` } }, spelling);
      const { environments } = await apply(asked);
      const { one } = await service.servers();
      expect([environments[0]?.status, one?.['url'], one?.['auth']]).toEqual(
        dialect === 'agent-server' ? ['applied', `${HERE}/v2`, auth] : ['refused', HERE, auth],
      );
    },
  );
});
