import { describe, expect, it } from 'vitest';

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

interface Task {
  readonly id: string;
  readonly status: string;
  readonly detail: string | null;
  readonly app_conversation_id: string | null;
  readonly sandbox_id: string | null;
  readonly updated_at: string;
}

type Conversation = Readonly<Record<string, unknown>> & { readonly id: string };

const begin = 'POST /app-conversations';
const list = 'GET /app-conversations';
const search = 'GET /app-conversations/search';
const message = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
const nobody = '0123456789abcdef0123456789abcdef';
const uuid = expect.stringMatching(/^[\da-f]{32}$/) as string;

/** A service with settings, at rest. */
async function serviceWithSettings(options = {}) {
  const service = await emulatorAtRest(options);
  await post(service.url, { llm_model: 'm-1' });
  return service;
}

async function task(url: string, id: string): Promise<Task | null> {
  const [found] = await good<(Task | null)[]>(url, `GET /app-conversations/start-tasks?ids=${id}`);
  return found ?? null;
}

async function conversations(url: string): Promise<readonly Conversation[]> {
  return (await good<Page<Conversation>>(url, search)).items;
}

/** Statuses of a task seen every 50 ms, each once. */
async function walk({ url, pass }: Awaited<ReturnType<typeof emulatorAtRest>>, id: string) {
  const seen: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    const { status = '' } = (await task(url, id)) ?? {};
    if (seen.at(-1) !== status) seen.push(status);
    pass(50);
  }
  return seen;
}

const whole = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'STARTING_CONVERSATION',
  'READY',
];

describe('the start of a conversation', () => {
  it('is answered at once, with an echo of the request', async () => {
    const { url } = await serviceWithSettings();
    const request = { initial_message: message, selected_branch: null, unknown: [1, 2.5] };
    expect(await good(url, begin, request)).toEqual({
      id: uuid,
      created_by_user_id: null,
      status: 'WORKING',
      detail: null,
      app_conversation_id: null,
      sandbox_id: null,
      agent_server_url: null,
      request,
      created_at: '2026-01-02T03:04:05.000Z',
      updated_at: '2026-01-02T03:04:05.000Z',
    });
    expect(await statuses(url)).toEqual(['STARTING']);
  });

  it('walks to READY, where the conversation is listed', async () => {
    const service = await serviceWithSettings();
    const { id } = await good<Task>(service.url, begin, {});

    expect(await walk(service, id)).toEqual(whole);

    const done = await task(service.url, id);
    const [made] = await conversations(service.url);
    expect(done).toMatchObject({ app_conversation_id: made?.id, sandbox_id: made?.['sandbox_id'] });
    expect(done?.updated_at).toBe('2026-01-02T03:04:05.900Z');
  });

  it('waits for its sandbox, and takes a fifth of a start for each other step', async () => {
    const { url, pass } = await serviceWithSettings({ startMs: 1000 });
    const { id } = await good<Task>(url, begin, {});
    const at = async (ms: number) => {
      pass(ms);
      return (await task(url, id))?.status;
    };
    expect(await at(199)).toBe('WORKING');
    expect(await at(1)).toBe('WAITING_FOR_SANDBOX');
    expect((await task(url, id))?.sandbox_id).toMatch(/^\w{22}$/);
    expect(await at(799)).toBe('WAITING_FOR_SANDBOX');
    expect(await at(1)).toBe('PREPARING_REPOSITORY');
    expect(await at(200)).toBe('RUNNING_SETUP_SCRIPT');
    expect(await at(200)).toBe('SETTING_UP_GIT_HOOKS');
    expect(await at(200)).toBe('STARTING_CONVERSATION');
    expect(await conversations(url)).toEqual([]);
    expect(await at(200)).toBe('READY');
    expect(await conversations(url)).toHaveLength(1);
  });

  it('does not wait for a sandbox that runs', async () => {
    const { url, pass } = await serviceWithSettings();
    const sandbox = await good<Sandbox>(url, 'POST /sandboxes');
    pass(500);
    const { id } = await good<Task>(url, begin, { sandbox_id: sandbox.id });
    pass(100);
    expect((await task(url, id))?.status).toBe('PREPARING_REPOSITORY');
    pass(400);
    expect(await task(url, id)).toMatchObject({ status: 'READY', sandbox_id: sandbox.id });
    expect(await statuses(url)).toEqual(['RUNNING']);
  });

  it('of a paused sandbox ends in ERROR, but the sandbox is resumed', async () => {
    const { url, pass } = await serviceWithSettings();
    const sandbox = await good<Sandbox>(url, 'POST /sandboxes');
    pass(500);
    await good(url, `POST /sandboxes/${sandbox.id}/pause`);

    const { id, status } = await good<Task>(url, begin, { sandbox_id: sandbox.id });

    expect(status).toBe('WORKING');
    expect(await statuses(url)).toEqual(['STARTING']);
    pass(500);
    expect(await task(url, id)).toMatchObject({
      status: 'ERROR',
      detail: 'Sandbox not startable',
      app_conversation_id: null,
      sandbox_id: sandbox.id,
    });
    expect(await statuses(url)).toEqual(['RUNNING']);
  });

  it('of an unknown sandbox ends in ERROR', async () => {
    const { url, pass } = await serviceWithSettings();
    const { id } = await good<Task>(url, begin, { sandbox_id: 'unknown' });
    pass(100);
    expect(await task(url, id)).toMatchObject({
      status: 'ERROR',
      detail: 'Sandbox not found: unknown',
      sandbox_id: null,
    });
    expect(await statuses(url)).toEqual([]);
  });

  it('without settings ends in ERROR late, and leaves its sandbox behind', async () => {
    const service = await emulatorAtRest();
    const { id } = await good<Task>(service.url, begin, {});
    expect(await walk(service, id)).toEqual([...whole.slice(0, 5), 'ERROR']);
    expect((await task(service.url, id))?.detail).toBe('No settings are stored');
    expect(await conversations(service.url)).toEqual([]);
    expect(await statuses(service.url)).toEqual(['RUNNING']);
  });

  it.each(['error', 'missing'] as const)(
    'of a sandbox that ends in %s does too',
    async (becomes) => {
      const service = await serviceWithSettings({ becomes });
      const { id } = await good<Task>(service.url, begin, {});
      expect(await walk(service, id)).toEqual(['WORKING', 'WAITING_FOR_SANDBOX', 'ERROR']);
      const detail = `Sandbox status: ${becomes.toUpperCase()}`;
      expect(await task(service.url, id)).toMatchObject({ detail, app_conversation_id: null });
    },
  );

  it('ends in ERROR if its sandbox is paused before it is over, and stays READY after', async () => {
    const { url, pass } = await serviceWithSettings();
    const early = await good<Task>(url, begin, {});
    pass(600);
    const sandbox = (await task(url, early.id))?.sandbox_id;
    const late = await good<Task>(url, begin, { sandbox_id: sandbox });
    pass(300);
    await good(url, `POST /sandboxes/${sandbox}/pause`);
    const seen = async () => [(await task(url, early.id))?.status, await task(url, late.id)];
    const expected = ['READY', { status: 'ERROR', detail: 'The sandbox was paused' }];
    expect(await seen()).toMatchObject(expected);
    await good(url, `POST /sandboxes/${sandbox}/resume`);
    expect(await seen()).toMatchObject(expected);
    pass(5000);
    expect(await seen()).toMatchObject(expected);
  });

  it.each<[unknown, object]>([
    ['[]', { type: 'model_attributes_type', loc: ['body'] }],
    ['"text"', { type: 'model_attributes_type', loc: ['body'] }],
    ['', { type: 'missing', loc: ['body'] }],
    ['null', { type: 'missing', loc: ['body'] }],
    ['{', { type: 'json_invalid', loc: ['body', 1] }],
    [{ sandbox_id: 5 }, { type: 'string_type', loc: ['body', 'sandbox_id'] }],
    [{ initial_message: 'Hi' }, { loc: ['body', 'initial_message'] }],
  ])('with the body %j is refused', async (body, problem) => {
    const { url } = await emulatorForTest();
    const answer = await call(url, begin, body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [problem] } });
    expect(await statuses(url)).toEqual([]);
  });

  it('reads its body before it checks the key', async () => {
    const { url } = await emulatorForTest({ apiKey: 'k' });
    expect((await call(url, begin, '{')).status).toBe(422);
    expect((await call(url, begin, '[]')).status).toBe(401);
  });
});

describe('a conversation', () => {
  it('has an address and a key while its sandbox runs, and neither is there otherwise', async () => {
    const { url, pass } = await serviceWithSettings();
    await good(url, begin, { title: 'Nightly' });
    pass(900);
    const [made] = await conversations(url);
    expect(made).toEqual({
      id: uuid,
      created_by_user_id: null,
      sandbox_id: expect.stringMatching(/^\w{22}$/) as string,
      title: 'Nightly',
      llm_model: 'm-1',
      created_at: '2026-01-02T03:04:05.900Z',
      updated_at: '2026-01-02T03:04:05.900Z',
      sandbox_status: 'RUNNING',
      execution_status: 'idle',
      conversation_url: expect.stringContaining(`/${made?.id}`) as string,
      session_api_key: expect.stringMatching(/^[\w-]{43}$/) as string,
      parent_conversation_id: null,
      sub_conversation_ids: [],
    });
    expect(made?.['conversation_url']).not.toContain(made?.['session_api_key']);
    const { items } = await good<Page<Sandbox>>(url, 'GET /sandboxes/search');
    expect(made?.['session_api_key']).toBe(items[0]?.session_api_key);

    await good(url, `POST /sandboxes/${items[0]?.id}/pause`);
    expect(await conversations(url)).toEqual([
      {
        ...made,
        sandbox_status: 'PAUSED',
        execution_status: null,
        conversation_url: null,
        session_api_key: null,
      },
    ]);
  });

  it.each([
    [{ initial_message: { ...message, run: true } }, 'running', 'finished'],
    [{ initial_message: { ...message, run: false } }, 'idle', 'idle'],
    [{ initial_message: message }, 'idle', 'idle'],
    [{ initial_message: null }, 'idle', 'idle'],
  ])('of %j is %s at first, then %s', async (request, first, then) => {
    const { url, pass } = await serviceWithSettings();
    await good(url, begin, request);
    pass(900 + 1999);
    expect(await conversations(url)).toMatchObject([{ execution_status: first }]);
    pass(1);
    expect(await conversations(url)).toMatchObject([{ execution_status: then }]);
  });

  it('cannot be asked what it does while its sandbox does not run', async () => {
    const { url, pass } = await serviceWithSettings();
    const { id } = await good<Task>(url, begin, { initial_message: { ...message, run: true } });
    pass(900);
    const sandbox = (await task(url, id))?.sandbox_id;
    const execution = async () => (await conversations(url))[0]?.['execution_status'];
    expect(await execution()).toBe('running');
    await good(url, `POST /sandboxes/${sandbox}/pause`);
    expect(await execution()).toBeNull();
    await good(url, `POST /sandboxes/${sandbox}/resume`);
    expect(await execution()).toBeNull();
    pass(500);
    expect(await execution()).toBe('running');
    pass(2000);
    expect(await execution()).toBe('finished');
  });

  it('takes the model of the request before that of the settings, or none', async () => {
    const { url, pass } = await emulatorAtRest();
    await post(url, {});
    await good(url, begin, {});
    await post(url, { llm_model: 'm-2' });
    await good(url, begin, {});
    await good(url, begin, { llm_model: 'm-3' });
    pass(2000);
    const models = (await conversations(url)).map((one) => one['llm_model']);
    expect(models).toEqual(['m-3', 'm-2', null]);
  });
});

describe('lists of conversations', () => {
  it('show the newest first, page by page, with and without /search', async () => {
    const { url, pass } = await serviceWithSettings();
    const sandbox = await good<Sandbox>(url, 'POST /sandboxes');
    pass(500);
    await good(url, begin, { title: 'slow' });
    await good(url, begin, { title: 'quick', sandbox_id: sandbox.id });
    pass(2000);
    const titles = ({ items }: Page<Conversation>) => items.map((one) => one['title']);
    expect(titles(await good(url, search))).toEqual(['slow', 'quick']);
    expect(await good(url, list)).toEqual(await good(url, search));
    const first = await good<Page<Conversation>>(url, `${list}?limit=1`);
    expect([titles(first), first.next_page_id]).toEqual([['slow'], '1']);
    expect(titles(await good(url, `${search}?limit=1&page_id=1`))).toEqual(['quick']);
  });

  it('by ids have null for each that is not there, in both forms of an id', async () => {
    const { url, pass } = await serviceWithSettings();
    await good(url, begin, {});
    pass(2000);
    const [made] = await conversations(url);
    const dashed = (made?.id ?? '').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const asked = `ids=${made?.id}&ids=${nobody}&ids=${dashed.toUpperCase()}`;
    expect(await good(url, `${list}?${asked}`)).toEqual([made, null, made]);
  });

  it.each([list, 'GET /app-conversations/start-tasks'])(
    '%s crashes on a hundred ids',
    async (what) => {
      const { url } = await emulatorForTest();
      const ids = (count: number) => Array.from({ length: count }, () => `ids=${nobody}`).join('&');
      expect(await good(url, `${what}?${ids(99)}`)).toEqual(Array.from({ length: 99 }, () => null));
      expect(await call(url, `${what}?${ids(100)}`)).toMatchObject({
        status: 500,
        mediaType: 'text/plain',
      });
    },
  );

  it.each([list, 'GET /app-conversations/start-tasks'])(
    '%s refuses what is no uuid',
    async (what) => {
      const { url } = await emulatorForTest();
      expect(await call(url, `${what}?ids=${nobody}&ids=x`)).toMatchObject({
        status: 422,
        body: { detail: [{ type: 'uuid_parsing', loc: ['query', 'ids', 1], input: 'x' }] },
      });
    },
  );

  it('of start tasks require ids', async () => {
    const { url } = await emulatorForTest();
    expect(await call(url, 'GET /app-conversations/start-tasks')).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['query', 'ids'] }] },
    });
    expect(await task(url, nobody)).toBeNull();
  });
});
