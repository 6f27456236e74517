import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';

import { SetpointError } from '../../src/reconciler/model/error.ts';
import {
  isUp,
  SANDBOX_READER,
  sandboxWriter,
  type SandboxReader,
  type SandboxWriter,
} from '../../src/reconciler/resources/sandboxes/wire.ts';
import { get } from '../../src/reconciler/operations/get.ts';
import type { Connection } from '../../src/reconciler/service/connect.ts';
import { UNLIMITED } from '../../src/reconciler/service/request.ts';
import { request } from '../fixture/settings.ts';
import { LONG } from '../fixture/long.ts';
import { answer, rawServer, SETTINGS, type RawServer } from './raw-server.ts';
import { serviceAt, tellsNothing, type ServiceOptions } from './service.ts';

const SANDBOXES = '/api/v1/sandboxes/search?limit=100';
const CONVERSATIONS = '/api/v1/app-conversations';
const MIB = 1_048_576;

type Pages = readonly (string | Buffer)[];

/** A server that answers one after the other, and the last one from then on. */
function pages(...answers: Pages): Promise<RawServer> {
  return rawServer((socket, _, number) => {
    const next = answers[Math.min(number, answers.length - 1)] ?? '';
    socket.write(typeof next === 'string' ? answer(200, next) : next);
  });
}

function page(items: readonly unknown[], next: unknown = null): string {
  return JSON.stringify({ items, next_page_id: next });
}

function observerAt(url: string, options: ServiceOptions = {}): SandboxReader {
  return observerOf(serviceAt(url, options).connection);
}

function observerOf(connection: Connection): SandboxReader {
  return SANDBOX_READER.open({ connection, limits: UNLIMITED, read: (_, work) => work() });
}

function actuatorOf(connection: Connection): SandboxWriter {
  return sandboxWriter({ connection, limits: UNLIMITED, send: (_, work) => work() });
}

/** The requested paths, in order. */
function targets({ requests }: RawServer): string[] {
  return requests.map((text) => text.split('\r\n')[0]?.replace(/ HTTP\/1\.1$/, '') ?? '');
}

/** What a page with this one item, and an id, is read as. */
async function decoded(item: object) {
  const server = await pages(page([{ id: 'a', ...item }]));
  const { sandboxes, at } = await observerAt(server.url).sandboxes();
  return { sandbox: sandboxes[0], at };
}

async function refusal(reading: Promise<unknown>): Promise<SetpointError> {
  const thrown: unknown = await reading.then(
    () => new Error('the read succeeded'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(SetpointError);
  tellsNothing(thrown);
  return thrown as SetpointError;
}

describe('a sandbox of a shape that was not foreseen', () => {
  it('with fields of a later version: they are left behind', async () => {
    const known = { sandbox_spec_id: 's', status: 'RUNNING', created_at: '2025-01-01T00:00:00Z' };
    const { sandbox } = await decoded({ ...known, region: 'eu', limits: { cpu: [1, null] } });
    expect(sandbox).toEqual({
      id: 'a',
      spec: 's',
      status: 'RUNNING',
      createdAt: Date.UTC(2025, 0, 1),
    });
  });

  it.each([
    ['paused', 'PAUSED'],
    ['Running', 'RUNNING'],
    ['HIBERNATING', 'HIBERNATING'],
    [undefined, 'UNKNOWN'],
    [null, 'UNKNOWN'],
    [5, 'UNKNOWN'],
    [{ phase: 'RUNNING' }, 'UNKNOWN'],
  ])('status %j reads %s', async (status, read) => {
    expect((await decoded({ status })).sandbox?.status).toBe(read);
  });

  it('a status of a later version counts as up: nothing is started in its place', async () => {
    const { sandbox, at } = await decoded({ status: 'HIBERNATING' });
    expect(sandbox !== undefined && isUp(sandbox, at)).toBe(true);
  });

  it.each([
    ['2025-01-01T00:00:00Z', 0],
    ['2025-01-01T00:00:00', 0],
    ['2025-01-01T00:00:00.250000', 250],
    ['2025-01-01T00:00:00.250000+00:00', 250],
    ['2025-01-01T02:00:00+02:00', 0],
    ['2024-12-31T19:00:00-0500', 0],
    ['yesterday', null],
    ['', null],
    [undefined, null],
    [null, null],
    [1_735_689_600, null],
  ])('created_at %j is %j after the new year', async (created, after) => {
    const { sandbox } = await decoded({ created_at: created });
    expect(sandbox?.createdAt).toBe(after === null ? null : Date.UTC(2025, 0, 1) + after);
  });

  it.each([undefined, null, 7, ['s']])('sandbox_spec_id %j is no spec', async (spec) => {
    expect((await decoded({ sandbox_spec_id: spec })).sandbox?.spec).toBeNull();
  });
});

describe('the time of an observation', () => {
  const now = Date.parse('2025-01-01T00:00:00Z');

  it.each([
    ['Wed, 01 Jan 2025 10:00:00 GMT', now + 10 * 3_600_000],
    ['soon', now],
    ['', now],
  ])('with the date %j', async (date, at) => {
    const server = await pages(answer(200, page([]), { date }));
    expect((await observerAt(server.url).sandboxes()).at).toBe(at);
  });

  it('is that of the first page', async () => {
    const server = await pages(
      answer(200, page([{ id: 'a' }], 'b'), { date: 'Wed, 01 Jan 2025 10:00:00 GMT' }),
      answer(200, page([{ id: 'b' }]), { date: 'Wed, 01 Jan 2025 11:00:00 GMT' }),
    );
    expect((await observerAt(server.url).sandboxes()).at).toBe(now + 10 * 3_600_000);
  });
});

describe('a list over several pages', () => {
  it.each([
    ['"2"', '2'],
    ['2', '2'],
    ['12345678901234567890', '12345678901234567890'],
    ['"a b&limit=1#c/é"', 'a%20b%26limit%3D1%23c%2F%C3%A9'],
  ])('next_page_id %s is requested as %s', async (next, asked) => {
    const first = `{"items":[{"id":"a"}],"next_page_id":${next}}`;
    const server = await pages(first, page([{ id: 'b' }]));
    const { sandboxes } = await observerAt(server.url).sandboxes();
    expect(sandboxes.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(targets(server)).toEqual([`GET ${SANDBOXES}`, `GET ${SANDBOXES}&page_id=${asked}`]);
  });

  it.each([['{"items":[{"id":"a"}]}'], [page([{ id: 'a' }], '')], [page([{ id: 'a' }])]])(
    '%s is the last page',
    async (only) => {
      const server = await pages(only);
      expect((await observerAt(server.url).sandboxes()).sandboxes).toHaveLength(1);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('counts an id once, as it was read last', async () => {
    const server = await pages(
      page([{ id: 'a', status: 'STARTING' }, { id: 'b' }], 1),
      page([{ id: 'a', status: 'RUNNING' }, { id: 'c' }]),
    );
    const { sandboxes } = await observerAt(server.url).sandboxes();
    expect(sandboxes.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a RUNNING',
      'b UNKNOWN',
      'c UNKNOWN',
    ]);
  });

  it('goes on over a page or two that add nothing', async () => {
    const server = await pages(
      page([{ id: 'a' }], 1),
      page([], 2),
      page([{ id: 'a' }], 3),
      page([{ id: 'b' }]),
    );
    expect((await observerAt(server.url).sandboxes()).sandboxes).toHaveLength(2);
  });

  it('asks again for the page that failed, and for no other', async () => {
    const server = await pages(page([{ id: 'a' }], 1), answer(502), page([{ id: 'b' }]));
    expect((await observerAt(server.url).sandboxes()).sandboxes).toHaveLength(2);
    expect(targets(server)).toEqual([
      `GET ${SANDBOXES}`,
      `GET ${SANDBOXES}&page_id=1`,
      `GET ${SANDBOXES}&page_id=1`,
    ]);
  });

  it('is an error if one page is unavailable, never a shorter list', async () => {
    const server = await pages(page([{ id: 'a' }], 1), answer(503));
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'server-error',
    });
    expect(server.requests).toHaveLength(5);
  });

  it('is an error if somebody stops it between two pages', async () => {
    const stop = new AbortController();
    const server = await rawServer((socket, _, number) => {
      if (number === 1) stop.abort();
      else socket.write(answer(200, page([{ id: 'a' }], 1)));
    });
    const reading = observerAt(server.url).sandboxes(stop.signal);
    expect(await refusal(reading)).toMatchObject({ code: 'interrupted' });
    expect(server.requests).toHaveLength(2);
  });
});

describe('T33: a list that cannot be believed is an error, and no list of none', () => {
  it.each([
    ['an item without id', page([{ id: 'a' }, { status: 'RUNNING', session_api_key: 'canary' }])],
    ['an item that is null', page([null])],
    ['an item that is a text', page(['canary'])],
    ['an id that is a number', page([{ id: 7 }])],
    ['an empty id', page([{ id: '' }])],
    ['an id that leads elsewhere', page([{ id: '..' }])],
    ['an id that is too long', page([{ id: 'x'.repeat(301) }])],
    ['no list', '{"canary":[]}'],
    ['a list of another kind', '{"items":{"0":"canary"}}'],
    ['null in place of a list', '{"items":null,"next_page_id":null}'],
    ['null', 'null'],
    ['a text', '"canary"'],
    ['a bare list', '[{"id":"a"}]'],
    ['a next page that is not text', page([{ id: 'a' }], { canary: 1 })],
    ['a next page that is true', page([{ id: 'a' }], true)],
    ['the same key twice', '{"items":[{"id":"a"}],"items":[]}'],
  ])('%s', async (_, text) => {
    const server = await pages(text);
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'bad-response',
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['half a list', '{"items":[{"id":"a","session_api_key":"canary"},{"id'],
    ['nothing', ''],
  ])('%s, requested once more', async (_, text) => {
    const server = await pages(text);
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'bad-response',
    });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['an id', String.raw`{"items":[{"id":"a\ud800"}]}`],
    ['a next page', String.raw`{"items":[{"id":"a"}],"next_page_id":"\ud800"}`],
  ])('%s that ends in half a letter, which no address can hold', async (_, text) => {
    const server = await pages(text);
    const reading = observerAt(server.url).sandboxes();
    expect(await refusal(reading)).toMatchObject({ code: 'bad-response' });
  });

  it('the same next page again and again', async () => {
    const server = await rawServer((socket, _, number) =>
      socket.write(answer(200, page([{ id: `s${number}` }], 'again'))),
    );
    const error = await refusal(observerAt(server.url).sandboxes());
    expect(error).toMatchObject({ code: 'bad-response' });
    expect(error.message).toContain('pages that do not end');
    expect(server.requests).toHaveLength(2);
  });

  it('two pages that point at each other', async () => {
    const server = await rawServer((socket, _, number) =>
      socket.write(answer(200, page([{ id: `s${number}` }], number % 2 === 0 ? 'b' : 'a'))),
    );
    const error = await refusal(observerAt(server.url).sandboxes());
    expect(error).toMatchObject({ code: 'bad-response' });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['empty', () => []],
    ['that repeat what was shown', () => [{ id: 'a' }]],
  ])('three pages %s, whatever they are called', async (_, items) => {
    const server = await rawServer((socket, _, number) =>
      socket.write(answer(200, page(number === 0 ? [{ id: 'a' }] : items(), number + 1))),
    );
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'bad-response',
    });
    expect(server.requests).toHaveLength(4);
  });

  it('pages without end, each with something new', async () => {
    const server = await rawServer((socket, _, number) =>
      socket.write(answer(200, page([{ id: `s${number}` }], number + 1))),
    );
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'bad-response',
    });
    expect(server.requests).toHaveLength(1000);
  });

  it('more than 8 MiB: cut, and requested once', async () => {
    let written = 0;
    const server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 X\r\ncontent-type: application/json\r\n\r\n{"items":[');
      const chunk = Buffer.from(`{"id":"a","canary":"${'x'.repeat(MIB)}"},`);
      const more = (): void => {
        written += chunk.length;
        if (written < 64 * MIB) socket.write(chunk, () => setImmediate(more));
      };
      more();
    });
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({
      code: 'bad-response',
    });
    expect(server.requests).toHaveLength(1);
    expect(written).toBeLessThan(32 * MIB);
  });

  it('less than 8 MiB: read', async () => {
    const server = await pages(page([{ id: 'a', notes: 'x'.repeat(7 * MIB) }]));
    expect((await observerAt(server.url).sandboxes()).sandboxes).toHaveLength(1);
  });

  it.each([
    [
      'an HTML page',
      answer(200, '<html>canary', { 'content-type': 'text/html' }),
      'not-this-service',
    ],
    ['404', answer(404, '{"detail":"canary"}'), 'not-this-service'],
    ['401', answer(401, '{"detail":"canary"}'), 'unauthorized'],
    ['a redirect', answer(302, '', { location: 'http://127.0.0.1:9/canary' }), 'not-this-service'],
    ['204', answer(204), 'bad-response'],
    ['422', answer(422, '{"detail":[{"msg":"canary"}]}'), 'bad-response'],
  ])('%s, requested once', async (_, reply, code) => {
    const server = await pages(reply);
    expect(await refusal(observerAt(server.url).sandboxes())).toMatchObject({ code });
    expect(server.requests).toHaveLength(1);
  });

  it('no answer: three times as long as a request, and four tries', async () => {
    const server = await rawServer(() => {});
    const begun = performance.now();
    const reading = observerAt(server.url, { timeout: 40 }).sandboxes();
    expect(await refusal(reading)).toMatchObject({ code: 'timed-out' });
    expect(performance.now() - begun).toBeGreaterThan(110);
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });
});

describe('an id from a list', () => {
  it.each([
    ['a/b'],
    ['a b'],
    ['../../settings'],
    ['a/../../../settings'],
    ['..\\..\\settings'],
    ['a?b=c'],
    ['a#b'],
    ['a%2Fb'],
    ['a\r\nX-Evil: 1'],
    ['%2e%2e'],
    ['é中'],
    ['...x'],
  ])('%j stays one part of the path of a pause', async (id) => {
    const server = await rawServer((socket, text) =>
      socket.write(answer(200, text.startsWith('GET') ? page([{ id }]) : '{"success":true}')),
    );
    const { connection } = serviceAt(server.url);
    const { sandboxes } = await observerOf(connection).sandboxes();
    for (const one of sandboxes) await actuatorOf(connection).pause(one.id);
    for (const one of sandboxes) await actuatorOf(connection).resume(one.id);
    const sent = targets(server).slice(1);
    expect(sent.map((line) => new URL(line.replace('POST ', ''), server.url).pathname)).toEqual(
      ['pause', 'resume'].map((what) => `/api/v1/sandboxes/${encodeURIComponent(id)}/${what}`),
    );
    for (const line of sent) {
      const parts = line.replace('POST ', '').split('/');
      expect(parts).toHaveLength(6);
      expect(decodeURIComponent(parts[4] ?? '')).toBe(id);
    }
  });

  it('a spec stays one value of the query of a start', async () => {
    const server = await pages('{"id":"a"}');
    const { connection } = serviceAt(server.url);
    await actuatorOf(connection).start('r/i:1&sandbox_spec_id=x#y z');
    expect(targets(server)).toEqual([
      'POST /api/v1/sandboxes?sandbox_spec_id=r%2Fi%3A1%26sandbox_spec_id%3Dx%23y%20z',
    ]);
  });
});

describe('app-conversations', () => {
  const one = { id: 'c1', sandbox_id: 's1', execution_status: 'running' };
  const two = { id: 'c2', sandbox_id: 's2', execution_status: 'idle' };

  it.each([
    ['a bare list', JSON.stringify([one, two])],
    ['a page', page([one, two])],
  ])('as %s: one request', async (_, text) => {
    const server = await pages(text);
    expect(await observerAt(server.url).conversations()).toEqual([
      { id: 'c1', sandbox: 's1', status: 'running', createdAt: null },
      { id: 'c2', sandbox: 's2', status: 'idle', createdAt: null },
    ]);
    expect(targets(server)).toEqual([`GET ${CONVERSATIONS}`]);
  });

  it('as several pages: read to the last', async () => {
    const server = await rawServer((socket, text) =>
      socket.write(answer(200, text.includes('page_id=1') ? page([two]) : page([one], '1'))),
    );
    const conversations = await observerAt(server.url).conversations();
    expect(conversations?.map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(targets(server).at(-1)).toBe(`GET ${CONVERSATIONS}?limit=100&page_id=1`);
  });

  it('422 without ids: read under /search, to the last page', async () => {
    const server = await rawServer((socket, text) => {
      if (!text.startsWith(`GET ${CONVERSATIONS}/search`)) socket.write(answer(422, '{}'));
      else socket.write(answer(200, text.includes('page_id=1') ? page([two]) : page([one], 1)));
    });
    const conversations = await observerAt(server.url).conversations();
    expect(conversations?.map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(targets(server)).toEqual([
      `GET ${CONVERSATIONS}`,
      `GET ${CONVERSATIONS}/search?limit=100`,
      `GET ${CONVERSATIONS}/search?limit=100&page_id=1`,
    ]);
  });

  it.each([
    ['an entry that is null', '[null]', 'bad-response'],
    ['an entry without id', '[{"session_api_key":"canary"}]', 'bad-response'],
    ['a page with an entry without id', '{"items":[{"url":"canary"}]}', 'bad-response'],
    ['no list', '{"canary":1}', 'bad-response'],
    ['null', 'null', 'bad-response'],
  ])('%s is an error, and no sandbox counts as idle', async (_, text, code) => {
    const server = await pages(text);
    expect(await refusal(observerAt(server.url).conversations())).toMatchObject({ code });
  });

  it('422 and no /search either: an error', async () => {
    const server = await rawServer((socket, text) =>
      socket.write(answer(text.includes('/search') ? 404 : 422, '{"detail":"canary"}')),
    );
    expect(await refusal(observerAt(server.url).conversations())).toMatchObject({
      code: 'not-this-service',
    });
  });

  it.each([
    ['RUNNING', 'running'],
    ['waiting_for_confirmation', 'waiting_for_confirmation'],
    [null, null],
    [undefined, null],
    [3, null],
  ])('execution_status %j reads %j', async (status, read) => {
    const server = await pages(JSON.stringify([{ ...one, execution_status: status }]));
    expect((await observerAt(server.url).conversations())?.[0]?.status).toBe(read);
  });
});

describe('what a list carries besides', () => {
  const secrets = {
    session_api_key: 'canary-session',
    exposed_urls: [{ name: 'VSCODE', url: 'https://x.example.com/?tkn=canary-token' }],
    conversation_url: 'https://x.example.com/canary-conversation?key=canary',
    created_by_user_id: 'canary-user',
    title: 'canary-title',
  };

  function served(change: (item: object) => object): Promise<RawServer> {
    return rawServer((socket, text) => {
      const item = change({ id: 'a', sandbox_id: 's', status: 'RUNNING', ...secrets });
      socket.write(answer(200, text.startsWith('GET /api/settings') ? SETTINGS : page([item])));
    });
  }

  it('is in nothing that was observed', async () => {
    const { url } = await served((item) => item);
    const observer = observerAt(url);
    const seen = [
      await observer.sandboxes(),
      await observer.specs(),
      await observer.conversations(),
    ];
    const shown = inspect(seen, { depth: 9, showHidden: true }) + JSON.stringify(seen);
    expect(shown).toContain("'a'");
    expect(shown).not.toContain('canary');
  });

  it.each([
    ['all of it is there', (item: object) => item],
    ['the ids are missing', (item: object) => ({ ...item, id: undefined })],
  ])('is in no document of get, if %s', async (_, change) => {
    const { url } = await served(change);
    const resources = ['sandboxes', 'specs', 'conversations'] as const;
    for (const some of [resources, ...resources.map((one) => [one])]) {
      const shown = JSON.stringify(await get({ ...request(url, ''), resources: some }));
      expect(shown).toContain('"kind":"observed"');
      expect(shown).not.toContain('canary');
    }
  });
});

describe('what a service answers of sandboxes is bounded', () => {
  const long = 'x'.repeat(100_000);

  it('a state is cut, and the id of something else that is longer than any is none', async () => {
    const { sandbox } = await decoded({ status: long, sandbox_spec_id: long, created_at: long });
    expect(sandbox).toEqual({ id: 'a', spec: null, status: `${'X'.repeat(64)}…`, createdAt: null });
  });

  it('the state of a conversation is cut, and its sandbox is none', async () => {
    const item = { id: 'c', execution_status: long, sandbox_id: long };
    const server = await pages(page([item]));
    const [found] = (await observerAt(server.url).conversations()) ?? [];
    expect(found).toMatchObject({ sandbox: null, status: `${'x'.repeat(64)}…` });
  });

  it.each([
    ['text', long],
    ['digits', Number(`1${'0'.repeat(300)}`)],
  ])('a next page of 100,000 characters or no bounds is an error: %s', async (_, next) => {
    const text =
      typeof next === 'number'
        ? `{"items":[{"id":"a"}],"next_page_id":1${'0'.repeat(2000)}}`
        : page([{ id: 'a' }], next);
    const server = await pages(text, page([]));
    const { code, message } = await refusal(observerAt(server.url).sandboxes());
    expect(code).toBe('bad-response');
    expect(message.length).toBeLessThan(300);
    expect(server.requests).toHaveLength(1);
  });

  it('all pages of a list together hold 64 MiB at most', LONG, async () => {
    // Blanks, because a parser that keeps a text of megabytes takes seconds for it.
    const filling = ' '.repeat(7 * MIB);
    const server = await rawServer((socket, _, number) => {
      socket.write(answer(200, page([{ id: `s${number}` }], `p${number}`) + filling));
    });
    const { code } = await refusal(observerAt(server.url).sandboxes());
    expect(code).toBe('bad-response');
    expect(server.requests.length).toBeLessThan(12);
  });

  it('a list holds 50,000 items at most, on one page or on many', async () => {
    const items = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `s${from + index}` }));
    const whole = await pages(page(items(0, 50_001)));
    expect((await refusal(observerAt(whole.url).sandboxes())).code).toBe('bad-response');
    const parts = await rawServer((socket, _, number) => {
      socket.write(answer(200, page(items(number * 20_000, 20_000), `p${number}`)));
    });
    expect((await refusal(observerAt(parts.url).sandboxes())).code).toBe('bad-response');
    expect(parts.requests).toHaveLength(3);
  });
});
