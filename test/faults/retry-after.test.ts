import { expect, it } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { failure, serviceAt } from './service.ts';

async function limited(headers: Readonly<Record<string, string>>, status = 429) {
  const server = await rawServer((socket, _, number) =>
    socket.write(number === 0 ? answer(status, 'canary', headers) : answer(200, SETTINGS)),
  );
  return { server, service: serviceAt(server.url) };
}

const DATE = 'Tue, 01 Jan 2030 00:00:00 GMT';

it.each([
  ['seconds', { 'retry-after': '3' }, 3_000],
  ['zero', { 'retry-after': '0' }, 500],
  [
    'a date of a clock that is years off',
    { date: DATE, 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' },
    9_000,
  ],
  ['a date that has passed', { date: DATE, 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT' }, 500],
  ['a date alone, by our clock', { 'retry-after': 'Wed, 01 Jan 2025 00:00:20 GMT' }, 20_000],
  ['a negative number', { 'retry-after': '-5' }, 500],
  ['no number', { 'retry-after': 'NaN' }, 500],
  ['hours in a form nobody reads', { 'retry-after': '484289h' }, 500],
  ['nothing', {}, 500],
])('waits by %s', async (_, headers: Record<string, string>, wait) => {
  const { service } = await limited(headers);
  await expect(service.observer.observe()).resolves.toMatchObject({ stored: true });
  expect(service.clock.waits).toHaveLength(1);
  const [waited = 0] = service.clock.waits;
  // The wait counts from the answer on, and that is a moment ago.
  expect(waited).toBeLessThanOrEqual(wait);
  expect(waited).toBeGreaterThan(wait - 250);
});

it('waits by the Retry-After of a 503, too', async () => {
  const { service } = await limited({ 'retry-after': '2' }, 503);
  await service.observer.observe();
  expect(service.clock.waits).toEqual([2_000]);
});

it.each([
  ['61', '61 s'],
  ['1743440400', '999999999 s'],
  ['9'.repeat(400), '999999999 s'],
  ['Thu, 01 Jan 2032 00:00:00 GMT', ' s'],
])('gives up at once if the wait is absurd: %s', async (value, words) => {
  const { service, server } = await limited({ 'retry-after': value });
  const error = await failure(service);
  expect(error.code).toBe('rate-limited');
  expect(error.message).toContain(words);
  expect(service.clock.waits).toEqual([]);
  expect(server.requests).toHaveLength(1);
});

it('gives up at once if the wait is longer than what is left', async () => {
  const server = await rawServer((socket) =>
    socket.write(answer(429, '', { 'retry-after': '30' })),
  );
  const service = serviceAt(server.url, { budget: 20_000 });
  const error = await failure(service);
  expect(error).toMatchObject({ code: 'rate-limited', retryAfter: 30_000 });
  expect(error.message).toContain('30 s');
  expect(service.clock.waits).toEqual([]);
});
