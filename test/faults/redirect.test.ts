import { expect, it } from 'vitest';

import { answer, rawServer, SETTINGS } from './raw-server.ts';
import { failure, KEY, serviceAt, written } from './service.ts';

const STATUSES = [301, 302, 303, 307, 308];

it.each(STATUSES)('M1: an observation never follows a %s', async (status) => {
  const other = await rawServer((socket) => socket.write(answer(200, SETTINGS)));
  const location = `${other.url}/?canary=${KEY}#canary`;
  const server = await rawServer((socket) => socket.write(answer(status, '', { location })));
  const error = await failure(serviceAt(server.url));
  expect(error.code).toBe('not-this-service');
  expect(error.message).toBe(
    `The service answered with a redirect to another address (status ${status}): GET ${server.url}/api/settings.`,
  );
  expect(other.connections()).toBe(0);
  expect(other.received()).toBe(0);
  expect(server.requests).toHaveLength(1);
});

it.each(STATUSES)('M1, M2: a write never follows a %s', async (status) => {
  const other = await rawServer((socket) => socket.write(answer(200, SETTINGS)));
  const server = await rawServer((socket) =>
    socket.write(answer(status, '', { location: `${other.url}/api/settings` })),
  );
  await expect(written(serviceAt(server.url))).resolves.toMatchObject({
    kind: 'not-applied',
    retry: false,
    error: { code: 'not-this-service' },
  });
  expect(other.connections()).toBe(0);
  expect(other.received()).toBe(0);
});

it('a redirect names no foreign host, in whatever form the answer has it', async () => {
  for (const location of [
    '//tenant.canary.example',
    'https:canary.example',
    '\\\\canary.example\\x',
  ]) {
    const server = await rawServer((socket) => socket.write(answer(302, '', { location })));
    const { message, hint } = await failure(serviceAt(server.url));
    expect(`${message} ${hint}`).not.toContain('canary');
  }
});

it.each([
  ['/elsewhere?canary', 'to another path of the same address'],
  ['https://canary:canary@b.example/canary', 'to another address'],
  ['javascript:canary', 'to another address'],
  ['http://[canary', 'The service answered with a redirect (status 302)'],
])('a redirect to %s is reported as far as it may be shown', async (location, words) => {
  const server = await rawServer((socket) => socket.write(answer(302, '', { location })));
  expect((await failure(serviceAt(server.url))).message).toContain(words);
});

it('a redirect without a Location is still a redirect', async () => {
  const server = await rawServer((socket) => socket.write(answer(304)));
  const error = await failure(serviceAt(server.url));
  expect(error.message).toContain('The service answered with a redirect (status 304)');
});
