/** Custom secrets of the embedded service beyond what was recorded of real servers: its store, and what another dialect finds in it. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { send } from '../../contract/send.ts';
import { emulatorForTest, folderForTest } from './emulator.ts';

const KEY = 'contract-key';
const VALUE = 'sec-very-secret-1';

const storeFile = async () => join(await folderForTest(), 'store.json');

/** One request, such as `POST /api/secrets`, with the status and the answer. */
async function ask(url: string, what: string, body?: unknown) {
  const [method = '', path = ''] = what.split(' ');
  const { status, mediaType, text } = await send(url, {
    method,
    path,
    headers: { 'Content-Type': 'application/json', 'X-Session-API-Key': KEY },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status, body: mediaType === 'application/json' ? (JSON.parse(text) as unknown) : text };
}

describe('the store file', () => {
  it('keeps them over a restart, and holds no value of one', async () => {
    const data = await storeFile();
    const first = await emulatorForTest({ data, apiKey: KEY });
    await ask(first.url, 'POST /api/secrets', { name: 'A', value: VALUE, description: 'd' });
    await first.close();
    expect(await readFile(data, 'utf8')).not.toContain(VALUE);

    const second = await emulatorForTest({ data, apiKey: KEY });

    expect((await ask(second.url, 'GET /api/secrets')).body).toEqual({
      custom_secrets: [{ name: 'A', description: 'd' }],
    });
  });

  it('tells a service that has removed its last one from a service that never had one', async () => {
    const data = await storeFile();
    const first = await emulatorForTest({ data, apiKey: KEY });
    expect((await ask(first.url, 'DELETE /api/secrets/A')).status).toBe(200);
    await ask(first.url, 'POST /api/secrets', { name: 'A', value: VALUE });
    expect((await ask(first.url, 'DELETE /api/secrets/A')).status).toBe(200);

    const second = await emulatorForTest({ data, apiKey: KEY });

    expect((await ask(second.url, 'DELETE /api/secrets/A')).status).toBe(404);
  });

  it.each([
    { name: 'A' },
    { name: 'A', value: 'v' },
    { name: 5, value: 'v', description: null },
    5,
  ])('with a secret that is none, %j, is refused', async (secret) => {
    const data = await storeFile();
    const document = { settings: null, custom_secrets: [secret] };
    const own = { written_by: "setpoint's embedded service", format_version: 1 };
    await writeFile(data, JSON.stringify({ ...own, ...document }));
    await expect(emulatorForTest({ data })).rejects.toThrow('its custom secrets are not');
  });

  it('of a service from before there were any has none', async () => {
    const data = await storeFile();
    const own = { written_by: "setpoint's embedded service", format_version: 1 };
    await writeFile(data, JSON.stringify({ ...own, settings: null }));
    const { url } = await emulatorForTest({ data, apiKey: KEY });
    expect((await ask(url, 'GET /api/secrets')).body).toEqual({ custom_secrets: [] });
  });

  it('that cannot be used is an error of the server, as recorded', async () => {
    const data = await storeFile();
    const { url } = await emulatorForTest({ data, apiKey: KEY });
    await mkdir(data);
    const secret = { name: 'A', value: VALUE };
    expect(await ask(url, 'GET /api/secrets')).toEqual({
      status: 500,
      body: 'Internal Server Error',
    });
    for (const [what, doing] of [
      ['POST /api/secrets', 'creating'],
      ['PUT /api/secrets/A', 'updating'],
      ['DELETE /api/secrets/A', 'deleting'],
    ] as const)
      expect(await ask(url, what, secret)).toEqual({
        status: 500,
        body: { error: `Something went wrong ${doing} secret` },
      });
    await rm(data, { recursive: true });
    expect((await ask(url, 'POST /api/secrets', secret)).status).toBe(201);
  });

  it('loses none of many that are created at once', async () => {
    const { url } = await emulatorForTest({ data: await storeFile(), apiKey: KEY });
    const names = Array.from({ length: 12 }, (_, index) => `S${index}`);
    await Promise.all(names.map((name) => ask(url, 'POST /api/secrets', { name, value: VALUE })));
    const { body } = await ask(url, 'GET /api/secrets');
    const { custom_secrets } = body as { readonly custom_secrets: readonly { name: string }[] };
    expect(custom_secrets.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });
});
