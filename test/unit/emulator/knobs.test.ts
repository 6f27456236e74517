import { describe, expect, it } from 'vitest';

import { startEmulator, type EmulatorOptions } from '../../../src/emulator/start.ts';
import {
  call,
  emulatorAtRest,
  emulatorForTest,
  good,
  post,
  statuses,
  type Page,
  type Sandbox,
} from './emulator.ts';

const start = 'POST /sandboxes';
const search = 'GET /sandboxes/search';
const converse = 'POST /app-conversations';
const conversations = 'GET /app-conversations/search';

/** What sandboxes read at the start, and after each wait. */
async function timeline(
  { url, pass }: Awaited<ReturnType<typeof emulatorAtRest>>,
  waits: number[],
) {
  const seen = [...(await statuses(url))];
  for (const ms of waits) {
    pass(ms);
    seen.push(...(await statuses(url)));
  }
  return seen;
}

it('startMs is how long a sandbox is STARTING; with 0 it runs at once', async () => {
  const slow = await emulatorAtRest({ startMs: 60_000 });
  await good(slow.url, start);
  expect(await timeline(slow, [59_999, 1])).toEqual(['STARTING', 'STARTING', 'RUNNING']);

  const { url } = await emulatorForTest({ startMs: 0 });
  await post(url, {});
  expect(await good(url, start)).toMatchObject({ status: 'RUNNING' });
  expect(await good(url, converse, {})).toMatchObject({ status: 'READY' });
  expect(await good(url, conversations)).toMatchObject({ items: [{ sandbox_status: 'RUNNING' }] });
});

describe('becomes', () => {
  it.each<[EmulatorOptions['becomes'], string[]]>([
    [undefined, ['STARTING', 'STARTING', 'RUNNING', 'RUNNING', 'RUNNING', 'RUNNING']],
    ['running', ['STARTING', 'STARTING', 'RUNNING', 'RUNNING', 'RUNNING', 'RUNNING']],
    ['flapping', ['STARTING', 'STARTING', 'ERROR', 'ERROR', 'RUNNING', 'RUNNING']],
    ['starting', ['STARTING', 'STARTING', 'STARTING', 'STARTING', 'STARTING', 'STARTING']],
    ['error', ['STARTING', 'STARTING', 'ERROR', 'ERROR', 'ERROR', 'ERROR']],
    ['missing', ['STARTING', 'STARTING', 'MISSING', 'MISSING', 'MISSING', 'MISSING']],
  ])('%s', async (becomes, expected) => {
    const service = await emulatorAtRest(becomes && { becomes });
    await good(service.url, start);
    expect(await timeline(service, [499, 1, 499, 1, 1_000_000])).toEqual(expected);
  });

  it.each(['running', 'flapping', 'error'] as const)(
    '%s goes the same way again',
    async (becomes) => {
      const service = await emulatorAtRest({ becomes });
      const { id } = await good<Sandbox>(service.url, start);
      const first = await timeline(service, [500, 500]);
      await good(service.url, `POST /sandboxes/${id}/pause`);
      expect(await statuses(service.url)).toEqual(['PAUSED']);
      await good(service.url, `POST /sandboxes/${id}/resume`);
      expect(await timeline(service, [500, 500])).toEqual(first);
    },
  );

  it('starting can be paused and resumed, and conversations run in it', async () => {
    const { url, pass } = await emulatorAtRest({ becomes: 'starting' });
    await post(url, {});
    await good(url, converse, { initial_message: { run: true } });
    pass(900);
    expect(await good(url, conversations)).toMatchObject({
      items: [
        {
          sandbox_status: 'STARTING',
          execution_status: 'running',
          conversation_url: null,
          session_api_key: null,
        },
      ],
    });
    const { items } = await good<Page<Sandbox>>(url, search);
    expect(items).toMatchObject([{ session_api_key: null, exposed_urls: null }]);
    await good(url, `POST /sandboxes/${items[0]?.id}/pause`);
    expect(await statuses(url)).toEqual(['PAUSED']);
    await good(url, `POST /sandboxes/${items[0]?.id}/resume`);
    pass(5000);
    expect(await statuses(url)).toEqual(['STARTING']);
    expect(await good(url, conversations)).toMatchObject({
      items: [{ execution_status: 'finished' }],
    });
  });

  it('flapping can be paused while it is in ERROR, and a conversation waits until it runs', async () => {
    const { url, pass } = await emulatorAtRest({ becomes: 'flapping' });
    await post(url, {});
    const { id } = await good<{ id: string }>(url, converse, {});
    const task = `GET /app-conversations/start-tasks?ids=${id}`;
    pass(999);
    expect(await good(url, task)).toMatchObject([{ status: 'WAITING_FOR_SANDBOX' }]);
    pass(1);
    expect(await good(url, task)).toMatchObject([{ status: 'PREPARING_REPOSITORY' }]);
    const other = await good<Sandbox>(url, start);
    pass(500);
    await good(url, `POST /sandboxes/${other.id}/pause`);
    expect(await statuses(url)).toEqual(['RUNNING', 'PAUSED']);
  });

  it('missing is listed, but not found', async () => {
    const { url, pass } = await emulatorAtRest({ becomes: 'missing' });
    const { id } = await good<Sandbox>(url, start);
    await good(url, `POST /sandboxes/${id}/pause`);
    pass(500);
    for (const verb of ['pause', 'resume'])
      expect((await call(url, `POST /sandboxes/${id}/${verb}`)).status).toBe(404);
    expect(await statuses(url)).toEqual(['MISSING']);
  });
});

it('pageSize is the most items on a page, whatever limit was requested', async () => {
  const { url } = await emulatorForTest({ pageSize: 2 });
  for (let n = 0; n < 3; n += 1) await good(url, start);
  const sizes: number[] = [];
  for (let page: string | null = '0'; page !== null;) {
    const { items, next_page_id }: Page<Sandbox> = await good(
      url,
      `${search}?limit=100&page_id=${page}`,
    );
    sizes.push(items.length);
    page = next_page_id;
  }
  expect(sizes).toEqual([2, 1]);
  expect((await good<Page<Sandbox>>(url, `${search}?limit=1`)).items).toHaveLength(1);
  expect((await call(url, `${search}?limit=101`)).status).toBe(500);
});

it('runMs is how long an initial message runs', async () => {
  const { url, pass } = await emulatorAtRest({ runMs: 10 });
  await post(url, {});
  await good(url, converse, { initial_message: { run: true } });
  pass(909);
  expect(await good(url, conversations)).toMatchObject({
    items: [{ execution_status: 'running' }],
  });
  pass(1);
  expect(await good(url, conversations)).toMatchObject({
    items: [{ execution_status: 'finished', updated_at: '2026-01-02T03:04:05.910Z' }],
  });
});

it('specs are those that are listed and started, the first by default', async () => {
  const { url } = await emulatorForTest({ specs: ['one', 'two'] });
  expect(await good(url, 'GET /sandbox-specs/search')).toMatchObject({
    items: [{ id: 'one' }, { id: 'two' }],
  });
  expect(await good(url, start)).toMatchObject({ sandbox_spec_id: 'one' });
  expect(await good(url, `${start}?sandbox_spec_id=two`)).toMatchObject({ sandbox_spec_id: 'two' });
});

it('now is the clock; without it time passes by itself', async () => {
  const { url } = await emulatorForTest({ startMs: 50 });
  const before = Date.now();
  const { created_at: created } = await good<Sandbox>(url, start);
  expect(Math.abs(Date.parse(created) - before)).toBeLessThan(1000);
  await expect.poll(() => statuses(url)).toEqual(['RUNNING']);
});

it.each<[EmulatorOptions, string]>([
  [{ startMs: -1 }, 'startMs'],
  [{ startMs: Number.NaN }, 'startMs'],
  [{ runMs: 0.5 }, 'runMs'],
  [{ pageSize: 0 }, 'pageSize'],
  [{ pageSize: 101 }, 'pageSize'],
  [{ specs: [] }, 'specs'],
  [{ specs: ['one', ''] }, 'specs'],
  [{ becomes: 'runing' as 'running' }, 'becomes is not one of running, flapping'],
])('%j is refused', async (options, named) => {
  await expect(startEmulator(options)).rejects.toThrow(named);
});
