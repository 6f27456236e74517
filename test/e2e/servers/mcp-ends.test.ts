import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { declaring, LATER, serviceWith } from '../../fixture/mcp-servers.ts';

const URL = 'https://mcp.example.com/mcp';

describe.each(LATER)('an mcp key on %s', (dialect) => {
  it('that is rotated and never shown is sent, and not called verified', async () => {
    const auth = { strategy: 'bearer', value: 'old' };
    const service = await serviceWith(dialect, { one: { url: URL, transport: 'http', auth } });
    const declared = { url: URL, auth: { strategy: 'bearer', value: '${env:KEY}' } };
    const rotate = ['mcp_config.shttp_servers.one'];
    const asked = declaring(service, { one: declared }, 'native', { env: { KEY: 'new' }, rotate });
    const { environments } = await apply(asked);
    expect(environments[0]).toMatchObject({ status: 'applied', error: null });
    expect(environments[0]?.changes.map(({ action, result }) => [action, result])).toEqual([
      ['rotate', 'unverifiable'],
    ]);
    expect((await service.servers())['one']).toMatchObject({ auth: { value: 'new' } });
  });
});

describe.each(LATER)('init of a service with two servers at one address, on %s', (dialect) => {
  it('declares both, each with variables of its own', async () => {
    const of = (key: string) => ({
      url: URL,
      transport: 'http',
      auth: { strategy: 'bearer', value: key },
      headers: { 'X-Team': `team-${key}` },
    });
    const service = await serviceWith(dialect, {
      one: of('k1'),
      'x/y': of('k2'),
      other: { url: 'https://other.example.com/mcp', transport: 'http' },
    });
    const cwd = mkdtempSync(join(tmpdir(), 'init-'));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
    const env = { SETPOINT_API_KEY: 'contract-key' };
    const ended = await setpoint(['init', '--server', service.url], { cwd, env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const text = readFileSync(join(cwd, 'settings.yaml'), 'utf8');
    const keys = [...text.matchAll(/\$\{env:(\w+)\}/g)].map(([, name]) => name);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toHaveLength(5);
    for (const name of ['one', 'x/y', 'other']) expect(text).toContain(`name: ${name}`);
  });
});
