import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { itEach } from '../../fixture/long.ts';

/** One server of each transport: its entry in a list, and in a map of servers by name. */
const SERVERS = {
  sse_servers: [
    '{ name: a, url: "https://a.example.com/sse" }',
    'a: { url: "https://a.example.com/sse", transport: sse }',
  ],
  stdio_servers: ['{ name: b, command: uvx, args: [b] }', 'b: { command: uvx, args: [b] }'],
  shttp_servers: [
    '{ name: c, url: "https://c.example.com/mcp" }',
    'c: { url: "https://c.example.com/mcp" }',
  ],
} as const;
type List = keyof typeof SERVERS;
const LISTS = Object.keys(SERVERS) as List[];
const NAMES: Record<List, string> = { sse_servers: 'a', stdio_servers: 'b', shttp_servers: 'c' };

const SPELLINGS = {
  mcp_config: (lists: readonly List[], dialect: string) => {
    const entries = lists.map((list) => {
      const entry =
        dialect === 'settings-v0' && list !== 'stdio_servers'
          ? SERVERS[list][0].replace(/name: \w, /, '')
          : SERVERS[list][0];
      return `${list}: [${entry}]`;
    });
    return `settings: { mcp_config: { ${entries.join(', ')} } }`;
  },
  mcp_servers: (lists: readonly List[]) =>
    `settings: { language: en }\nmcp_servers: { ${lists.map((list) => SERVERS[list][1]).join(', ')} }`,
} as const;

const CASES = (['settings-v0', 'app-server', 'agent-server'] as const).flatMap((dialect) =>
  (['mcp_config', 'mcp_servers'] as const).flatMap((spelling) =>
    LISTS.map((list) => [dialect, spelling, list] as const),
  ),
);

interface Planned {
  readonly environments: readonly { readonly unmanaged: readonly (readonly string[])[] }[];
}

// Each spelling of each dialect once; the lists take turns.
itEach(CASES, (_, index) => index % 3 === Math.floor(index / 3) % 3)(
  'plan and drift on %s list a server that left %s with its list %s, and pull --adopt takes it',
  async (dialect, spelling, gone) => {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const text = (lists: readonly List[]) =>
      `version: 1\nserver: { url: "${fronted.url}", api_key: "\${env:KEY}" }\n${SPELLINGS[spelling](lists, dialect)}\n`;
    const folder = folderWith({
      'all.yaml': text(LISTS),
      'settings.yaml': text(LISTS.filter((list) => list !== gone)),
    });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });
    expect((await run('apply', '--yes', '-f', 'all.yaml')).code).toBe(0);
    const name = NAMES[gone];
    const isIt = (path: readonly string[]) =>
      ['mcp_config', 'mcp_servers'].includes(path[0] ?? '') &&
      path.some((one) => one === name || one.includes(`//${name}.`));
    for (const command of ['plan', 'drift']) {
      const { code, stdout } = await run(command, '-o', 'json');
      expect(code).toBe(0);
      const [{ unmanaged } = { unmanaged: [] }] = (JSON.parse(stdout) as Planned).environments;
      expect(unmanaged.filter(isIt)).toHaveLength(1);
      expect(unmanaged.filter(([first = '']) => first.startsWith('mcp'))).toHaveLength(1);
      expect((await run(command)).stdout).toMatch(/Not in the file, left alone: .*mcp_/);
    }
    const [{ unmanaged } = { unmanaged: [] }] = (
      JSON.parse((await run('plan', '-o', 'json')).stdout) as Planned
    ).environments;
    const [path = []] = unmanaged.filter(isIt);
    const adopted = await run(
      'pull',
      '--adopt',
      path.length < 3 ? path.join('.') : `${path[0]}.${path[1]}["${path[2]}"]`,
    );
    expect(adopted.code, adopted.stderr).toBe(0);
    expect(readFileSync(join(folder.path, 'settings.yaml'), 'utf8')).toContain(
      gone === 'stdio_servers' ? 'uvx' : `//${name}.`,
    );
    const after = await run('plan', '-o', 'json');
    expect(JSON.parse(after.stdout)).toMatchObject({ environments: [{ changes: [] }] });
    expect((JSON.parse(after.stdout) as Planned).environments[0]?.unmanaged.filter(isIt)).toEqual(
      [],
    );
  },
);

it('a marketplace that loads a list of names is written to an Agent Server and refused before a write to an app-server', async () => {
  const text = (url: string) =>
    `version: 1\nserver: { url: "${url}", api_key: "\${env:KEY}" }\nsettings: { language: en }\nmarketplaces: { team: { source: "github:example/skills", auto_load: [one, two] } }\n`;
  for (const [dialect, code] of [
    ['agent-server', 0],
    ['app-server', 3],
  ] as const) {
    const fronted = await startFronted({ dialect });
    onTestFinished(() => fronted.close());
    const folder = folderWith({ 'settings.yaml': text(fronted.url) });
    onTestFinished(() => folder.remove());
    const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });
    const applied = await run('apply', '--yes');
    expect(applied.code, applied.stderr).toBe(code);
    if (code === 3) expect(applied.stderr).toContain('auto_load must be true or false there');
    if (code === 3) expect(fronted.writes()).toEqual([]);
    if (code === 0) expect(await run('plan', '--exit-code')).toMatchObject({ code: 0 });
    const { body } = await fronted.ask('GET', '/api/settings');
    if (code === 0) expect(JSON.stringify(body)).toContain('"auto_load":["one","two"]');
  }
});
