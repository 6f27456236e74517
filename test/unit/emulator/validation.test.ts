import { describe, expect, it } from 'vitest';

import { recordedCases } from '../../contract/recorded.ts';
import { send } from '../../contract/send.ts';
import { emulatorForTest, load, post } from './emulator.ts';

const stdio = { name: 'a', command: 'c' };

describe('what is stored', () => {
  it.each<[string, unknown, unknown]>([
    ['max_iterations', ' 7 ', 7],
    ['max_iterations', '1_000', 1000],
    ['max_iterations', true, 1],
    ['max_iterations', '100.0', 100],
    ['confirmation_mode', 'OFF', false],
    ['confirmation_mode', 1, true],
    ['user_consents_to_analytics', false, false],
    ['max_budget_per_task', '2.5', 2.5],
    ['max_budget_per_task', -3, -3],
    ['condenser_max_size', 20, 20],
    ['condenser_max_size', null, null],
    ['llm_base_url', '', ''],
    ['email', 'not an address', 'not an address'],
  ])('%s: %j loads as %j', async (name, sent, loaded) => {
    const { url } = await emulatorForTest();
    expect((await post(url, { [name]: sent })).status).toBe(200);
    expect((await load(url))[name]).toEqual(loaded);
  });

  it.each<[object, object]>([
    [
      { sse_servers: [{ url: 'HTTPS://a.example.com', junk: 1 }] },
      { url: 'HTTPS://a.example.com', api_key: null },
    ],
    [
      { shttp_servers: ['wss://a.example.com'] },
      { url: 'wss://a.example.com', api_key: null, timeout: 60 },
    ],
    [
      { shttp_servers: [{ url: 'http://a', timeout: null }] },
      { url: 'http://a', api_key: null, timeout: null },
    ],
    [
      { shttp_servers: [{ url: 'http://a', timeout: '3600' }] },
      { url: 'http://a', api_key: null, timeout: 3600 },
    ],
    [
      { stdio_servers: [{ name: ' a ', command: ' c ', args: null, env: null }] },
      { ...stdio, args: [], env: {} },
    ],
    [
      { stdio_servers: [{ ...stdio, args: " 'x y' ", env: '' }] },
      { ...stdio, args: ['x y'], env: {} },
    ],
    [
      { stdio_servers: [{ ...stdio, args: ['1'], env: { 'a b': '' } }] },
      { ...stdio, args: ['1'], env: { 'a b': '' } },
    ],
    [
      { stdio_servers: [{ ...stdio, env: ' A = 1 , ,_B=' }] },
      { ...stdio, args: [], env: { A: ' 1', _B: '' } },
    ],
  ])('mcp_config %j fills its entry in', async (sent, entry) => {
    const { url } = await emulatorForTest();
    expect((await post(url, { mcp_config: sent })).status).toBe(200);
    const config = (await load(url))['mcp_config'] as Record<string, unknown[]>;
    expect(Object.values(config).flat()).toEqual([entry]);
  });

  it('loads in the recorded order', async () => {
    const { url } = await emulatorForTest();
    const recorded = recordedCases('settings.json').find(({ name }) =>
      name.startsWith('store nothing'),
    );
    await post(url, {});
    const { text } = await send(url);
    expect(text).toBe(JSON.stringify(recorded?.steps.at(-1)?.response.body));
  });

  it('numbers keep every digit, and fractions stay fractions', async () => {
    const { url } = await emulatorForTest();
    await post(url, '{"max_iterations":12345678901234567890,"max_budget_per_task":2}');
    const { text } = await send(url);
    expect(text).toContain('"max_iterations":12345678901234567890,');
    expect(text).toContain('"max_budget_per_task":2.0,');
  });
});

describe('what is refused', () => {
  it.each<[object, [string, string][]]>([
    [{ max_iterations: [] }, [['int_type', 'max_iterations']]],
    [{ max_iterations: '1e3' }, [['int_parsing', 'max_iterations']]],
    [{ max_budget_per_task: 'much' }, [['float_parsing', 'max_budget_per_task']]],
    [{ max_budget_per_task: {} }, [['float_type', 'max_budget_per_task']]],
    [{ confirmation_mode: 2 }, [['bool_parsing', 'confirmation_mode']]],
    [{ confirmation_mode: 0.5 }, [['bool_type', 'confirmation_mode']]],
    [{ user_consents_to_analytics: '' }, [['bool_parsing', 'user_consents_to_analytics']]],
    [{ condenser_max_size: 19 }, [['value_error', 'condenser_max_size']]],
    [{ llm_api_key: 5 }, [['string_type', 'llm_api_key']]],
    [{ secrets_store: [] }, [['value_error', 'secrets_store']]],
    [{ mcp_config: 'x' }, [['model_attributes_type', 'mcp_config']]],
    [{ mcp_config: { sse_servers: [''] } }, [['value_error', 'mcp_config.sse_servers.0.url']]],
    [{ mcp_config: { sse_servers: [5] } }, [['model_attributes_type', 'mcp_config.sse_servers.0']]],
    [
      { mcp_config: { sse_servers: [{ url: 5 }] } },
      [['string_type', 'mcp_config.sse_servers.0.url']],
    ],
    [
      { mcp_config: { sse_servers: ['ftp://a'] } },
      [['value_error', 'mcp_config.sse_servers.0.url']],
    ],
    [
      { mcp_config: { sse_servers: 'ab' } },
      [
        ['value_error', 'mcp_config.sse_servers.0.url'],
        ['value_error', 'mcp_config.sse_servers.1.url'],
      ],
    ],
    [
      { mcp_config: { shttp_servers: [{ url: 'http://a', timeout: 0 }] } },
      [['value_error', 'mcp_config.shttp_servers.0.timeout']],
    ],
    [
      { mcp_config: { shttp_servers: [{ url: 'http://a', timeout: 3601 }] } },
      [['value_error', 'mcp_config.shttp_servers.0.timeout']],
    ],
    [{ mcp_config: { stdio_servers: null } }, [['list_type', 'mcp_config.stdio_servers']]],
    [
      { mcp_config: { stdio_servers: [{ ...stdio, args: ['x', 1], env: [1] }] } },
      [
        ['string_type', 'mcp_config.stdio_servers.0.args.1'],
        ['dict_type', 'mcp_config.stdio_servers.0.env'],
      ],
    ],
    [
      { mcp_config: { stdio_servers: [{ ...stdio, args: '"x', env: '1A=2' }] } },
      [
        ['value_error', 'mcp_config.stdio_servers.0.args'],
        ['value_error', 'mcp_config.stdio_servers.0.env'],
      ],
    ],
    [
      { git_user_name: 5, mcp_config: { zip: 1, stdio_servers: [{}] }, nope: 1, language: 5 },
      [
        ['string_type', 'language'],
        ['missing', 'mcp_config.stdio_servers.0.name'],
        ['missing', 'mcp_config.stdio_servers.0.command'],
        ['extra_forbidden', 'mcp_config.zip'],
        ['string_type', 'git_user_name'],
      ],
    ],
  ])('%j, with every problem in the order of the fields', async (sent, problems) => {
    const { url } = await emulatorForTest();
    const { status, body } = await post(url, sent);
    const { detail } = body as { detail: { type: string; loc: unknown[] }[] };
    expect(status).toBe(422);
    expect(detail.map(({ type, loc }) => [type, loc.slice(1).join('.')])).toEqual(problems);
    expect((await send(url)).status).toBe(404);
  });

  it('is echoed, with a sentence', async () => {
    const { url } = await emulatorForTest();
    const { body } = await post(url, {
      llm_api_key: 12345,
      mcp_config: { sse_servers: [{ api_key: 'k' }] },
    });
    expect(body).toEqual({
      detail: [
        {
          type: 'string_type',
          loc: ['body', 'llm_api_key'],
          msg: 'Input should be a valid string',
          input: 12345,
        },
        {
          type: 'missing',
          loc: ['body', 'mcp_config', 'sse_servers', 0, 'url'],
          msg: 'Field required',
          input: { api_key: 'k' },
        },
      ],
    });
  });

  it.each(['', 'null'])('a body of "%s" is missing', async (text) => {
    const { url } = await emulatorForTest();
    const { body } = await post(url, text);
    expect(body).toMatchObject({ detail: [{ type: 'missing', loc: ['body'] }] });
  });

  it.each<object>([
    { sse_servers: null },
    { shttp_servers: null },
    { shttp_servers: 5 },
    { shttp_servers: [{ url: 5 }] },
    { stdio_servers: [{ ...stdio, name: null }] },
    { stdio_servers: [{ ...stdio, command: 5 }] },
  ])('%j breaks the server, and stores nothing', async (sent) => {
    const { url } = await emulatorForTest();
    const broken = { status: 500, body: 'Internal Server Error' };
    expect(await post(url, { language: 5, mcp_config: sent })).toEqual(broken);
    expect((await send(url)).status).toBe(404);
  });
});

describe('entries that the server owns', () => {
  it('load first in every list, in their full form', async () => {
    const own = { shttp_servers: ['https://own.example.com'], stdio_servers: [stdio] };
    const { url } = await emulatorForTest({ serverMcp: own });
    expect((await send(url)).status).toBe(404);

    await post(url, { mcp_config: { shttp_servers: ['https://mine.example.com'] } });

    expect((await load(url))['mcp_config']).toEqual({
      sse_servers: [],
      stdio_servers: [{ ...stdio, args: [], env: {} }],
      shttp_servers: [
        { url: 'https://own.example.com', api_key: null, timeout: 60 },
        { url: 'https://mine.example.com', api_key: null, timeout: 60 },
      ],
    });
  });

  it('must keep the rules of entries', async () => {
    const start = emulatorForTest({ serverMcp: { sse_servers: [{ api_key: 'k' }] } });
    await expect(start).rejects.toThrow('serverMcp.sse_servers.0.url');
  });
});
