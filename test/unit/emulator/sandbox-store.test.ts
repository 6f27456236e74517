import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { startEmulator, type EmulatorOptions } from '../../../src/emulator/start.ts';
import {
  call,
  emulatorForTest,
  folderForTest,
  good,
  load,
  post,
  statuses,
  type Page,
  type Sandbox,
} from './emulator.ts';

const begin = Date.parse('2026-01-02T03:04:05.000Z');
const own = "setpoint's embedded service";
const before = { written_by: own, format_version: 1, settings: null };
const id = '0123456789abcdef0123456789abcdef';
const sandbox = {
  id: 'a',
  sandbox_spec_id: 's',
  becomes: 'running',
  created_at: begin,
  started_at: begin,
  paused: false,
};
const task = {
  id,
  conversation_id: id,
  created_at: begin,
  request: {},
  title: null,
  runs: false,
  sandbox: { id: 'a', started_at: begin },
  settings_stored: true,
  llm_model: null,
  failure: null,
};

describe('the store file', () => {
  it('makes services that come and go one service, which the time between them counts for', async () => {
    const data = join(await folderForTest(), 'store.json');
    const run = async <T>(at: number, what: string, options?: EmulatorOptions): Promise<T> => {
      const emulator = await startEmulator({ data, now: () => begin + at, ...options });
      try {
        return await good<T>(emulator.url, what, what === converse ? { title: 'One' } : undefined);
      } finally {
        await emulator.close();
      }
    };
    const converse = 'POST /app-conversations';
    const search = 'GET /sandboxes/search';
    const settings = await startEmulator({ data });
    await post(settings.url, {});
    await settings.close();

    const first = await run<Sandbox>(0, 'POST /sandboxes', { becomes: 'flapping' });
    const { id: taskId } = await run<{ id: string }>(100, converse);

    expect(await run(600, search)).toMatchObject({
      items: [{ status: 'RUNNING' }, { id: first.id, status: 'ERROR' }],
    });
    expect(await run(600, `GET /app-conversations/start-tasks?ids=${taskId}`)).toMatchObject([
      { status: 'PREPARING_REPOSITORY', request: { title: 'One' } },
    ]);
    await run(1000, `POST /sandboxes/${first.id}/pause`);
    expect(await run(9000, search)).toMatchObject({
      items: [{ status: 'RUNNING' }, { status: 'PAUSED' }],
    });
    await run(9000, `POST /sandboxes/${first.id}/resume`);
    expect(await run(9500, search)).toMatchObject({
      items: [{ status: 'RUNNING' }, { status: 'ERROR' }],
    });
    expect(await run(9500, 'GET /app-conversations')).toMatchObject({ items: [{ title: 'One' }] });
  });

  it('holds no session key, and another run has other keys', async () => {
    const data = join(await folderForTest(), 'store.json');
    const keys: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      const { url } = await emulatorForTest({ data, startMs: 0 });
      if (run === 0) await good(url, 'POST /sandboxes');
      const { items } = await good<Page<Sandbox>>(url, 'GET /sandboxes/search');
      keys.push(items[0]?.session_api_key ?? '');
    }
    expect(new Set(keys).size).toBe(2);
    const text = await readFile(data, 'utf8');
    for (const key of keys) expect(text).not.toContain(key);
  });

  it('of before, with settings alone, is opened, and its settings stay', async () => {
    const data = join(await folderForTest(), 'store.json');
    const settings = { values: { language: 'en' }, passwords_set: ['llm_api_key'] };
    await writeFile(data, JSON.stringify({ ...before, settings }));

    const { url } = await emulatorForTest({ data });
    expect(await statuses(url)).toEqual([]);
    await good(url, 'POST /sandboxes');
    await post(url, { language: 'de' });

    expect(await load(url)).toMatchObject({ language: 'de', llm_api_key_set: true });
    expect(await statuses(url)).toHaveLength(1);
    expect(JSON.parse(await readFile(data, 'utf8'))).toMatchObject({ format_version: 1 });
  });

  it('is not written if nothing changes', async () => {
    const data = join(await folderForTest(), 'store.json');
    await writeFile(data, JSON.stringify({ ...before, sandboxes: [sandbox] }));
    const { url } = await emulatorForTest({ data });
    const text = await readFile(data, 'utf8');

    await good(url, 'POST /sandboxes/a/resume');
    await call(url, 'POST /sandboxes/unknown/pause');
    await call(url, 'POST /sandboxes?sandbox_spec_id=unknown');

    expect(await readFile(data, 'utf8')).toBe(text);
  });

  it('keeps every digit of a request', async () => {
    const data = join(await folderForTest(), 'store.json');
    const { url } = await emulatorForTest({ data });
    const { id } = await good<{ id: string }>(url, 'POST /app-conversations', '{"n":[1,1.0]}');
    expect(id).toMatch(/^[\da-f]{32}$/);
    expect(await readFile(data, 'utf8')).toContain('"request":{"n":[1,1.0]}');
  });
});

describe('calls at the same time', () => {
  it.each(['memory', 'file'])('take turns, so that none is lost (%s)', async (place) => {
    const data = join(await folderForTest(), 'store.json');
    const options = { startMs: 0, ...(place === 'file' ? { data } : {}) };
    const { url } = await emulatorForTest(options);

    await Promise.all(Array.from({ length: 10 }, () => good(url, 'POST /sandboxes')));

    expect(await statuses(url)).toEqual(Array.from({ length: 10 }, () => 'RUNNING'));
  });
});

describe('a file that is not a store', () => {
  const sandboxes = 'its sandboxes are not what the service writes';
  const tasks = 'its start tasks are not what the service writes';
  it.each<[string, object, string]>([
    ['of no list', { sandboxes: {} }, sandboxes],
    ['of null', { start_tasks: 'none' }, tasks],
    ['of no object', { sandboxes: [1] }, sandboxes],
    ['of no id', { sandboxes: [{ ...sandbox, id: 1 }] }, sandboxes],
    ['of no spec', { sandboxes: [{ ...sandbox, sandbox_spec_id: undefined }] }, sandboxes],
    ['of no outcome', { sandboxes: [{ ...sandbox, becomes: 'stopped' }] }, sandboxes],
    ['of no time', { sandboxes: [{ ...sandbox, created_at: 'now' }] }, sandboxes],
    ['of no date', { sandboxes: [{ ...sandbox, started_at: 8.7e15 }] }, sandboxes],
    ['of no flag', { sandboxes: [sandbox, { ...sandbox, paused: 0 }] }, sandboxes],
    ['of no uuid', { start_tasks: [{ ...task, id: 'x' }] }, tasks],
    ['of no conversation', { start_tasks: [{ ...task, conversation_id: null }] }, tasks],
    ['of no request', { start_tasks: [{ ...task, request: [] }] }, tasks],
    ['of no title', { start_tasks: [{ ...task, title: 1 }] }, tasks],
    ['of no sandbox', { start_tasks: [{ ...task, sandbox: { id: 'a' } }] }, tasks],
    ['of no failure', { start_tasks: [{ ...task, failure: { at: begin } }] }, tasks],
    ['of no settings', { start_tasks: [{ ...task, settings_stored: null }] }, tasks],
  ])('%s is refused and left as it is', async (_, members, reason) => {
    const data = join(await folderForTest(), 'store.json');
    const text = JSON.stringify({ ...before, ...members });
    await writeFile(data, text);

    const start = startEmulator({ data });

    await expect(start).rejects.toThrow(`${data} cannot be used: ${reason}`);
    expect(await readFile(data, 'utf8')).toBe(text);
  });

  it('and was a store before is a crash', async () => {
    const data = join(await folderForTest(), 'store.json');
    const { url } = await emulatorForTest({ data });
    await writeFile(data, 'broken');
    for (const what of [
      'GET /sandboxes/search',
      'POST /sandboxes',
      'POST /sandboxes/a/pause',
      'GET /app-conversations/search',
    ])
      expect(await call(url, what)).toMatchObject({ status: 500, mediaType: 'text/plain' });
    expect(await readFile(data, 'utf8')).toBe('broken');
  });

  it('is not one whose facts fit, though a sandbox of a start is gone', async () => {
    const data = join(await folderForTest(), 'store.json');
    await writeFile(data, JSON.stringify({ ...before, sandboxes: [], start_tasks: [task] }));
    const { url } = await emulatorForTest({ data });
    expect(await good(url, `GET /app-conversations/start-tasks?ids=${id}`)).toMatchObject([
      { status: 'ERROR', detail: 'Sandbox status: MISSING' },
    ]);
    expect(await good(url, 'GET /app-conversations')).toMatchObject({ items: [] });
  });
});
