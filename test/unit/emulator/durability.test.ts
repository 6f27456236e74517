import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { startEmulator } from '../../../src/emulator/start.ts';
import { textInFile } from '../../../src/emulator/store/store.ts';
import { send } from '../../contract/send.ts';
import { emulatorForTest, folderForTest, load, post } from './emulator.ts';

const secrets = {
  llm_api_key: 'sk-very-secret-1',
  search_api_key: 'tvly-very-secret-2',
  sandbox_api_key: 'sbx-very-secret-3',
};

describe('the store file', () => {
  it('is seen by the next service that is started on it', async () => {
    const data = join(await folderForTest(), 'store.json');
    const first = await startEmulator({ data });
    await post(first.url, { language: 'en', max_iterations: 12, ...secrets });
    await first.close();

    const second = await emulatorForTest({ data });

    expect(await load(second.url)).toMatchObject({
      language: 'en',
      max_iterations: 12,
      llm_api_key_set: true,
      search_api_key_set: true,
    });
  });

  it('is seen by another service that runs on it already', async () => {
    const data = join(await folderForTest(), 'store.json');
    const [one, other] = [await emulatorForTest({ data }), await emulatorForTest({ data })];

    await post(one.url, { llm_model: 'm', llm_api_key: 'k' });
    await post(other.url, { language: 'en' });

    expect(await load(one.url)).toMatchObject({
      language: 'en',
      llm_model: 'm',
      llm_api_key_set: true,
    });
  });

  it('has mode 0600 even if a looser one was there, in a folder of mode 0700', async () => {
    const folder = join(await folderForTest(), 'deep', 'er');
    const data = join(folder, 'store.json');
    const { url } = await emulatorForTest({ data });

    await post(url, {});
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await chmod(data, 0o644);
    await post(url, {});

    expect((await stat(data)).mode & 0o777).toBe(0o600);
  });

  it('records what wrote it and in which format, and holds no value of a password field', async () => {
    const data = join(await folderForTest(), 'store.json');
    const { url } = await emulatorForTest({ data });
    await post(url, secrets);

    const text = await readFile(data, 'utf8');

    expect(JSON.parse(text)).toMatchObject({
      written_by: "setpoint's embedded service",
      format_version: 1,
    });
    for (const value of Object.values(secrets)) expect(text).not.toContain(value);
  });

  it('is not made before the first store, and is empty again once removed', async () => {
    const folder = await folderForTest();
    const data = join(folder, 'store.json');
    const { url } = await emulatorForTest({ data });
    expect((await send(url)).status).toBe(404);
    expect(await readdir(folder)).toEqual([]);

    await post(url, {});
    await rm(data);

    expect((await send(url)).status).toBe(404);
  });

  it('is alone in its folder after many stores at once', async () => {
    const folder = await folderForTest();
    const { url } = await emulatorForTest({ data: join(folder, 'store.json') });

    await Promise.all(Array.from({ length: 20 }, (_, n) => post(url, { max_iterations: n })));

    expect(await readdir(folder)).toEqual(['store.json']);
  });

  it('leaves nothing behind when a write fails', async () => {
    const folder = await folderForTest();
    const target = join(folder, 'taken');
    await mkdir(target);

    await expect(textInFile(target).write('text')).rejects.toThrow();

    expect(await readdir(folder)).toEqual(['taken']);
  });
});

describe('stores at the same time', () => {
  it.each(['memory', 'file'])('take turns, so that none is lost (%s)', async (place) => {
    const data = join(await folderForTest(), 'store.json');
    const { url } = await emulatorForTest(place === 'file' ? { data } : {});
    const kept = {
      llm_model: 'm',
      llm_base_url: 'https://llm.example.com',
      user_consents_to_analytics: true,
      llm_api_key: 'k',
      search_api_key: 'k',
    };

    await Promise.all(Object.entries(kept).map(([name, value]) => post(url, { [name]: value })));

    expect(await load(url)).toMatchObject({
      llm_model: 'm',
      llm_base_url: 'https://llm.example.com',
      user_consents_to_analytics: true,
      llm_api_key_set: true,
      search_api_key_set: true,
    });
  });
});

describe('a file that is not a store', () => {
  const own = "setpoint's embedded service";
  it.each([
    ['not JSON', '{"written_by":', 'not JSON'],
    ['empty', '', 'not JSON'],
    ['of somebody else', '{"language":"en"}', 'not written by'],
    ['of a later format', JSON.stringify({ written_by: own, format_version: 2 }), 'format_version'],
    ['cut short', JSON.stringify({ written_by: own, format_version: 1 }), 'settings'],
    [
      'with a value that no store leaves',
      JSON.stringify({
        written_by: own,
        format_version: 1,
        settings: { values: { language: 5 }, passwords_set: [] },
      }),
      'settings',
    ],
  ])('%s is refused and left as it is', async (_, text, reason) => {
    const data = join(await folderForTest(), 'store.json');
    await writeFile(data, text);

    const start = startEmulator({ data });

    await expect(start).rejects.toThrow(data);
    await expect(start).rejects.toThrow(reason);
    expect(await readFile(data, 'utf8')).toBe(text);
  });

  it('that cannot be read is refused', async () => {
    const data = await folderForTest();

    await expect(startEmulator({ data })).rejects.toThrow(`${data} cannot be read`);
  });

  it('and was a store before is answered like a broken real server', async () => {
    const data = join(await folderForTest(), 'store.json');
    const { url } = await emulatorForTest({ data });
    await writeFile(data, 'broken');

    expect(await send(url)).toMatchObject({ status: 500, mediaType: 'text/plain' });
    expect(await post(url, {})).toEqual({
      status: 500,
      body: { error: 'Something went wrong storing settings' },
    });
    expect(await readFile(data, 'utf8')).toBe('broken');
  });
});
