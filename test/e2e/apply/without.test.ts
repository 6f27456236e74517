import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';

const CANARY = 'CANARY-a';
const URL = 'https://a.example.com/mcp';
const ENTRY = `{ name: a, url: "${URL}", api_key: "\${env:A}" }`;

const FLAT = '  llm_api_key: ${env:A}\n';
const NATIVE = '  agent_settings: { llm: { api_key: "${env:A}" } }\n';
const LIST = `  mcp_config: { shttp_servers: [${ENTRY}] }\n`;
const MAP = `  agent_settings: { mcp_config: { a: { url: "${URL}", auth: { strategy: bearer, value: "\${env:A}" } } } }\n`;
const NAMED = `mcp_servers: { a: { url: "${URL}", auth: { strategy: bearer, value: "\${env:A}" } } }\n`;
const SECRET = 'secrets: { ONE: "${env:A}", TWO: "${env:B}" }\n';
const TOLD = 'secrets: { ONE: { value: "${env:A}", description: LANG }, TWO: "${env:B}" }\n';
const OTHERS = `${SECRET}collections: { secrets: { others: remove } }\n`;
const PROFILE = 'llm_profiles: { fast: { model: openai/gpt-5, api_key: "${env:A}" } }\n';
const CONNECTION = 'provider_connections: { main: { provider: openai, api_key: "${env:A}" } }\n';
const PROVIDER = 'git_providers: { github: { token: "${env:A}" } }\n';

/** A service that has what a file declares, with the value, and commands on the file without it. */
async function withoutValue(dialect: EmulatorDialect, all: string) {
  const fronted = await startFronted({
    dialect,
    gitProviders: [{ product: 'github', accepts: 'CANARY' }],
  });
  onTestFinished(() => fronted.close());
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const file = (language: string): void => {
    const settings = `settings:\n  language: ${language}\n`;
    const declared = all.replaceAll('LANG', language);
    const head = `version: 1\nserver: { url: "${fronted.url}" }\n${settings}`;
    writeFileSync(join(folder.path, 'settings.yaml'), head + declared);
  };
  const outputs: string[] = [];
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const ran = await setpoint(args, { cwd: folder.path, env: { B: 'CANARY-b', ...env } });
    outputs.push(ran.stdout, ran.stderr);
    return ran;
  };
  onTestFinished(() => expect(outputs.join('\n')).not.toMatch(/CANARY/));
  file('en');
  const allowed = dialect === 'settings-v0' ? ['--allow', 'lose-unreadable'] : [];
  const first = await run(['apply', '--yes', ...allowed], { A: CANARY });
  expect(first).toMatchObject({ code: 0 });
  file('de');
  return { run, folder };
}

describeEach(
  [
    ['settings-v0', 'flat', FLAT, 'llm_api_key'],
    ['app-server', 'flat', FLAT, 'llm_api_key'],
    ['agent-server', 'flat', FLAT, 'llm_api_key'],
    ['app-server', 'native', NATIVE, 'agent_settings.llm.api_key'],
    ['agent-server', 'native', NATIVE, 'llm_api_key'],
    ['settings-v0', 'an entry of a list', LIST, `mcp_config.shttp_servers[${URL}]`],
    ['app-server', 'an entry of a list', LIST, `mcp_config.shttp_servers[${URL}]`],
    ['agent-server', 'a server of a map', MAP, `mcp_config.shttp_servers[${URL}]`],
    ['agent-server', 'a server by name', NAMED, 'mcp_servers.a'],
    ['settings-v0', 'a secret', SECRET, 'secrets.ONE'],
    ['app-server', 'a secret beside which others go', OTHERS, 'secrets.ONE'],
    ['agent-server', 'a secret beside which others go', OTHERS, 'secrets.ONE'],
    ['agent-server', 'an LLM profile', PROFILE, 'llm_profiles.fast'],
    ['agent-server', 'a connection', CONNECTION, 'provider_connections.main'],
    ['settings-v0', 'a git provider', PROVIDER, 'git_providers.github'],
    ['app-server', 'a git provider', PROVIDER, 'git_providers.github'],
    ['settings-v0', 'the key of an entry', LIST, `mcp_config.shttp_servers[${URL}].api_key`],
    ['app-server', 'the key of an entry', LIST, `mcp_config.shttp_servers[${URL}].api_key`],
    ['agent-server', 'the key of an entry', LIST, `mcp_config.shttp_servers[${URL}].api_key`],
    ['agent-server', 'the key of a server of a map', MAP, 'agent_settings.mcp_config.a.auth.value'],
    ['agent-server', 'the key of a server by name', NAMED, 'mcp_servers.a.auth.value'],
    ['settings-v0', 'the value of a secret', TOLD, 'secrets.ONE.value'],
    ['app-server', 'the value of a secret', TOLD, 'secrets.ONE.value'],
    ['app-server', 'the key of an LLM profile', PROFILE, 'llm_profiles.fast.api_key'],
    ['agent-server', 'the key of an LLM profile', PROFILE, 'llm_profiles.fast.api_key'],
    ['agent-server', 'the key of a connection', CONNECTION, 'provider_connections.main.api_key'],
    ['settings-v0', 'a token', PROVIDER, 'git_providers.github.token'],
    ['app-server', 'a token', PROVIDER, 'git_providers.github.token'],
  ] as const,
  (_, index) => index % 5 === 4,
)('a missing value on %s: %s', (dialect, _, declared, path) => {
  it('is a choice: an apply says so, and leaves it alone if it is told to', async () => {
    const { run } = await withoutValue(dialect, declared);
    const before = await run(['plan']);
    expect(before.stdout).toMatch(/\napply needs \S.*; --without \S+ leaves it\.\n$/);
    const wall = await run(['apply', '--yes']);
    expect(wall.code).toBe(3);
    expect(wall.stderr).toMatch(
      /\. language.* can be written without\. To leave it alone: --without \S+ in this run, or /,
    );
    const applied = await run(['apply', '--yes', '--without', path]);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(applied.stdout).toContain('✓ language: verified');
    expect(applied.stdout).toContain('1 value left unchanged by --without.');
    const after = await run(['plan', '-o', 'json'], { A: CANARY });
    const { environments } = JSON.parse(after.stdout) as { environments: { changes: unknown[] }[] };
    expect(environments).toMatchObject([{ status: 'in-sync', changes: [] }]);
  });
});

it('a saved plan is bound to what it leaves, and no value of it is in the plan', async () => {
  const { run, folder } = await withoutValue('agent-server', FLAT);
  await run(['plan', '--without', 'llm_api_key', '--out', 'plan.json', '-q']);
  expect(readFileSync(join(folder.path, 'plan.json'), 'utf8')).toContain('"kind": "left"');
  const other = await run(['apply', 'plan.json'], { A: CANARY });
  expect(other.code).toBe(6);
  expect(other.stderr).toContain('Pass --without llm_api_key, or plan again');
  expect((await run(['apply', 'plan.json', '--without', 'llm_api_key'])).code).toBe(0);
  await run(['plan', '--out', 'plan.json', '-q'], { A: CANARY });
  const more = await run(['apply', 'plan.json', '--without', 'llm_api_key'], { A: CANARY });
  expect(more.code).toBe(6);
});

it('what a write would clear, a part of an entry, and what nobody declares are refused', async () => {
  const { run } = await withoutValue('settings-v0', `  sandbox_api_key: null\n${LIST}`);
  const cleared = await run(['plan', '--without', 'sandbox_api_key']);
  expect(cleared.code).toBe(3);
  expect(cleared.stderr).toContain('a write without it clears it');
  const part = await run(['plan', '--without', `mcp_config.shttp_servers[${URL}].url`]);
  expect(part.code).toBe(3);
  expect(part.stderr).toContain(
    `--without mcp_config.shttp_servers[${URL}] leaves all of it unchanged. Of its members it takes api_key.`,
  );
  const nobody = await run(['apply', '--yes', '--without', 'languge']);
  expect(nobody.code).toBe(3);
  expect(nobody.stderr).toContain('Did you mean language?');
});

describe('a member that is left', () => {
  const PROFILE_OF = (model: string) =>
    `llm_profiles: { fast: { model: ${model}LANG, api_key: "\${env:A}" } }\n`;
  it.each([
    ['app-server', PROFILE_OF('openai/gpt-')],
    ['agent-server', PROFILE_OF('openai/gpt-')],
  ] as const)('stays on %s while the rest of its profile is written', async (dialect, declared) => {
    const { run } = await withoutValue(dialect, declared);
    const applied = await run(['apply', '--yes', '--without', 'llm_profiles.fast.api_key']);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(applied.stdout).toContain('? llm_profiles.fast.api_key: left unchanged (--without)');
    expect(applied.stdout).toContain('✓ llm_profiles.fast.model: verified');
    const shown = await run(['get', 'llm_profiles', '-o', 'json'], { A: CANARY });
    expect(shown.stdout).toContain('openai/gpt-de');
    expect(shown.stdout).toMatch(/"api_key": "[^"]+"/);
  });

  itEach(
    [
      [
        'agent-server',
        TOLD,
        'secrets.ONE.value',
        '--without secrets.ONE leaves all of it unchanged.',
      ],
      ['agent-server', PROFILE, 'llm_profiles.fast.model', 'Of its members it takes api_key.'],
    ] as const,
    (_, index) => index === 1,
  )('on %s is refused where a write would lose it', async (dialect, declared, path, hint) => {
    const { run } = await withoutValue(dialect, declared);
    const refused = await run(['apply', '--yes', '--without', path]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(hint);
  });

  itEach(
    [
      ['app-server', PROFILE, 'llm_profiles.slow.api_key', 'llm_profiles.slow'],
      [
        'agent-server',
        CONNECTION,
        'provider_connections.slow.api_key',
        'provider_connections.slow',
      ],
      ['agent-server', LIST, `mcp_config.shttp_servers[${URL}].api_key`, 'mcp_config'],
    ] as const,
    (_, index) => index === 0,
  )('on %s is refused of what is not there', async (dialect, declared, path, whole) => {
    const { run, folder } = await withoutValue(dialect, declared);
    const file = join(folder.path, 'settings.yaml');
    const text = readFileSync(file, 'utf8').replace('fast:', 'slow:').replace('main:', 'slow:');
    writeFileSync(file, text.replaceAll('a.example.com', 'b.example.com'));
    const given = path.replaceAll('a.example.com', 'b.example.com');
    const refused = await run(['apply', '--yes', '--without', given]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`--without ${whole}`);
    expect(refused.stderr).toContain('leaves all of it unchanged.');
  });
});
