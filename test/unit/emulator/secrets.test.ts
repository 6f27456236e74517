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

describe('one store, as a real upgrade finds it', () => {
  it('each dialect lists what another has stored', async () => {
    const data = await storeFile();
    const old = await emulatorForTest({ data, apiKey: KEY });
    await ask(old.url, 'POST /api/secrets', { name: 'A', value: VALUE });
    const app = await emulatorForTest({ data, apiKey: KEY, dialect: 'app-server' });
    await ask(app.url, 'POST /api/v1/secrets', { name: 'A', value: 'new', description: 'd' });
    const agent = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });
    expect((await ask(agent.url, 'GET /api/settings/secrets')).body).toEqual({
      secrets: [{ name: 'A', description: 'd' }],
    });
    expect((await ask(agent.url, 'GET /api/settings/secrets/A')).body).toBe('new');
    await ask(agent.url, 'PUT /api/settings/secrets', { name: 'A', value: VALUE });
    expect((await ask(old.url, 'GET /api/secrets')).body).toEqual({
      custom_secrets: [{ name: 'A', description: '' }],
    });
  });

  it('with another key the names are listed, and no value is told', async () => {
    const data = await storeFile();
    const path = '/api/settings/secrets';
    const first = await emulatorForTest({ data, apiKey: 'another key', dialect: 'agent-server' });
    const headers = { 'Content-Type': 'application/json', 'X-Session-API-Key': 'another key' };
    const body = JSON.stringify({ name: 'A', value: VALUE });
    expect((await send(first.url, { method: 'PUT', path, headers, body })).status).toBe(200);

    const { url } = await emulatorForTest({ data, apiKey: KEY, dialect: 'agent-server' });

    expect((await ask(url, `GET ${path}`)).body).toMatchObject({ secrets: [{ name: 'A' }] });
    expect((await ask(url, `GET ${path}/A`)).status).toBe(404);
  });
});

describe('pages of an app server', () => {
  const named = async (...names: readonly string[]) => {
    const { url } = await emulatorForTest({ apiKey: KEY, dialect: 'app-server', pageSize: 2 });
    for (const name of names) await ask(url, 'POST /api/v1/secrets', { name, value: VALUE });
    return url;
  };
  const page = async (url: string, query = '') => {
    const { body } = await ask(url, `GET /api/v1/secrets/search${query}`);
    const { items, next_page_id } = body as {
      readonly items: readonly { readonly name: string }[];
      readonly next_page_id: string | null;
    };
    return [items.map(({ name }) => name).join(' '), next_page_id];
  };

  it('hold no more than the service says', async () => {
    const url = await named('C', 'A', 'D', 'B');
    expect(await page(url, '?limit=3')).toEqual(['A B', 'B']);
    expect(await page(url, '?page_id=B')).toEqual(['C D', null]);
  });

  it('begin anew after a secret that has gone', async () => {
    const url = await named('A', 'B', 'C');
    await ask(url, 'DELETE /api/v1/secrets/B');
    expect(await page(url, '?page_id=B')).toEqual(['A C', null]);
  });

  it.each([
    ['0', 'greater_than'],
    ['101', 'less_than_equal'],
  ])('of %s items are refused', async (limit, type) => {
    expect(await ask(await named(), `GET /api/v1/secrets/search?limit=${limit}`)).toMatchObject({
      status: 422,
      body: { detail: [{ type, loc: ['query', 'limit'], input: limit }] },
    });
  });

  it('a secret may be called search', async () => {
    const url = await named('search');
    const path = '/api/v1/secrets/search';
    expect((await ask(url, `PUT ${path}`, { name: 'search', description: 'd' })).status).toBe(200);
    expect((await ask(url, `GET ${path}`)).body).toMatchObject({
      items: [{ name: 'search', description: 'd' }],
    });
    expect((await ask(url, `DELETE ${path}`)).status).toBe(200);
    expect(await page(url)).toEqual(['', null]);
  });
});
