/** Entries of a list that references make the same are an error of the plan, as two that the file writes alike. */
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { KEYED_LISTS } from '../../../src/reconciler/model/keyed-lists.ts';
import { MCP_LISTS } from '../../../src/reconciler/model/mcp.ts';

/** Each list whose entries have a key: where it is, a file with two entries called A and B, and the servers that have it. */
const CASES: readonly (readonly [list: string, text: string, dialects: readonly DialectName[]])[] =
  [
    [
      'settings.registered_marketplaces',
      'settings: { registered_marketplaces: [{ name: A, source: "github:x/a" }, { name: B, source: "github:x/b" }] }',
      ['app-server'],
    ],
    [
      'settings.agent_settings.agent_context.skills',
      'settings: { agent_settings: { agent_context: { skills: [{ name: A, content: a }, { name: B, content: b }] } } }',
      ['app-server', 'agent-server'],
    ],
    [
      'agent_profiles.*.tools',
      'llm_profiles: { main: { model: openai/gpt-5 } }\nagent_profiles: { a: { llm_profile: main, tools: [{ name: A }, { name: B, params: { own: one } }] } }',
      ['agent-server'],
    ],
    [
      'mcp_config.sse_servers',
      'settings: { mcp_config: { sse_servers: [{ url: A }, { url: B }] } }',
      ['settings-v0', 'app-server', 'agent-server'],
    ],
    [
      'mcp_config.shttp_servers',
      'settings: { mcp_config: { shttp_servers: [{ url: A }, { url: B }] } }',
      ['settings-v0', 'app-server', 'agent-server'],
    ],
    [
      'mcp_config.stdio_servers',
      'settings: { mcp_config: { stdio_servers: [{ name: A, command: npx }, { name: B, command: uvx }] } }',
      ['settings-v0', 'app-server', 'agent-server'],
    ],
  ];

it('every list with a key has a case here', () => {
  const lists = [
    ...KEYED_LISTS.map(({ place }) => place.join('.')),
    ...MCP_LISTS.map((list) => `mcp_config.${list}`),
  ];
  expect(CASES.map(([list]) => list).toSorted()).toEqual(lists.toSorted());
});

const RUNS = CASES.flatMap(([list, text, dialects]) =>
  dialects.map((dialect) => [list, dialect, text] as const),
);

it.each(RUNS)(
  '%s on %s: two references with one value are refused',
  async (list, dialect, text) => {
    const server = await startFronted({ dialect });
    onTestFinished(() => server.close());
    const isAddress = text.includes('url:');
    const called = (name: string) => (isAddress ? `https://${name}.example.com/mcp` : name);
    const [one, other] = [called('canary'), called('other')];
    const run = (first: string, second: string, ...args: string[]) => {
      const file = text.replace(/\bA\b/, first).replace(/\bB\b/, second);
      const folder = folderWith({
        'settings.yaml': `version: 1\nserver: { url: "${server.url}" }\n${file}\n`,
      });
      onTestFinished(() => folder.remove());
      return setpoint(args, { cwd: folder.path, env: { ONE: one, SAME: one, OTHER: other } });
    };
    const last = list.split('.').at(-1) ?? '';
    for (const first of ['"${env:ONE}"', `"${one}"`])
      for (const args of [['plan'], ['apply', '--yes']]) {
        const refused = await run(first, '"${env:SAME}"', ...args);
        expect(refused.code, refused.stderr).toBe(3);
        expect(refused.stderr).toMatch(
          new RegExp(
            `${last}\\S* \\(settings\\.yaml:\\d\\) is the same \\w+ as \\S*${last}\\S* \\(settings\\.yaml:\\d\\)`,
          ),
        );
        expect(refused.stdout + refused.stderr).not.toContain('canary');
      }
    expect(server.writes()).toEqual([]);
    const allowed = ['apply', '--yes', '--allow', 'empty-store', '--allow', 'run-code'];
    const taken = await run('"${env:ONE}"', '"${env:OTHER}"', ...allowed);
    expect(taken.code, taken.stderr).toBe(0);
    const again = await run('"${env:ONE}"', '"${env:OTHER}"', 'plan', '--exit-code');
    expect(again.code, again.stdout).toBe(0);
  },
);
