import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../../src/emulator/start.ts';
import type { SmokeDocument } from '../../../src/reconciler/model/documents.gen.ts';
import { smoke } from '../../../src/reconciler/operations/smoke.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith, setpoint, start } from '../../fixture/command.ts';
import { LONG, itEach } from '../../fixture/long.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

let service: Emulator;
let folder: ReturnType<typeof folderWith>;
afterEach(async () => {
  await service.close();
  folder.remove();
});

async function world(options: EmulatorOptions, stored = true): Promise<void> {
  service = await startEmulator({ apiKey: 'k', ...options });
  folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${service.url}", api_key: "\${env:KEY}" }\n`,
  });
  const path = options.dialect === 'app-server' ? 'api/v1/settings' : 'api/settings';
  if (stored) await request(path, { language: 'en' });
}

async function request(path: string, body?: object): Promise<{ items: Record<string, unknown>[] }> {
  const response = await fetch(`${service.url}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-session-api-key': 'k', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { items: Record<string, unknown>[] };
}

const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: { KEY: 'k' } });

describe('smoke', () => {
  itEach(['settings-v0', 'app-server'] as const, (dialect) => dialect === 'app-server')(
    'starts one conversation on %s, follows it to READY, and removes it with its sandbox',
    async (dialect) => {
      await world({ startMs: 600, dialect });
      await request('api/v1/sandboxes', {});
      const { items: before } = await request('api/v1/sandboxes/search');
      const { code, stdout, stderr } = await run('smoke', '--yes', '-o', 'json');
      const document = JSON.parse(stdout) as SmokeDocument;
      expect(listSchemaErrors('smoke', document)).toEqual([]);
      expect(code, stderr).toBe(0);
      const [environment] = document.environments;
      const statuses = environment?.steps.map(({ status }) => status);
      expect([statuses?.at(0), statuses?.at(-1)]).toEqual(['WORKING', 'READY']);
      expect(environment).toMatchObject({ removed: true, remains: null });
      expect((await request('api/v1/app-conversations/search')).items).toEqual([]);
      const { items } = await request('api/v1/sandboxes/search');
      expect(items.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    },
  );

  it('claims no more than that one can start', async () => {
    await world({ startMs: 0 });
    const { stdout } = await run('smoke', '--yes');
    expect(stdout).toContain('A conversation can start. Nothing else was tested.');
    expect(stdout).toMatch(
      /Removed again: conversation [0-9a-f]{32}, and with it sandbox \w+\.\n$/,
    );
  });

  it('says where it cannot start one, and sends nothing there: an Agent Server is sent all of it', async () => {
    const fronted = await startFronted({ dialect: 'agent-server' });
    service = fronted;
    folder = folderWith({ 'settings.yaml': `version: 1\nserver: { url: "${fronted.url}" }\n` });
    const { code, stderr } = await run('smoke', '--yes');
    expect(code).toBe(3);
    expect(fronted.writes()).toEqual([]);
    expect(stderr).toContain('An Agent Server starts no conversation from what it has stored');
    expect(stderr).toContain('setpoint doctor --check');
  });

  it('asks first, and shows what it costs; without a terminal it needs --yes', async () => {
    await world({ startMs: 0 });
    const { code, stderr } = await run('smoke');
    expect(code).toBe(3);
    expect(stderr).toContain('it costs a model call');
    expect((await request('api/v1/app-conversations/search')).items).toEqual([]);
  });

  it("a task that ends with ERROR is a failure, and the service's text about it is not repeated", async () => {
    await world({ startMs: 0 }, false);
    const { code, stdout, stderr } = await run('smoke', '--yes');
    expect(code).toBe(1);
    expect(stderr).toContain('its task ended with ERROR');
    expect(stdout).toContain('No conversation became ready.');
    expect(stdout + stderr).not.toContain('No settings are stored');
  });

  it('one that is not ready in time is exit 9, and may still start', async () => {
    await world({ startMs: 60_000 });
    const { code, stderr } = await run('smoke', '--yes', '--wait', '700ms');
    expect(code).toBe(9);
    expect(stderr).toContain('was not ready in time');
  });

  it('is sent once, though its answer is lost', LONG, async () => {
    await world({ startMs: 0 });
    const { createServer } = await import('node:http');
    let posts = 0;
    const dead = createServer((incoming, response) => {
      if (incoming.method === 'POST') posts += 1;
      response.destroy();
    });
    await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
    const address = dead.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const document = await smoke({
      text: `version: 1\nserver: { url: "http://127.0.0.1:${port}" }\n`,
      env: {},
    });
    expect(document.environments).toMatchObject([
      { status: 'failed', error: { code: 'state-unknown' } },
    ]);
    expect(posts).toBe(1);
    await new Promise((resolve) => dead.close(resolve));
  });

  it('a signal ends the wait', async () => {
    await world({ startMs: 60_000 });
    const { child, ended } = start(['smoke', '--yes', '-o', 'json'], {
      cwd: folder.path,
      env: { KEY: 'k' },
    });
    child.stderr?.once('data', () => child.kill('SIGINT'));
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'smoke',
      environments: [{ status: 'failed', error: { code: 'interrupted' } }],
    });
  });
});
