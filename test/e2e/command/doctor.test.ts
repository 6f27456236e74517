import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctorCommand } from '../../../src/command/cli/commands/doctor.ts';
import type { Flags } from '../../../src/command/cli/command-table.ts';
import { startEmulator } from '../../../src/emulator/start.ts';
import type { Check, TargetCheck } from '../../../src/reconciler/model/doctor.ts';
import type { DoctorDocument } from '../../../src/reconciler/model/documents.gen.ts';
import { doctor } from '../../../src/reconciler/operations/doctor.ts';
import { rawServer } from '../../faults/raw-server.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { runFunction } from '../../fixture/command-function.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const ENV = { KEY: 'canary-key', LLM: 'canary-llm' };

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

function settings(url: string, more = ''): string {
  return `version: 1\nserver: { url: "${url}", api_key: "\${env:KEY}" }\nsettings: { llm_api_key: "\${env:LLM}" }\n${more}`;
}

beforeEach(async () => {
  store = await startStore({}, { language: 'en' });
  folder = folderWith({ 'settings.yaml': settings(store.url) });
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

const cwd = process.cwd();
beforeEach(() => process.chdir(folder.path));
afterEach(() => process.chdir(cwd));

function run(flags: Flags<'doctor'> = {}, env: Record<string, string> = ENV): Promise<Ended> {
  return runFunction(doctorCommand, flags, env);
}

async function checks(env: Record<string, string> = ENV): Promise<readonly Check<TargetCheck>[]> {
  const document = await doctor({ env, timeout: 20_000 });
  expect(listSchemaErrors('doctor', document)).toEqual([]);
  return document.environments[0]?.checks ?? [];
}

/** `reach failed unreachable`, for those that did not pass. */
function unsound(list: readonly Check[]): string[] {
  return list
    .filter(({ status }) => status !== 'passed')
    .map(({ name, status, code }) => [name, status, ...(code === null ? [] : [code])].join(' '));
}

const UNREACHED = ['key skipped', 'dialect skipped', 'clock skipped'];

describe('a target that is well', () => {
  it('prints one line for each check, after a GET of the settings, one of the release, and nothing else', async () => {
    const { code, stdout, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`This machine
  ✓ node          Node ${process.versions.node}
  ✓ certificates  certificates are checked
  ✓ debugging     no NODE_DEBUG or similar that would print requests
  ✓ file          settings.yaml is valid, for default

default  ${store.url}
  ✓ references    2 references, and all have a value
  ✓ policy        loopback address: no allow-list needed
  ✓ proxy         HTTPS_PROXY is not set: reached directly
  ✓ reach         GET ${store.url}/api/settings was answered (status 200)
  ✓ key           accepted
  ✓ dialect       settings-v0, release 0.62 or earlier
  ✓ clock         the same as that of the service
`);
    expect(store.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api/settings',
      'GET /openapi.json',
    ]);
  });

  it('an empty store is well, too', async () => {
    store.stored = null;
    const list = await checks();
    expect(unsound(list)).toEqual([]);
    expect(list.find(({ name }) => name === 'dialect')?.found).toContain('nothing is stored yet');
  });

  it('sandboxes are listed if the file declares them', async () => {
    const service = await startEmulator({ apiKey: 'canary-key' });
    try {
      writeFileSync('settings.yaml', settings(service.url, 'sandboxes: [{ running: 1 }]\n'));
      const list = await checks();
      expect(unsound(list)).toEqual([]);
      expect(list.at(-1)).toMatchObject({
        name: 'sandboxes',
        found: 'can be listed: 0, 0 of them up',
      });
    } finally {
      await service.close();
    }
    writeFileSync('settings.yaml', settings(store.url, 'sandboxes: [{ running: 1 }]\n'));
    expect(unsound(await checks())).toEqual(['sandboxes failed bad-response']);
  });

  it('takes all targets, or those that are named', async () => {
    writeFileSync('settings.yaml', settings(store.url, 'environments: { a: {}, b: {} }\n'));
    const names = ({ environments }: DoctorDocument) => environments.map(({ name }) => name);
    expect(names(await doctor({ env: ENV }))).toEqual(['a', 'b']);
    expect(names(await doctor({ env: ENV, targets: ['b'] }))).toEqual(['b']);
    const ended = await run({ env: ['c'] });
    expect(ended).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('a failure has its remedy on the line under it, and its exit code', () => {
  it('the key is refused: 4', async () => {
    store.intercept = (_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    const { code, stdout, stderr } = await run();
    expect(code).toBe(4);
    expect(stdout).toMatch(
      /\n {2}✗ key {11}The service refused the key .*\n {18}Check that the variable/,
    );
    expect(stdout).toContain('· dialect       not checked: the key was refused');
    expect(stderr).toBe('setpoint: 1 of 11 checks failed.\n  See the remedies above.\n');
  });

  it('nobody answers: 1; too late: 9', async () => {
    await store.close();
    expect(await run()).toMatchObject({ code: 1 });
    expect(unsound(await checks())).toEqual(['reach failed unreachable', ...UNREACHED]);
    store = await startStore();
    writeFileSync('settings.yaml', settings(store.url));
    store.intercept = () => true;
    const slow = await run({ timeout: '200ms' });
    expect(slow.code).toBe(9);
    expect(slow.stdout).toContain('--timeout');
  });

  it('something else answers', async () => {
    store.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>canary');
      return true;
    };
    expect(unsound(await checks())).toEqual(['key skipped', 'dialect failed not-this-service']);
    expect((await run()).code).toBe(1);
    store.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"agent_settings":{}}');
      return true;
    };
    expect(unsound(await checks())).toEqual(['key skipped', 'dialect failed dialect-not-spoken']);
  });

  it('what answers is not HTTP', async () => {
    const server = await rawServer((socket) => socket.end('canary\n'));
    writeFileSync('settings.yaml', settings(server.url));
    const list = await checks();
    expect(unsound(list)[0]).toMatch(/^reach failed/);
    expect(JSON.stringify(list)).not.toContain('canary');
  });

  it.each([
    [-30, []],
    [30, []],
    [-3_600, ['clock failed bad-response']],
    [3_600, ['clock failed bad-response']],
    [null, ['clock warning']],
  ])('clocks %j seconds apart', async (seconds, expected) => {
    store.intercept = (_, response) => {
      if (seconds === null) response.sendDate = false;
      else response.setHeader('date', new Date(Date.now() + seconds * 1000).toUTCString());
      return false;
    };
    const list = await checks();
    expect(unsound(list)).toEqual(expected);
    const clock = list.find(({ name }) => name === 'clock');
    if (seconds !== null) expect(clock?.found).toContain(seconds > 0 ? 'behind' : 'ahead of');
  });

  it('references without a value: 3; a missing key of the service stops what would need it', async () => {
    const one = await run({}, { KEY: 'k' });
    expect(one.code).toBe(3);
    expect(one.stdout).toContain('✗ references    llm_api_key: the variable LLM is not set\n');
    expect(one.stdout).toContain('✓ key           accepted');
    store.requests.length = 0;
    expect(unsound(await checks({}))).toEqual([
      'references failed reference-missing',
      'policy skipped',
      'proxy skipped',
      'reach skipped',
      ...UNREACHED,
    ]);
    expect(store.requests).toEqual([]);
  });

  it('the file is invalid or missing: 3, and no service is read', async () => {
    writeFileSync('settings.yaml', 'version: 1\nsettings: { langage: en }\n');
    const wrong = await run();
    expect(wrong.code).toBe(3);
    expect(wrong.stdout).toContain(
      '✗ file          settings.yaml:1:1: server.url is missing here.',
    );
    expect(wrong.stdout).toContain('(the first of 2 problems)');
    const missing = await run({ file: ['nowhere.yaml'] });
    expect(missing.code).toBe(3);
    expect(missing.stdout).toContain('nowhere.yaml does not exist');
  });

  it('if a key must not be sent there, nothing is sent, and the line to add is shown', async () => {
    writeFileSync('settings.yaml', settings('https://agents.example.invalid'));
    const inPipeline = { ...ENV, CI: 'true' };
    expect(unsound(await checks(inPipeline))).toEqual([
      'policy failed not-allowed',
      'proxy skipped',
      'reach skipped',
      ...UNREACHED,
    ]);
    const { code, stdout } = await run({}, inPipeline);
    expect(code).toBe(3);
    expect(stdout).toContain('SETPOINT_ALLOWED_ORIGINS=https://agents.example.invalid');
    const listed = {
      SETPOINT_ALLOWED_ORIGINS: '*.example.invalid',
      SETPOINT_ALLOWED_VARIABLES: '*',
    };
    const list = await checks({ ...inPipeline, ...listed });
    expect(list[1]).toMatchObject({ name: 'policy', status: 'passed' });
    expect(unsound(list)[0]).toMatch(/^reach failed/);
    const unverified = await checks({ ...ENV, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(unsound(unverified)[0]).toBe('policy failed not-allowed');
  });

  it('a key that would go to two origins goes to none', async () => {
    const other = await startStore();
    writeFileSync('a.yaml', settings(store.url));
    writeFileSync('b.yaml', settings(other.url));
    const ended = await run({ file: ['a.yaml', 'b.yaml'] });
    expect(ended.code).toBe(3);
    expect(ended.stdout).toContain('KEY would be sent as the key of two origins');
    expect([...store.requests, ...other.requests]).toEqual([]);
    await other.close();
  });

  it('a proxy is shown without its password', async () => {
    writeFileSync('settings.yaml', settings('https://agents.example.invalid'));
    const through = await run(
      { timeout: '1s' },
      { ...ENV, HTTPS_PROXY: 'http://u:canary@127.0.0.1:1' },
    );
    expect(through.stdout).toContain(
      'HTTPS_PROXY or ALL_PROXY is in effect: reached through 127.0.0.1:1\n',
    );
    expect(through.stdout).not.toContain('canary');
    const list = await checks({ ...ENV, HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: 'invalid' });
    expect(list[2]).toMatchObject({ found: 'NO_PROXY names the host: reached directly' });
    expect(unsound(await checks({ ...ENV, HTTPS_PROXY: 'ftp://x' }))).toContain(
      'proxy failed usage',
    );
  });

  it('of several targets the worst counts', async () => {
    const down =
      'environments:\n  a: {}\n  b: { server: { url: "http://127.0.0.1:1", api_key: null } }\n';
    writeFileSync('settings.yaml', settings(store.url, down));
    store.intercept = (_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    expect((await run({ env: ['a'] })).code).toBe(4);
    expect((await run({ env: ['a', 'b'] })).code).toBe(1);
  });
});

describe('what this machine shows to others', () => {
  it.each([
    [{ NODE_DEBUG: 'http' }, 'NODE_DEBUG (http)'],
    [{ NODE_DEBUG: 'FS,Un*' }, 'NODE_DEBUG (undici)'],
    [{ NODE_OPTIONS: '--max-old-space-size=99 --tls-keylog=/tmp/canary' }, '--tls-keylog'],
    [{ NODE_OPTIONS: '-r ./canary.js' }, '--require'],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'NODE_TLS_REJECT_UNAUTHORIZED=0'],
  ])('%j is worth a warning, and no failure', async (env, words) => {
    const { code, stdout } = await run({}, { ...ENV, ...env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}! (debugging|certificates) /m);
    expect(stdout).toContain(words);
    expect(stdout).not.toContain('canary');
  });

  it('other debugging is not', async () => {
    const { stdout } = await run(
      {},
      { ...ENV, NODE_DEBUG: 'fs', NODE_OPTIONS: '--enable-source-maps' },
    );
    expect(stdout).not.toContain('  ! ');
  });
});

it('as JSON it fits the published schema, on failure too; text goes to stderr', async () => {
  const { code, stdout, stderr } = await run({ output: ['json'] }, { KEY: 'canary-key' });
  expect(code).toBe(3);
  const document = JSON.parse(stdout) as DoctorDocument;
  expect(listSchemaErrors('doctor', document)).toEqual([]);
  expect(document).toMatchObject({ kind: 'health', environments: [{ dialect: 'settings-v0' }] });
  expect(stdout).not.toContain('canary');
  expect(stderr).toContain('1 of 11 checks failed.');
});
