import { expect, it, onTestFinished } from 'vitest';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';

const V0 = `
  llm_api_key: \${env:A}
  search_api_key: \${env:A}`;

const LISTS = `
  llm_api_key: \${env:A}
  mcp_config:
    shttp_servers:
      - { name: a, url: "https://a.example.com/mcp", api_key: "\${env:A}", headers: { X-T: "\${env:A}" } }
      - { name: c, url: "https://c.example.com/mcp", auth: { strategy: basic, username: u, password: "\${env:A}" } }
    stdio_servers: [{ name: b, command: run, env: { TOK: "\${env:A}" } }]
  agent_settings:
    llm: { aws_secret_access_key: "\${env:A}" }
    verification: { critic_api_key: "\${env:A}" }
    agent_context: { secrets: { S1: "\${env:A}" } }`;

const NATIVE = `
  agent_settings:
    llm: { api_key: "\${env:A}", aws_session_token: "\${env:A}" }
    verification: { critic_api_key: "\${env:A}" }
    agent_context: { secrets: { S1: "\${env:A}" } }
    mcp_config:
      a: { url: "https://a.example.com/mcp", auth: { strategy: bearer, value: "\${env:A}" }, headers: { X-T: "\${env:A}" } }
      b: { command: run, env: { TOK: "\${env:A}" } }
      c: { url: "https://c.example.com/mcp", auth: { strategy: basic, username: u, password: "\${env:A}" } }`;

/** A service of a dialect that has these settings, and commands on the file that declares them. */
async function applied(dialect: EmulatorDialect, settings: string) {
  const fronted = await startFronted({ dialect });
  onTestFinished(() => fronted.close());
  const text = `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\nsettings:${settings}\n`;
  const folder = folderWith({ 'settings.yaml': text });
  onTestFinished(() => folder.remove());
  const run = (...args: string[]) =>
    setpoint(args, { cwd: folder.path, env: { KEY: 'k', A: 'CANARY-a' } });
  const allowed = dialect === 'settings-v0' ? ['--allow', 'lose-unreadable'] : [];
  expect((await run('apply', '--yes', ...allowed)).code).toBe(0);
  return { run, allowed };
}

interface Environment {
  readonly unknown: readonly { readonly path: readonly string[] }[];
  readonly changes: readonly { readonly action: string; readonly result: string }[];
}

function environmentOf(stdout: string): Environment {
  const [one] = (JSON.parse(stdout) as { environments: Environment[] }).environments;
  if (one === undefined) throw new Error('no environment');
  return one;
}

describeEach(
  [
    ['settings-v0', 'flat', V0, 2],
    ['app-server', 'in lists', LISTS, 8],
    ['agent-server', 'in lists', LISTS, 8],
    ['app-server', 'native', NATIVE, 8],
    ['agent-server', 'native', NATIVE, 8],
  ] as const,
  (_, index) => index === 4,
)('the secrets that %s does not show, %s', (dialect, _, settings, count) => {
  it('are rotated by each path that a plan prints, and said to be sent, not verified', async () => {
    const { run, allowed } = await applied(dialect, settings);
    const { stdout: text } = await run('plan', '-v');
    const paths = [...text.matchAll(/^ {2}\? (.+?): /gm)].map(([, path = '']) => path);
    expect(paths).toHaveLength(count);
    expect(environmentOf((await run('plan', '-o', 'json')).stdout).unknown).toHaveLength(count);
    for (const path of paths) {
      const rotated = await run('apply', '--yes', '--rotate', path, ...allowed, '-o', 'json');
      expect([path, rotated.code]).toEqual([path, 0]);
      const { changes } = environmentOf(rotated.stdout);
      expect(changes, path).toEqual([
        expect.objectContaining({ action: 'rotate', result: 'unverifiable' }),
      ]);
    }
  });

  const isHere = (format: string) => dialect === 'agent-server' && /^(text|json)$/.test(format);
  itEach(['text', 'markdown', 'html', 'json'], isHere)(
    'are rotated all at once, and none is verified in %s',
    async (format) => {
      const { run, allowed } = await applied(dialect, settings);
      const { code, stdout } = await run(
        'apply',
        '--yes',
        '--rotate',
        'all',
        ...allowed,
        '-o',
        format,
      );
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/✓ verified|"verified"|: verified|CANARY/);
      expect(stdout).toMatch(
        format === 'json'
          ? /"unverifiable"/
          : /the server does not show it|the service does not show it/,
      );
    },
  );
});
