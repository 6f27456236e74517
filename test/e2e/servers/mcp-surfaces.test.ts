import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { itEach } from '../../fixture/long.ts';

const URL = 'https://a.example.com/mcp';
const LISTS = (args: string, key: string) =>
  `mcp_config: { sse_servers: [], shttp_servers: [{ name: one, url: "${URL}", api_key: "\${env:${key}}" }, { name: two, url: "${URL}", timeout: 30 }], stdio_servers: [{ name: files, command: uvx, args: [${args}] }] }`;
const NATIVE = (args: string, key: string) =>
  `agent_settings: { mcp_config: { one: { url: "${URL}", auth: { strategy: bearer, value: "\${env:${key}}" } }, two: { url: "${URL}", timeout: 30 }, files: { command: uvx, args: [${args}] } } }`;
const BY_NAME = (args: string, key: string) =>
  `mcp_servers: { one: { url: "${URL}", auth: { strategy: bearer, value: "\${env:${key}}" } }, two: { url: "${URL}/2", timeout: 30 }, files: { command: uvx, args: [${args}] } }`;
/** Where a file has them, and the block that it has them in. */
const FORMS = {
  'in lists': (text: string) => `settings:\n  ${text}`,
  'as a map': (text: string) => `settings:\n  ${text}`,
  'by name': (text: string) => `settings: { language: en }\n${text}`,
};

interface Planned {
  readonly environments: readonly {
    readonly changes: readonly { readonly path: readonly string[] }[];
    readonly unknown: readonly { readonly path: readonly string[] }[];
  }[];
}

const SURFACES = [
  ['app-server', 'in lists', LISTS],
  ['agent-server', 'as a map', NATIVE],
  ['settings-v0', 'by name', BY_NAME],
  ['app-server', 'as a map', NATIVE],
  ['app-server', 'by name', BY_NAME],
  ['agent-server', 'in lists', LISTS],
  ['agent-server', 'by name', BY_NAME],
] as const;

itEach(SURFACES, (_, index) => index === 0)(
  'a change of an mcp server on %s, declared %s, has one name on every surface, and that name can be explained and rotated',
  async (dialect, form, settings) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const run = async (text: string, ...args: string[]) => {
      const folder = folderWith({
        'settings.yaml': `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\n${FORMS[form](text)}\n`,
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
    const named = names.find((name) => name.includes('one')) ?? (secret || 'mcp_servers.one');
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

/** Each spelling, and each dialect once. */
itEach(CASES, ({ dialect, spelling }) => (dialect === 'app-server') === (spelling === 'in lists'))(
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
      dialect === 'settings-v0'
        ? ': verified\n'
        : ': verified, except its secrets, which the server does not show\n',
    );
    // What was written in this run is told by its change, and no way to write it is named.
    expect(applied.stdout).toMatch(/^Applied 1 change\.\n$/m);
    const names = ['mcp_config.shttp_servers[jira]', `mcp_config.shttp_servers[${JIRA}]`];
    if (spelling === 'in the block') names.push('mcp_servers.jira');
    for (const name of names) {
      const rotated = await run('plan', '--rotate', name);
      expect(rotated.stdout, name + rotated.stderr).toContain('Plan: 1 to rotate.');
      const left = await run('plan', '--without', name);
      expect(left.stdout, name + left.stderr).toContain('left unchanged (--without)');
    }
  },
);

itEach(['settings-v0', 'app-server', 'agent-server'] as const, (one) => one === 'app-server')(
  'a server by name on %s: flags take what plans call it and what its list calls it, and a saved plan covers it',
  async (dialect) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const folder = folderWith({});
    onTestFinished(() => folder.remove());
    const run = async (text: string, ...args: string[]) => {
      writeFileSync(
        join(folder.path, 'settings.yaml'),
        `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\n${FORMS['by name'](text)}\n`,
      );
      const env = { KEY: 'k', A: 'CANARY-a', B: 'CANARY-b' };
      const ended = await setpoint(args, { cwd: folder.path, env });
      expect(ended.stdout + ended.stderr).not.toContain('CANARY');
      // What is asked is repeated.
      if (args[0] !== 'explain') expect(ended.stdout + ended.stderr).not.toContain('mcp_config');
      return ended;
    };
    const planned = async (text: string, ...args: string[]) => {
      const ended = await run(text, 'plan', '-o', 'json', ...args);
      expect(ended.code, ended.stderr).toBe(0);
      const [environment] = (JSON.parse(ended.stdout) as Planned).environments;
      return {
        changes: (environment?.changes ?? []).map(({ path }) => path.join('.')),
        unknown: (environment?.unknown ?? []).map(({ path }) => path.join('.')),
      };
    };
    const first = BY_NAME('one', 'A');
    expect((await run(first, 'apply', '--yes')).code).toBe(0);
    const edited = BY_NAME('two', 'A').replace('timeout: 30', 'timeout: 40');
    const both = ['mcp_servers.files', 'mcp_servers.two'];
    expect((await planned(edited)).changes.toSorted()).toEqual(both);
    for (const two of ['mcp_servers.two', `mcp_config.shttp_servers[${URL}/2]`]) {
      const left = await planned(edited, '--without', two);
      expect(left.changes).toEqual(['mcp_servers.files']);
      expect(left.unknown).toContain('mcp_servers.two');
      expect((await run(edited, 'explain', two)).code).toBe(0);
    }
    for (const timeout of ['mcp_servers.two.timeout', `mcp_config.shttp_servers[${URL}/2].timeout`])
      expect((await planned(edited, '--without', timeout)).changes).toEqual(['mcp_servers.files']);
    for (const key of [
      'mcp_servers.one',
      'mcp_servers.one.auth.value',
      `mcp_config.shttp_servers[${URL}].api_key`,
    ])
      expect((await planned(first, '--rotate', key)).changes).toEqual(['mcp_servers.one']);
    expect((await run(edited, 'plan', '--out', 'plan.json')).code).toBe(0);
    expect((await run(first, 'apply', '--yes', 'plan.json')).code).toBe(0);
    expect((await run(edited, 'apply', '--yes', 'plan.json')).code).toBe(0);
    const other = BY_NAME('three', 'A').replace('timeout: 30', 'timeout: 40');
    const refused = await run(other, 'apply', '--yes', 'plan.json');
    expect(refused.code).toBe(6);
    expect(refused.stderr + refused.stdout).toContain('mcp_servers.files');
    // Another way to reach it is one change of it.
    const moved = edited.replace('command: uvx, args: [two]', `url: "${URL}/3"`);
    if (dialect !== 'settings-v0') {
      expect((await planned(moved)).changes).toEqual(['mcp_servers.files']);
      const back = await run(edited, 'plan');
      expect(back.stdout).not.toContain('run-code');
    }
    expect((await run(moved, 'apply', '--yes')).code).toBe(0);
    expect((await planned(moved)).changes).toEqual([]);
    if (dialect === 'settings-v0') return;
    const back = await run(edited, 'plan');
    expect(back.stdout).toContain('The plan changes mcp_servers.files, a program. (run-code)');
    const names = await run(first.replace(/two: \{[^}]*\}/, 'two: null'), 'plan');
    expect(names.stdout).toContain('- mcp_servers.two:');
  },
);

it.each([
  ['by name', 'mcp_servers.gone.auth.value'],
  ['in lists', 'mcp_config.shttp_servers[https://gone.example.com/mcp].api_key'],
] as const)(
  'a secret that is gone from an Agent Server is named as the file has its servers: %s',
  async (form, named) => {
    const fronted = await startFronted({ dialect: 'agent-server' });
    onTestFinished(() => fronted.close());
    const own = form === 'by name' ? 'mcp_servers: { files: { command: uvx } }' : 'llm_model: x/y';
    const folder = folderWith({
      'settings.yaml': `version: 1\nserver: { url: "${fronted.url}" }\n${FORMS[form](own)}\n`,
    });
    onTestFinished(() => folder.remove());
    const stored = async (server: object) => {
      const diff = { agent_settings_diff: { mcp_config: { gone: server } } };
      expect((await fronted.ask('PATCH', '/api/settings', diff)).status).toBe(200);
    };
    const auth = { strategy: 'bearer', value: 'CANARY' };
    await stored({ url: 'https://gone.example.com/mcp', auth });
    await stored({ auth: { ...auth, value: null } });
    const ended = await setpoint(['apply', '--yes'], { cwd: folder.path, env: {} });
    expect(ended.code).toBe(5);
    expect(ended.stderr).toContain(
      `No secret is stored now, but there were some before: ${named}.`,
    );
  },
);
