/** `--only`: what is chosen is planned and written, and nothing else is, removals included. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const SETTINGS = (language: string) => `settings:
  language: ${language}
  max_iterations: ${language === 'en' ? 10 : 20}
  llm_api_key: \${env:UNSET}
`;
const NAMED = (language: string) => `secrets:
  ONE: { value: "\${env:A}", description: ${language} }
  TWO: { value: "\${env:B}", description: ${language} }
collections: { secrets: { others: remove } }
llm_profiles: { fast: { model: openai/${language} } }
mcp_servers:
  a: { url: "https://a.example.com/${language}" }
  b: { url: "https://b.example.com/${language}" }
`;

async function fileOf(dialect: EmulatorDialect, text: (language: string) => string) {
  const fronted = await startFronted({ dialect });
  onTestFinished(() => fronted.close());
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const write = (declared: string): void =>
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      `version: 1\nserver: { url: "${fronted.url}" }\n${declared}`,
    );
  const env = { A: 'a-value', B: 'b-value' };
  const run = (args: readonly string[], more = {}) =>
    setpoint(args, { cwd: folder.path, env: { ...env, ...more } });
  write(text('en'));
  expect(await run(['apply', '--yes'], { UNSET: 'canary-key' })).toMatchObject({ code: 0 });
  write(text('de'));
  return {
    run,
    write,
    folder,
    changes: async (args: readonly string[] = [], more = {}) => {
      const { stdout } = await run(['plan', '-o', 'json', ...args], more);
      const { environments } = JSON.parse(stdout) as {
        environments: { changes: { path: string[] }[]; warnings: { code: string }[] }[];
      };
      return (environments[0]?.changes ?? []).map(({ path }) => path.slice(0, 2).join('.'));
    },
  };
}

describe.each(['settings-v0', 'app-server', 'agent-server'] as const)(
  'settings on %s',
  (dialect) => {
    it('one of them is written, and neither the others nor their variables matter', async () => {
      const { run, changes } = await fileOf(dialect, SETTINGS);
      expect(await changes(['--only', 'language'])).toEqual(['language']);
      const drift = await run(['drift', '--only', 'language', '--strict']);
      expect(drift.code).toBe(2);
      const applied = await run(['apply', '--yes', '--only', 'language']);
      expect(applied).toMatchObject({ code: 0, stderr: '' });
      expect(applied.stdout).toContain('This run is limited to language (--only).');
      expect(await changes()).toEqual(['max_iterations']);
      const none = await run(['drift', '--only', 'language', '--strict']);
      expect(none.code).toBe(0);
    });
  },
);

describe('named items on agent-server', () => {
  it.each([
    ['secrets.ONE', ['secrets.ONE']],
    ['secrets', ['secrets.ONE', 'secrets.TWO']],
    ['llm_profiles.fast', ['llm_profiles.fast']],
    ['mcp_servers.a', ['mcp_servers.a']],
    ['mcp_servers', ['mcp_servers.a', 'mcp_servers.b']],
  ])('%s is written alone', async (path, expected) => {
    const { run, changes } = await fileOf('agent-server', NAMED);
    const all = await changes(['--rotate', 'all']);
    const applied = await run(['apply', '--yes', '--only', path, '--rotate', 'all', '-o', 'json']);
    expect(applied).toMatchObject({ code: 0 });
    const { environments } = JSON.parse(applied.stdout) as {
      environments: { changes: { path: string[] }[] }[];
    };
    const written = environments[0]?.changes.map((change) => change.path.slice(0, 2).join('.'));
    expect(new Set(written)).toEqual(new Set(expected));
    const plain = await changes();
    for (const one of plain) expect(all).toContain(one);
    expect(plain.filter((one) => expected.includes(one))).toEqual([]);
  });

  it('others are removed only if their block is chosen', async () => {
    const { run, write, changes } = await fileOf('agent-server', NAMED);
    write(
      'secrets: { ONE: { value: "${env:A}", description: en } }\ncollections: { secrets: { others: remove } }\n',
    );
    expect(await changes(['--only', 'secrets.ONE'])).toEqual([]);
    expect(await changes(['--only', 'secrets'])).toEqual(['secrets.TWO']);
    const applied = await run(['apply', '--yes', '--only', 'secrets.ONE']);
    expect(applied.code).toBe(0);
    expect((await run(['get', 'secrets', '-o', 'json'])).stdout).toContain('TWO');
  });

  it('guards and the limit of changes judge what is chosen', async () => {
    const { run, write } = await fileOf('agent-server', NAMED);
    const removing =
      'secrets: { ONE: { value: "${env:A}", description: en } }\ncollections: { secrets: { others: remove } }\n';
    write(
      `${SETTINGS('de').replace('  llm_api_key: ${env:UNSET}\n', '')}${removing}guards: { remove_others: true }\n`,
    );
    expect((await run(['apply', '--yes'])).code).toBe(5);
    expect((await run(['apply', '--yes', '--only', 'language'])).code).toBe(0);
  });
});

it('a list of mcp servers is one part', async () => {
  const list = (language: string) =>
    `settings: { language: ${language}, mcp_config: { sse_servers: [{ url: "https://${language}.example.com" }] } }\n`;
  const { run, changes } = await fileOf('settings-v0', list);
  expect(await changes(['--only', 'language'])).toEqual(['language']);
  const part = await run(['plan', '--only', 'mcp_config.sse_servers[https://de.example.com]']);
  expect(part.code).toBe(3);
  expect(part.stderr).toContain('--only mcp_config takes all of it.');
  const whole = await changes(['--only', 'mcp_config']);
  expect(new Set(whole)).toEqual(new Set(['mcp_config.sse_servers']));
});

it('a saved plan is bound to what it is limited to', async () => {
  const { run, folder } = await fileOf('agent-server', SETTINGS);
  await run(['plan', '--only', 'language', '--out', 'plan.json', '-q']);
  expect(readFileSync(join(folder.path, 'plan.json'), 'utf8')).toContain('limited to language');
  const all = await run(['apply', 'plan.json'], { UNSET: 'canary-key' });
  expect(all.code).toBe(6);
  expect(all.stderr).toContain('Pass --only language, or plan again');
  expect((await run(['apply', 'plan.json', '--only', 'language'])).code).toBe(0);
});

it('a path that nothing declares is refused with what there is', async () => {
  const { run } = await fileOf('agent-server', SETTINGS);
  const unknown = await run(['plan', '--only', 'languge']);
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('Did you mean language?');
});
