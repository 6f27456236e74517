import { expect, it } from 'vitest';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { asked, startWorld } from '../../fixture/loop/world.ts';

const LOGINS = ['mcp_config.shttp_servers[tracker].auth', 'agent_settings.llm.auth_type'];

it('init and doctor name the logins that a rebuilt server lacks', async () => {
  const world = await startWorld(await startEmbedded('agent-server'));
  try {
    const doctor = async (): Promise<string> => (await world.run(['doctor'], [0, 1])).stdout;
    world.file('settings.yaml', { language: 'en' });
    expect(await doctor()).not.toContain('logins');
    await asked(world, 'PATCH', '/api/settings', {
      agent_settings_diff: {
        llm: { auth_type: 'subscription', subscription_vendor: 'openai' },
        mcp_config: {
          tracker: { url: 'https://mcp.example.com/mcp', auth: { strategy: 'oauth2' } },
          bearer: { url: 'https://b.example.com/mcp', auth: { strategy: 'bearer', value: 'k' } },
        },
      },
    });
    const { stdout } = await world.run(
      ['init', '-f', 'full.yaml', '--server', world.tap.url, '-o', 'json'],
      0,
    );
    const { left } = JSON.parse(stdout) as { readonly left: readonly Left[] };
    expect(left.filter(({ reason }) => reason.includes('logs in again')).length).toBe(2);
    const file = world.read('full.yaml');
    const found = await doctor();
    for (const login of LOGINS) {
      expect(file).toContain(`# Left out: ${login}`);
      expect(found).toContain(login);
    }
    expect(found).not.toContain('bearer');
  } finally {
    await world.close();
  }
});

interface Left {
  readonly reason: string;
}
