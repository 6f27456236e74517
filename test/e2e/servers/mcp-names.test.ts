import { expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { request } from '../../fixture/settings.ts';
import { BOTH, declaring, isOnce, LATER, serviceWith } from '../../fixture/mcp-servers.ts';
import { describeEach } from '../../fixture/long.ts';

const URL = 'https://mcp.example.com/mcp';

/** Two accounts at one address; what the file does not declare is in one of them only. */
const TWO = {
  'x/y': { url: URL, transport: 'http', description: 'of x/y', timeout: 10 },
  one: { url: URL, transport: 'http', description: 'of one', timeout: 20 },
};
const keyed = (name: string) => ({ auth: { strategy: 'bearer', value: `\${env:${name}}` } });

describeEach(BOTH, isOnce)('two servers at one address on $dialect, in $spelling', (given) => {
  const { dialect, spelling } = given;

  it('are told apart by their names: another order is no change', async () => {
    const service = await serviceWith(dialect, TWO);
    const declared = { one: { url: URL, timeout: 20 }, 'x/y': { url: URL, timeout: 10 } };
    const { environments } = await plan(declaring(service, declared, spelling));
    expect(environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
  });

  it('keep what the file does not declare of each, and converge in one apply', async () => {
    const service = await serviceWith(dialect, TWO);
    const declared = { one: { url: URL, timeout: 25 }, 'x/y': { url: URL, timeout: 15 } };
    const asked = declaring(service, declared, spelling);
    const planned = await plan(asked);
    expect(planned.environments[0]?.changes.map(({ path }) => path.at(-1)).toSorted()).toEqual([
      'one',
      'x/y',
    ]);
    const { environments } = await apply(asked);
    expect(environments[0]).toMatchObject({ status: 'applied', error: null, remaining: [] });
    expect(await service.servers()).toMatchObject({
      'x/y': { description: 'of x/y', timeout: 15 },
      one: { description: 'of one', timeout: 25 },
    });
    const again = await apply(asked);
    expect(again.environments[0]).toMatchObject({ status: 'in-sync' });
  });

  it('are rotated one by one, by name or by native place', async () => {
    const stored = { ...TWO.one, auth: { strategy: 'bearer', value: 'old' } };
    const service = await serviceWith(dialect, { one: stored, two: stored });
    const env = { A: 'key-of-one', B: 'key-of-two' };
    const declared = { one: { url: URL, ...keyed('A') }, two: { url: URL, ...keyed('B') } };
    const paths = [
      'mcp_config.shttp_servers[two]',
      'mcp_config.shttp_servers.two.api_key',
      'agent_settings.mcp_config.two',
      'agent_settings.mcp_config.two.auth',
    ];
    for (const path of paths) {
      const asked = declaring(service, declared, spelling, { env, rotate: [path] });
      const { environments } = await plan(asked);
      expect(
        environments[0]?.changes.map((change) => [change.action, change.path.at(-1)]),
        path,
      ).toEqual([['rotate', 'two']]);
    }
    await apply(declaring(service, declared, spelling, { env, rotate: [paths[0] ?? ''] }));
    const { one, two } = await service.servers();
    expect(two).toMatchObject({ auth: { strategy: 'bearer', value: 'key-of-two' } });
    if (dialect === 'agent-server') expect(one).toMatchObject({ auth: { value: 'old' } });
  });

  it('never take members over from each other, although only one is declared', async () => {
    const secret = 'CANARY-of-x-y';
    const headers = { 'X-Key': secret };
    const service = await serviceWith(dialect, {
      'x/y': { ...TWO['x/y'], headers },
      one: { url: 'https://other.example.com/mcp', transport: 'http' },
    });
    const asked = declaring(service, { one: { url: URL } }, spelling);
    const { environments } = await apply(asked);
    // The block leaves alone what it does not name, and an app-server takes all servers in one write.
    if (spelling === 'block') {
      const stays = { 'x/y': { ...TWO['x/y'], headers } };
      expect(await service.servers()).toMatchObject(stays);
      if (dialect === 'app-server') {
        expect(environments[0]).toMatchObject({ status: 'refused' });
        expect(environments[0]?.error?.message).toContain('(rule lose-unreadable)');
      } else expect(environments[0]).toMatchObject({ status: 'applied', error: null });
      return;
    }
    expect(environments[0]).toMatchObject({ status: 'applied', error: null, remaining: [] });
    const after = await service.servers();
    expect(Object.keys(after)).toEqual(['one']);
    expect(after['one']).toMatchObject({ url: URL });
    expect(JSON.stringify(after)).not.toContain(secret);
    expect(after['one']).not.toHaveProperty('description');
  });

  it('can be left alone one by one', async () => {
    const service = await serviceWith(dialect, TWO);
    const unmanaged = '[mcp_config.shttp_servers.one]';
    const asked = declaring(service, { 'x/y': { url: URL, timeout: 15 } }, spelling, { unmanaged });
    const { environments } = await apply(asked);
    expect(environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(await service.servers()).toMatchObject({ one: TWO.one, 'x/y': { timeout: 15 } });
  });
});

describeEach(LATER, (dialect) => dialect === 'app-server')(
  'an entry that the file declares in another list, on %s',
  (dialect) => {
    it.each([
      ['sse_servers', 'shttp_servers', { url: URL, transport: 'sse' }, { url: URL }],
      ['stdio_servers', 'sse_servers', { command: 'npx', args: ['a'] }, { url: URL }],
      ['shttp_servers', 'stdio_servers', { url: URL, transport: 'http' }, { command: 'npx' }],
    ])('moves from %s to %s, also if its old list is not declared', async (...given) => {
      const [from, to, stored, declared] = given;
      const service = await serviceWith(dialect, {
        one: stored,
        other: { ...stored, description: 'stays' },
      });
      const lists = { [to]: [{ name: 'one', ...declared }] };
      const asked = request(service.url, `  mcp_config: ${JSON.stringify(lists)}\n`, {
        env: { SETPOINT_API_KEY: 'contract-key' },
      });
      const planned = await plan(asked);
      expect(planned.environments[0]?.changes).toMatchObject([
        { action: 'remove', path: ['mcp_config', from, expect.anything()] },
        { action: 'set', path: ['mcp_config', to, expect.anything()] },
      ]);
      const { environments } = await apply(asked);
      expect(environments[0]).toMatchObject({ status: 'applied', error: null, remaining: [] });
      const after = await service.servers();
      expect(after['one']).toMatchObject(declared);
      expect(after['other']).toMatchObject({ ...stored, description: 'stays' });
      expect((await plan(asked)).environments[0]).toMatchObject({ status: 'in-sync' });
    });
  },
);
