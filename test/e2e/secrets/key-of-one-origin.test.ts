/** A variable is the key of one origin, whichever environments a command is about. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/command/cli/command-table.ts';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

const KEY = 'canary-key-of-production';

let production: StoreServer;
let staging: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  [production, staging] = [await startStore(), await startStore()];
  folder = folderWith({});
});
afterEach(async () => {
  await production.close();
  await staging.close();
  folder.remove();
});

/** How an environment can send the key of another. */
const WAYS: Readonly<Record<string, (url: string) => string>> = {
  'its key': (url) => `server: { url: "${url}", api_key: "\${env:PRODUCTION_KEY}" }`,
  'a header': (url) =>
    `server: { url: "${url}", api_key: "\${env:STAGING_KEY}", headers: { X-A: "\${env:PRODUCTION_KEY}" } }`,
  'a part of its url': (url) =>
    `server: { url: "${url}/\${env:PRODUCTION_KEY}", api_key: "\${env:STAGING_KEY}" }`,
  'a setting': (url) =>
    `server: { url: "${url}", api_key: "\${env:STAGING_KEY}" }\n    settings: { llm_api_key: "\${env:PRODUCTION_KEY}" }`,
  'a custom secret': (url) =>
    `server: { url: "${url}", api_key: "\${env:STAGING_KEY}" }\n    secrets: { one: "\${env:PRODUCTION_KEY}" }`,
};

function use(way: string): void {
  folder.remove();
  folder = folderWith({
    'settings.yaml': `version: 1
settings: { language: en }
environments:
  production:
    server: { url: "${production.url}", api_key: "\${env:PRODUCTION_KEY}" }
  staging:
    ${WAYS[way]?.(staging.url)}
`,
  });
}

const run = (args: readonly string[]) =>
  setpoint(args, {
    cwd: folder.path,
    env: { PRODUCTION_KEY: KEY, STAGING_KEY: 'canary-key-of-staging' },
  });

/** How each command that takes environments is run for one of them. Those that never ask a service are left out by name. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  validate: ['validate'],
  plan: ['plan'],
  apply: ['apply', '--yes'],
  drift: ['drift'],
  pull: ['pull', '--check'],
  get: ['get', 'settings'],
  explain: ['explain', 'language'],
  doctor: ['doctor'],
  smoke: ['smoke', '--yes'],
  schema: ['schema', 'pull'],
  watch: ['watch'],
};
const ASKS_NONE = new Set(['init', 'render', 'suspend', 'resume', 'status', 'history']);

it('every command that takes environments is here', () => {
  const taking = Object.entries(COMMANDS)
    .filter(([, { flags }]) => (flags as readonly string[]).includes('--env'))
    .map(([name]) => name);
  expect(taking.filter((name) => !ASKS_NONE.has(name)).toSorted()).toEqual(
    Object.keys(RUNS).toSorted(),
  );
});

describe.each(Object.keys(RUNS))('%s', (name) => {
  it.each(Object.keys(WAYS))('sends no key of another environment as %s', async (way) => {
    use(way);
    const { code, stdout, stderr } = await run([...(RUNS[name] ?? []), '-e', 'staging']);
    expect(stdout + stderr).toMatch(/PRODUCTION_KEY (would be sent as|is) the key of/);
    expect(stdout + stderr).toMatch(/settings\.yaml:\d+/);
    expect(stdout + stderr).not.toContain('canary');
    expect(code).toBe(3);
    expect([...production.requests, ...staging.requests]).toEqual([]);
  });
});

it.each([
  ['a shard', ['plan', '--shard', '1/2']],
  ['the other environment', ['plan', '-e', 'production']],
  ['an address of the command line', ['plan', '-e', 'staging', '--server', 'SERVER']],
])('for %s, too', async (_, args) => {
  use('a setting');
  const ended = await run(args.map((one) => (one === 'SERVER' ? staging.url : one)));
  expect(ended).toMatchObject({ code: 3 });
  expect([...production.requests, ...staging.requests]).toEqual([]);
});

it('--server sends no key of the file to another address as a setting', async () => {
  folder.remove();
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${production.url}", api_key: "\${env:PRODUCTION_KEY}" }\nsecrets: { own: "\${env:PRODUCTION_KEY}" }\n`,
  });
  expect((await run(['plan'])).stderr).not.toContain('key of');
  production.requests.length = 0;
  const { code, stderr } = await run(['plan', '--server', staging.url]);
  expect(stderr).toContain('PRODUCTION_KEY is the key of default');
  expect(code).toBe(3);
  expect(staging.requests).toEqual([]);
});

it('files of one run are judged together', async () => {
  const server = (url: string) =>
    `version: 1\nserver: { url: "${url}", api_key: "\${env:PRODUCTION_KEY}" }\nsettings: { language: en }\n`;
  folder.remove();
  folder = folderWith({
    'production.setpoint.yaml': server(production.url),
    'staging.setpoint.yaml': server(staging.url),
  });
  const { code, stderr } = await run(['plan', '-e', 'staging']);
  expect(stderr).toContain('production.setpoint.yaml:2:');
  expect(stderr).toContain('staging.setpoint.yaml:2:');
  expect(code).toBe(3);
  expect([...production.requests, ...staging.requests]).toEqual([]);
});

it('one origin in two spellings is one', async () => {
  const { host, port } = new URL(production.url);
  folder.remove();
  folder = folderWith({
    'settings.yaml': `version: 1
settings: { language: en }
environments:
  production: { server: { url: "http://${host}", api_key: "\${env:PRODUCTION_KEY}" } }
  team: { server: { url: "HTTP://127.0.0.1:${port}/", api_key: "\${env:PRODUCTION_KEY}" } }
`,
  });
  expect((await run(['validate'])).code).toBe(0);
  expect((await run(['plan', '-e', 'team'])).stderr).not.toContain('key of');
});
