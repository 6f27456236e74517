import { describe, expect, it } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import {
  call,
  emulatorAtRest,
  emulatorForTest,
  good,
  statuses,
  type Page,
  type Sandbox,
} from './emulator.ts';

const start = 'POST /sandboxes';
const search = 'GET /sandboxes/search';
const python = 'ghcr.io/example/agent-server:1.0-python';
const node = 'ghcr.io/example/agent-server:1.0-node';
const crashed = { status: 500, mediaType: 'text/plain', body: 'Internal Server Error' };

describe('a sandbox', () => {
  it('is STARTING at first, without key and addresses, then RUNNING with them', async () => {
    const { url, pass } = await emulatorAtRest();

    const begun = await good<Sandbox>(url, start);

    expect(begun).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{22}$/) as string,
      created_by_user_id: null,
      sandbox_spec_id: python,
      status: 'STARTING',
      session_api_key: null,
      exposed_urls: null,
      created_at: '2026-01-02T03:04:05.000Z',
    });
    pass(499);
    expect(await statuses(url)).toEqual(['STARTING']);
    pass(1);
    const { items } = await good<Page<Sandbox>>(url, search);
    const key = items[0]?.session_api_key ?? '';
    expect(key).toMatch(/^[\w-]{43}$/);
    const [agent, editor] = items[0]?.exposed_urls ?? [];
    expect(items).toEqual([
      {
        ...begun,
        status: 'RUNNING',
        session_api_key: key,
        exposed_urls: [
          { name: 'AGENT_SERVER', url: expect.stringMatching(/^https:/) as string },
          { name: 'VSCODE', url: expect.stringContaining(`?tkn=${key}`) as string },
        ],
      },
    ]);
    expect(agent?.url).not.toContain(key);
    expect(editor?.url).toContain(begun.id);
  });

  it('is of the spec that the query names, whatever the body holds', async () => {
    const { url } = await emulatorForTest();
    const inBody = await good<Sandbox>(url, start, { sandbox_spec_id: node });
    const inQuery = await good<Sandbox>(
      url,
      `${start}?sandbox_spec_id=${encodeURIComponent(node)}`,
    );
    expect([inBody.sandbox_spec_id, inQuery.sandbox_spec_id]).toEqual([python, node]);
    expect(await good<Sandbox>(url, start, '{no json')).toMatchObject({ sandbox_spec_id: python });
  });

  it.each(['unknown', ''])('of the spec "%s" is a crash and no sandbox', async (id) => {
    const { url } = await emulatorForTest();
    expect(await call(url, `${start}?sandbox_spec_id=${id}`)).toEqual(crashed);
    expect(await statuses(url)).toEqual([]);
  });

  it('is one more at every call', async () => {
    const { url } = await emulatorForTest();
    const all = await Promise.all(Array.from({ length: 5 }, () => good<Sandbox>(url, start)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(5);
    expect(await statuses(url)).toHaveLength(5);
  });
});

describe('pause and resume', () => {
  it('pause what runs, and begin a new start of what is paused', async () => {
    const { url, pass } = await emulatorAtRest();
    const { id } = await good<Sandbox>(url, start);
    pass(500);

    expect(await good(url, `POST /sandboxes/${id}/pause`)).toEqual({ success: true });
    expect(await good<Page<Sandbox>>(url, search)).toMatchObject({
      items: [{ status: 'PAUSED', session_api_key: null, exposed_urls: null }],
    });
    pass(10_000);
    expect(await statuses(url)).toEqual(['PAUSED']);

    expect(await good(url, `POST /sandboxes/${id}/resume`)).toEqual({ success: true });
    expect(await statuses(url)).toEqual(['STARTING']);
    pass(500);
    expect(await statuses(url)).toEqual(['RUNNING']);
  });

  it('answer 200 if there is nothing to do', async () => {
    const { url, pass } = await emulatorAtRest();
    const { id } = await good<Sandbox>(url, start);
    pass(500);
    await good(url, `POST /sandboxes/${id}/resume`);
    expect(await statuses(url)).toEqual(['RUNNING']);
    await good(url, `POST /sandboxes/${id}/pause`);
    await good(url, `POST /sandboxes/${id}/pause`);
    expect(await statuses(url)).toEqual(['PAUSED']);
  });

  it('a pause of one that is STARTING does nothing, though it answers 200', async () => {
    const { url, pass } = await emulatorAtRest();
    const { id } = await good<Sandbox>(url, start);
    expect(await good(url, `POST /sandboxes/${id}/pause`)).toEqual({ success: true });
    pass(500);
    expect(await statuses(url)).toEqual(['RUNNING']);
  });

  it.each(['pause', 'resume'])('%s of an unknown id is not found', async (verb) => {
    const { url } = await emulatorForTest();
    for (const id of ['unknown', '%zz', 'a%2Fb'])
      expect(await call(url, `POST /sandboxes/${id}/${verb}`)).toMatchObject({
        status: 404,
        body: { detail: 'Not Found' },
      });
  });

  it('take an id that is percent-encoded', async () => {
    const { url, pass } = await emulatorAtRest();
    const { id } = await good<Sandbox>(url, start);
    pass(500);
    const encoded = Buffer.from(id).toString('hex').replaceAll(/../g, '%$&');
    await good(url, `POST /sandboxes/${encoded}/pause`);
    expect(await statuses(url)).toEqual(['PAUSED']);
  });
});

describe('pages', () => {
  it('of 250 sandboxes are three, the newest first', LONG, async () => {
    const { url, pass } = await emulatorAtRest();
    const ids: string[] = [];
    for (let n = 0; n < 250; n += 1) {
      ids.unshift((await good<Sandbox>(url, start)).id);
      pass(1);
    }

    const first = await good<Page<Sandbox>>(url, search);
    const second = await good<Page<Sandbox>>(url, `${search}?page_id=${first.next_page_id}`);
    const third = await good<Page<Sandbox>>(url, `${search}?page_id=${second.next_page_id}`);

    const pages = [first, second, third];
    expect(pages.map(({ next_page_id }) => next_page_id)).toEqual(['100', '200', null]);
    expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(ids);
    const times = pages.flatMap(({ items }) => items.map(({ created_at }) => created_at));
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('begin anew if page_id is no number, and are empty past the end', async () => {
    const { url } = await emulatorForTest();
    const ids = [(await good<Sandbox>(url, start)).id, (await good<Sandbox>(url, start)).id];
    const of = async (query: string) => {
      const { items, next_page_id } = await good<Page<Sandbox>>(url, `${search}?${query}`);
      return [items.map(({ id }) => id), next_page_id];
    };
    expect(await of('page_id=last&limit=1')).toEqual([[ids[1]], '1']);
    expect(await of('page_id=1&limit=1')).toEqual([[ids[0]], null]);
    expect(await of('page_id=-1')).toEqual([[ids[1], ids[0]], null]);
    expect(await of('page_id=2')).toEqual([[], null]);
  });

  it.each([
    ['0', 'greater_than'],
    ['-3', 'greater_than'],
    ['ten', 'int_parsing'],
    ['', 'int_parsing'],
    ['1.5', 'int_parsing'],
  ])('of limit=%s are refused', async (limit, type) => {
    const { url } = await emulatorForTest();
    for (const path of [
      '/sandboxes/search',
      '/sandbox-specs/search',
      '/app-conversations/search',
    ]) {
      const { status, body } = await call(url, `GET ${path}?limit=${limit}`);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        detail: [
          { type, loc: ['query', 'limit'], msg: expect.any(String) as string, input: limit },
        ],
      });
    }
  });

  it('of a limit above 100 are a crash', async () => {
    const { url } = await emulatorForTest();
    await good(url, `${search}?limit=100`);
    for (const path of ['/sandboxes/search', '/sandbox-specs/search', '/app-conversations/search'])
      expect(await call(url, `GET ${path}?limit=101`)).toEqual(crashed);
  });
});

describe('sandbox specs', () => {
  it('are two, with the time at which the service was started', async () => {
    const { url, pass } = await emulatorAtRest();
    pass(60_000);
    const rest = {
      command: null,
      created_at: '2026-01-02T03:04:05.000Z',
      initial_env: {},
      working_dir: '/workspace/project',
    };
    const specs = 'GET /sandbox-specs/search';
    expect(await good(url, specs)).toEqual({
      items: [
        { id: python, ...rest },
        { id: node, ...rest },
      ],
      next_page_id: null,
    });
    expect(await good(url, `${specs}?limit=1`)).toMatchObject({
      items: [{ id: python }],
      next_page_id: '1',
    });
  });
});

describe('the key', () => {
  const id = '0123456789abcdef0123456789abcdef';
  it.each([
    search,
    start,
    'POST /sandboxes/any/pause',
    'POST /sandboxes/any/resume',
    'GET /sandbox-specs/search',
    'POST /app-conversations',
    'GET /app-conversations',
    `GET /app-conversations?ids=${id}`,
    'GET /app-conversations/search',
    'GET /app-conversations/search?limit=0',
    `GET /app-conversations/start-tasks?ids=${id}`,
  ])('is required by %s', async (what) => {
    const { url } = await emulatorForTest({ apiKey: 'k' });
    const body = what === 'POST /app-conversations' ? {} : undefined;
    const refused = { status: 401, body: { detail: 'Unauthorized' } };
    expect(await call(url, what, body)).toMatchObject(refused);
    expect(await call(url, what, body, 'wrong')).toMatchObject(refused);
    expect((await call(url, what, body, 'k')).status).not.toBe(401);
  });
});

describe('methods', () => {
  it.each([
    ['GET', '/sandboxes'],
    ['POST', '/sandboxes/search'],
    ['GET', '/sandboxes/any/pause'],
    ['DELETE', '/app-conversations'],
  ])('%s %s is not allowed', async (method, path) => {
    const { url } = await emulatorForTest();
    const answered = await call(url, `${method} ${path}`);
    expect(answered).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } });
  });

  it.each(['/sandboxes/any', '/sandboxes//pause', '/sandboxes/a/b/pause', '/sandboxes/pause'])(
    '%s leads nowhere',
    async (path) => {
      const { url } = await emulatorForTest();
      expect(await call(url, `POST ${path}`)).toMatchObject({
        status: 404,
        body: { detail: 'Not Found' },
      });
    },
  );
});
