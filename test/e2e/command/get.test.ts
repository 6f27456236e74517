import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import type { ObservedDocument } from '../../../src/reconciler/model/documents.gen.ts';
import { startAppServer, storedRecord } from '../../fixture/app-server.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const SPEC = 'ghcr.io/example/agent:1';
let service: Emulator;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  service = await startEmulator({ apiKey: 'k', startMs: 0, runMs: 0, specs: [SPEC, 'other:2'] });
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${service.url}", api_key: "\${env:KEY}" }\nsettings: { language: en }\n`,
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

function run(...args: string[]): Promise<Ended> {
  return setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });
}

async function post(path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'x-session-api-key': 'k', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

describe('get profiles', () => {
  it('shows those of each kind', async () => {
    const agents = await startEmulator({ dialect: 'agent-server' });
    const { code, stdout } = await run('get', 'profiles', '--server', agents.url, '-o', 'json');
    await agents.close();
    const { resources, environments } = JSON.parse(stdout) as ObservedDocument;
    expect(code).toBe(0);
    expect(resources).toEqual(['llm_profiles', 'meta_profiles', 'agent_profiles']);
    expect(environments).toMatchObject([
      { meta_profiles: [], agent_profiles: expect.any(Array), llm_profiles: [] },
    ]);
  });
});

describe('get server', () => {
  it('shows what the service speaks, its release and what it can hold', async () => {
    const { code, stdout } = await run('get', 'server');
    expect(code).toBe(0);
    const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(lines).toContainEqual(['default', service.url]);
    expect(lines).toContainEqual(['dialect', 'settings-v0']);
    expect(lines).toContainEqual(['release', '0.62.0']);
    expect(lines).toContainEqual(['llm_api_key', 'whether one is stored', 'clears']);
  });

  it('is data, exact where the service names its release, for one request more', async () => {
    const server = await startAppServer(storedRecord({ language: 'de' }));
    const file = `version: 1\nserver: { url: "${server.url}", api_key: "\${env:KEY}" }\nsettings: { language: en }\n`;
    const other = folderWith({ 'settings.yaml': file });
    const cwd = other.path;
    const env = { KEY: 'contract-key' };
    try {
      const plan = await setpoint(['plan', '-o', 'json'], { cwd, env });
      expect(JSON.parse(plan.stdout)).toMatchObject({
        environments: [{ dialect: 'app-server', release: '1.11' }],
      });
      expect(server.requests.map(({ path }) => path)).not.toContain('/openapi.json');
      const { code, stdout } = await setpoint(['get', 'server,settings', '-o', 'json'], {
        cwd,
        env,
      });
      expect(code).toBe(0);
      const document = JSON.parse(stdout) as ObservedDocument;
      expect(listSchemaErrors('observed', document)).toEqual([]);
      const [observed] = document.environments;
      expect(observed).toMatchObject({
        dialect: 'app-server',
        release: '1.11.0',
        status: 'stored',
      });
      expect(observed?.server?.writes).toBe('fields');
      expect(observed?.server?.lacks.map(({ name }) => name)).toContain('secrets_store');
      expect(observed?.server?.fields).toContainEqual({
        name: 'llm_model',
        reads: 'value',
        on_null: 'refuses',
        loses: null,
      });
    } finally {
      await server.close();
      other.remove();
    }
  });
});

describe('get', () => {
  it('reports that there is nothing', async () => {
    const { code, stdout } = await run('get', 'sandboxes,conversations');
    expect(code).toBe(0);
    expect(stdout).toContain('No sandboxes.');
    expect(stdout).toContain('No conversations.');
  });

  it('shows ids, states, ages and specs as tables', async () => {
    const { id } = await post('sandboxes');
    const table = (await run('get', 'sandboxes')).stdout.split('\n');
    expect(table.slice(2, 4).map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['SANDBOX', 'STATE', 'AGE', 'SPEC'],
      [id, 'RUNNING', expect.stringMatching(/^\ds$/), SPEC],
    ]);
    expect((await run('get', 'specs')).stdout).toMatch(/agent:1 +default\n +other:2\n/);
  });

  it('prints JSON that its published schema accepts, several resources in one document', async () => {
    await run('apply', '--yes');
    await post('app-conversations', {});
    const { stdout } = await run('get', 'settings,sandboxes,specs,conversations', '-o', 'json');
    const document = JSON.parse(stdout) as ObservedDocument;
    expect(listSchemaErrors('observed', document)).toEqual([]);
    expect(document.environments).toMatchObject([
      {
        status: 'stored',
        dialect: 'settings-v0',
        settings: { language: 'en' },
        sandboxes: [{ spec: SPEC, status: 'RUNNING' }],
        specs: [
          { id: SPEC, default: true },
          { id: 'other:2', default: false },
        ],
        conversations: [{ status: 'idle' }],
      },
    ]);
  });

  it('shows no key of a session and no address that holds one', async () => {
    const sandbox = await post('sandboxes');
    await post('app-conversations', {});
    const key = String(sandbox['session_api_key']);
    expect(key.length).toBeGreaterThan(8);
    for (const format of ['text', 'json']) {
      const { stdout, stderr } = await run('get', 'sandboxes,conversations', '-v', '-o', format);
      expect(stdout).toContain(sandbox['id']);
      expect(stdout + stderr).not.toContain(key.slice(0, 8));
      expect(stdout + stderr).not.toMatch(/tkn|session_api_key|https?:\/\/(?!127\.0\.0\.1)/);
    }
  });

  it('requests nothing but what was named', async () => {
    const elsewhere = await setpoint(['get', 'specs', '--server', `${service.url}/nowhere`], {
      cwd: folder.path,
      env: { KEY: 'k' },
    });
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.stderr).toContain('/api/v1/sandbox-specs/search');
    expect(elsewhere.stderr).not.toContain('/api/settings');
  });

  it.each([
    ['sandboxs', 'Did you mean sandboxes?'],
    ['settings,specz', 'Did you mean specs?'],
    ['mcp_servers', 'setpoint get settings'],
    ['', 'settings, sandboxes, specs, conversations'],
  ])('does not know %j, and helps', async (what, hint) => {
    const { code, stderr } = await run('get', what);
    expect(code).toBe(3);
    expect(stderr).toContain(hint);
  });
});
