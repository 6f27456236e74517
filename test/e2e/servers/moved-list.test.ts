import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

it.each(['settings-v0', 'app-server', 'agent-server'] as const)(
  'an mcp entry that moves to another list on %s is said to lose its key, and the guard refuses it',
  async (dialect) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const name = dialect === 'settings-v0' ? '' : 'name: one, ';
    const run = async (lists: string, more: string, ...args: string[]) => {
      const text = `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\nsettings:\n  mcp_config: { ${lists}, stdio_servers: [] }\n  sandbox_api_key: null\n${more}`;
      const folder = folderWith({
        'settings.yaml':
          dialect === 'agent-server' ? text.replace('  sandbox_api_key: null\n', '') : text,
      });
      onTestFinished(() => folder.remove());
      return setpoint(args, { cwd: folder.path, env: { KEY: 'k', A: 'CANARY-a' } });
    };
    const url = `${name}url: "https://a.example.com/mcp"`;
    const keyed = `sse_servers: [{ ${url}, api_key: "\${env:A}" }], shttp_servers: []`;
    const moved = `sse_servers: [], shttp_servers: [{ ${url} }]`;
    expect((await run(keyed, '', 'apply', '--yes')).code).toBe(0);
    const lost =
      'removes mcp_config.sse_servers[https://a.example.com/mcp], which contains a secret. (clear-secret)';
    expect((await run(moved, '', 'plan')).stdout).toContain(lost);
    const before = fronted.writes().length;
    expect((await run(moved, 'guards: { clear_secret: true }\n', 'apply', '--yes')).code).toBe(5);
    expect(fronted.writes()).toHaveLength(before);
    expect((await run(moved, '', 'apply', '--yes')).code).toBe(0);
    expect(await run(moved, '', 'plan', '--exit-code')).toMatchObject({ code: 0 });
    for (const path of ['/api/settings', '/api/v1/users/me']) {
      const { body } = await fronted.ask('GET', path);
      expect(JSON.stringify(body)).not.toMatch(/CANARY|"strategy"/);
    }
  },
);
