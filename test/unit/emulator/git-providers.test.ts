/** Git providers of the embedded service beyond what was recorded of real servers: what stands in for them, and the store. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GitProvider } from '../../../src/emulator/collections/git-check.ts';
import { send } from '../../contract/send.ts';
import { emulatorForTest, folderForTest } from './emulator.ts';

const KEY = 'contract-key';
const TOKEN = 'ghp_very_secret';
const HELD = { github: 'git.example.com' };

const settings = { 'settings-v0': '/api/settings', 'app-server': '/api/v1/settings' } as const;
const paths = {
  'settings-v0': '/api/add-git-providers',
  'app-server': '/api/v1/secrets/git-providers',
} as const;
type Dialect = keyof typeof paths;

const storeFile = async () => join(await folderForTest(), 'store.json');

async function ask(url: string, method: string, path: string, body?: object) {
  const headers = { 'Content-Type': 'application/json', 'X-Session-API-Key': KEY };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await send(url, { method, path, headers, ...text });
  return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
}

/** The status of the answer to one token, where these are the git providers. */
async function statusOf(
  gitProviders: readonly GitProvider[],
  entry: Readonly<Record<string, object>>,
  dialect: Dialect = 'app-server',
) {
  const { url } = await emulatorForTest({ apiKey: KEY, dialect, gitProviders });
  return (await ask(url, 'POST', paths[dialect], { provider_tokens: entry })).status;
}

describe('a token', () => {
  const github: GitProvider = { product: 'github', accepts: 'ghp_' };

  it.each([
    ['without a host is that of the public service', { token: TOKEN }, 200],
    ['of the public service by its name', { token: TOKEN, host: 'github.com' }, 200],
    ['of another host', { token: TOKEN, host: 'git.example.com' }, 401],
    ['of another kind', { token: 'glpat-1' }, 401],
  ])('%s', async (_, token, status) => {
    expect(await statusOf([github], { github: token })).toBe(status);
  });

  it('that two products accept is that of the first of them', async () => {
    const both = [{ product: 'gitlab', accepts: '' } as const, github];
    expect(await statusOf(both, { gitlab: { token: TOKEN } })).toBe(401);
    expect(await statusOf(both, { gitlab: { token: 'glpat-1' } })).toBe(200);
  });

  it('of Azure DevOps is asked at its public service, whatever its host is', async () => {
    const azure = [{ product: 'azure_devops', accepts: 'az' } as const];
    const entry = { azure_devops: { token: 'az-1', host: 'dev.azure.com/org' } };
    expect(await statusOf(azure, entry)).toBe(200);
  });

  it('that moves does not hide that another one was refused, where the last one decides', async () => {
    const there = ['a.example.com', 'b.example.com'].map((host) => ({ ...github, host }));
    const options = { apiKey: KEY, gitProviders: there };
    const { url } = await emulatorForTest(options);
    const post = (entry: Readonly<Record<string, object>>) =>
      ask(url, 'POST', paths['settings-v0'], { provider_tokens: entry });
    expect((await post({ github: { token: TOKEN, host: 'a.example.com' } })).status).toBe(200);
    const moved = { github: { token: '', host: 'b.example.com' } };
    const answer = await post({ gitlab: { token: 'no' }, ...moved });
    expect(answer.body['error']).toContain('a valid gitlab token');
    expect((await post(moved)).status).toBe(200);
  });

  it('is refused where no git provider is', async () => {
    expect(await statusOf([], { github: { token: TOKEN } }, 'settings-v0')).toBe(401);
  });
});

it('a provider that is nowhere is not taken', async () => {
  await expect(
    emulatorForTest({ gitProviders: [{ product: 'forgejo', accepts: 'x' }] }),
  ).rejects.toThrow("The embedded service's gitProviders is not a list of");
});

describe('the store file', () => {
  const there: readonly GitProvider[] = ['git.example.com', 'git2.example.com'].map((host) => ({
    product: 'github',
    host,
    accepts: 'ghp_',
  }));
  const started = (data: string, dialect: Dialect) =>
    emulatorForTest({ apiKey: KEY, data, dialect, gitProviders: there });

  it('keeps them through an upgrade, and holds no token', async () => {
    const data = await storeFile();
    const old = await started(data, 'settings-v0');
    const entry = { github: { token: TOKEN, host: HELD.github } };
    await ask(old.url, 'POST', settings['settings-v0'], { language: 'en' });
    await ask(old.url, 'POST', paths['settings-v0'], { provider_tokens: entry });
    expect(await readFile(data, 'utf8')).not.toContain(TOKEN);

    const { url } = await started(data, 'app-server');

    const before = await ask(url, 'GET', settings['app-server']);
    expect(before.body['provider_tokens_set']).toEqual(HELD);
    const moved = { github: { token: '', host: 'git2.example.com' } };
    expect((await ask(url, 'POST', paths['app-server'], { provider_tokens: moved })).status).toBe(
      200,
    );
  });

  it.each([{ name: 'github' }, { name: 'github', token: 't', host: 5, user_id: null }, 5])(
    'with a token that is none, %j, is refused',
    async (token) => {
      const data = await storeFile();
      const own = { written_by: "setpoint's embedded service", format_version: 1 };
      await writeFile(data, JSON.stringify({ ...own, settings: null, git_tokens: [token] }));
      await expect(emulatorForTest({ data })).rejects.toThrow('its git tokens are not');
    },
  );
});
