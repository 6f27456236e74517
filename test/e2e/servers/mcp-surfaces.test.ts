import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';

const URL = 'https://a.example.com/mcp';
const LISTS = (args: string, key: string) =>
  `mcp_config: { sse_servers: [], shttp_servers: [{ name: one, url: "${URL}", api_key: "\${env:${key}}" }, { name: two, url: "${URL}", timeout: 30 }], stdio_servers: [{ name: files, command: uvx, args: [${args}] }] }`;
const NATIVE = (args: string, key: string) =>
  `agent_settings: { mcp_config: { one: { url: "${URL}", auth: { strategy: bearer, value: "\${env:${key}}" } }, two: { url: "${URL}", timeout: 30 }, files: { command: uvx, args: [${args}] } } }`;

interface Planned {
  readonly environments: readonly {
    readonly changes: readonly { readonly path: readonly string[] }[];
    readonly unknown: readonly { readonly path: readonly string[] }[];
  }[];
}

it.each([
  ['app-server', 'in lists', LISTS],
  ['app-server', 'as a map', NATIVE],
  ['agent-server', 'in lists', LISTS],
  ['agent-server', 'as a map', NATIVE],
] as const)(
  'a change of an mcp server on %s, declared %s, has one name on every surface, and that name can be explained and rotated',
  async (dialect, _, settings) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const run = async (text: string, ...args: string[]) => {
      const folder = folderWith({
        'settings.yaml': `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\nsettings:\n  ${text}\n`,
      });
      onTestFinished(() => folder.remove());
      const env = { KEY: 'k', A: 'CANARY-a', B: 'CANARY-b' };
      const ended = await setpoint(args, { cwd: folder.path, env });
      expect(ended.stdout + ended.stderr).not.toContain('CANARY');
      return ended;
    };
    expect((await run(settings('one', 'A'), 'apply', '--yes')).code).toBe(0);
    const edited = settings('two', 'A').replace('timeout: 30', 'timeout: 40');
    const planned = await run(edited, 'plan', '-o', 'json');
    const [environment] = (JSON.parse(planned.stdout) as Planned).environments;
    const text = (await run(edited, 'plan')).stdout;
    const names = text
      .split('\n')
      .flatMap((line) => /^ {2}[~+?-] (\S+?):/.exec(line)?.slice(1) ?? []);
    expect(names.filter((name) => name.includes('files'))).not.toEqual([]);
    expect(names.filter((name) => name.includes('two'))).not.toEqual([]);
    expect(environment?.changes).toHaveLength(names.length - (environment?.unknown.length ?? 0));
    for (const format of ['markdown', 'html', 'github']) {
      const shown = (await run(edited, 'plan', '-o', format)).stdout;
      for (const name of names.filter((one) => !one.includes('.one')))
        expect(shown).toContain(name);
    }
    for (const name of names) {
      const explained = await run(edited, 'explain', name);
      expect(explained.code, explained.stderr).toBe(0);
      expect(explained.stdout).toContain(name);
    }
    const [secret = ''] = (environment?.unknown ?? []).map(({ path }) => path.join('.'));
    const named = names.find((name) => name.includes('one')) ?? secret;
    const rotated = await run(edited, 'plan', '--rotate', named);
    expect(rotated.code, rotated.stderr).toBe(0);
    const metrics = (await run(edited, 'drift', '-o', 'prometheus')).stdout;
    expect(metrics).toMatch(/setpoint_target_changes\{.*action="change"\} [1-9]/);
    expect((await run(edited, 'apply', '--yes')).code).toBe(0);
    expect((await run(edited, 'plan', '--exit-code')).code).toBe(0);
  },
);

const JIRA = 'https://mcp.example.com/jira';
const NAMED = {
  'in lists': `settings:\n  mcp_config: { shttp_servers: [{ name: jira, url: "${JIRA}", api_key: "\${env:A}" }] }\n`,
  'in the block': `mcp_servers: { jira: { url: "${JIRA}", auth: { strategy: bearer, value: "\${env:A}" } } }\n`,
};
const CASES = (['settings-v0', 'app-server', 'agent-server'] as const).flatMap((dialect) =>
  (['in lists', 'in the block'] as const).map((spelling) => ({ dialect, spelling })),
);

it.each(CASES)(
  'an mcp server on $dialect, declared $spelling, is rotated and left by each name that the file gives it',
  async ({ dialect, spelling }) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const folder = folderWith({
      'settings.yaml': `version: 1\nserver: { url: "${fronted.url}" }\n${NAMED[spelling]}`,
    });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: { A: 'CANARY-a' } });
    const applied = await run('apply', '--yes');
    expect(applied.code, applied.stderr).toBe(0);
    expect(applied.stdout).toContain(
      dialect === 'settings-v0' ? ': verified\n' : ': verified; its secrets cannot be read back\n',
    );
    // What was written in this run is told by its change, and no way to write it is named.
    expect(applied.stdout).toMatch(/^Applied 1 change\.\n$/m);
    const names = ['mcp_config.shttp_servers[jira]', `mcp_config.shttp_servers[${JIRA}]`];
    if (spelling === 'in the block') names.push('mcp_servers.jira');
    for (const name of names) {
      const rotated = await run('plan', '--rotate', name);
      expect(rotated.stdout, name + rotated.stderr).toContain('Plan: 1 to rotate.');
      const left = await run('plan', '--without', name);
      expect(left.stdout, name + left.stderr).toContain('left as it is (--without)');
    }
  },
);
