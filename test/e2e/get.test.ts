import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import type { ObservedDocument } from '../../src/model/observed.ts';
import { setpoint } from '../fixture/command-here.ts';
import { folderWith, type Ended } from '../fixture/command.ts';

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
    const path = join(import.meta.dirname, '../../schemas/observed.schema.json');
    const validate = new Ajv2020({ strict: false }).compile(
      JSON.parse(readFileSync(path, 'utf8')) as object,
    );
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
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
    ['', 'settings, sandboxes, specs, conversations'],
  ])('does not know %j, and helps', async (what, hint) => {
    const { code, stderr } = await run('get', what);
    expect(code).toBe(3);
    expect(stderr).toContain(hint);
  });
});
