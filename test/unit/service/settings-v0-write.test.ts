import { describe, expect, it } from 'vitest';
import type { SettingsWrite } from '../../../src/reconciler/model/state.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import {
  recordToStore,
  postWholeRecord,
} from '../../../src/reconciler/service/settings-v0/write.ts';
import { observedOf } from '../../fixture/observed.ts';
import { answering, bodyText, ORIGIN } from './answering.ts';

type Fields = Readonly<Record<string, Value>>;

function writeOf(fields: Fields, stored: Readonly<Record<string, unknown>> = {}): SettingsWrite {
  return { fields: createRecord(Object.entries(fields)), observed: observedOf(stored) };
}

/** The record that a write posts. */
function post(fields: Fields, stored: Readonly<Record<string, unknown>> = {}): unknown {
  return bodyText({ record: recordToStore(writeOf(fields, stored)) });
}

describe('a POST of the whole record', () => {
  it('has what was read with the written fields over it', () => {
    const stored = { language: 'en', agent: 'A', max_iterations: 9 };
    expect(post({ language: 'fr', git_user_name: 'me' }, stored)).toStrictEqual({
      agent: 'A',
      max_iterations: 9,
      language: 'fr',
      git_user_name: 'me',
    });
    expect(post({ language: null }, stored)).toStrictEqual({
      agent: 'A',
      max_iterations: 9,
      language: null,
    });
  });

  it('has what a later release stores besides, as it was read', () => {
    expect(post({ language: 'fr' }, { later: { of: ['a', 1] } })).toStrictEqual({
      later: { of: ['a', 1] },
      language: 'fr',
    });
  });

  it('has no flag, no loaded secrets, and no password that is not written', () => {
    const stored = {
      language: 'en',
      llm_api_key: null,
      search_api_key: null,
      sandbox_api_key: null,
      llm_api_key_set: true,
      search_api_key_set: false,
      provider_tokens_set: { github: null },
      secrets_store: { provider_tokens: {} },
    };
    expect(post({ search_api_key: new Secret('k') }, stored)).toStrictEqual({
      language: 'en',
      search_api_key: 'k',
    });
  });

  it('has no mask: neither of a later field, nor of a member of an mcp server', () => {
    const entry = { url: 'https://a.example', api_key: '**********', timeout: 5 };
    const env = { KEY: '**********', HOME: '/root' };
    const stored = {
      later_token: '**********',
      git_user_name: 'me',
      mcp_config: {
        shttp_servers: [entry],
        stdio_servers: [{ name: 'a', command: 'npx', env }],
        sse_servers: [],
      },
    };
    const body = post({ language: 'fr' }, stored);
    expect(body).toStrictEqual({
      git_user_name: 'me',
      mcp_config: {
        shttp_servers: [{ url: 'https://a.example', timeout: 5 }],
        stdio_servers: [{ name: 'a', command: 'npx' }],
        sse_servers: [],
      },
      language: 'fr',
    });
  });

  it('has an mcp_config that is no map as it was read', () => {
    expect(post({ language: 'fr' }, { mcp_config: null })).toStrictEqual({
      mcp_config: null,
      language: 'fr',
    });
  });

  it('has the keys of mcp servers that were read', () => {
    const mcp_config = { shttp_servers: [{ url: 'https://a.example', api_key: 'stored-key' }] };
    expect(post({ language: 'fr' }, { mcp_config })).toStrictEqual({ mcp_config, language: 'fr' });
  });
});

describe('a write', () => {
  const PLACE = `POST ${ORIGIN}/api/settings`;
  const detail = (...details: unknown[]) => ({ detail: details });

  /** What is said of a 422 that answers this, behind the status. */
  async function refusal(answered: unknown, fields: Fields = {}, type?: string): Promise<string> {
    const { writing } = answering(422, answered, type);
    const answer = await postWholeRecord(writing)(writeOf(fields));
    if (answer.kind !== 'not-applied') throw new Error(answer.kind);
    expect(answer).toMatchObject({ retry: false, reached: true });
    expect(answer.error.code).toBe('settings-refused');
    const { message } = answer.error;
    const begin = `${PLACE} was refused as invalid (status 422)`;
    expect(message.startsWith(begin)).toBe(true);
    expect(message.endsWith('.')).toBe(true);
    return message.slice(begin.length, -1);
  }

  it('is one POST', async () => {
    const { writing, sent } = answering(200);
    const write = writeOf({ llm_api_key: new Secret('canary-key') }, { language: 'en' });
    await expect(postWholeRecord(writing)(write)).resolves.toEqual({ kind: 'stored' });
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/api/settings',
        body: '{"language":"en","llm_api_key":"canary-key"}',
      },
    ]);
  });

  it('that a service fails at may have taken effect', async () => {
    const { writing } = answering(500);
    await expect(postWholeRecord(writing)(writeOf({}))).resolves.toMatchObject({
      kind: 'ambiguous',
      error: { code: 'server-error' },
    });
  });

  it.each<[string, unknown, string]>([
    ['a place and a kind', { type: 'missing', loc: ['body', 'a', 0, 'b-c'] }, 'a[0].b-c (missing)'],
    ['a place of something else', { type: 'missing', loc: ['query', 'a'] }, 'query.a (missing)'],
    ['the body as a whole', { type: 'json_invalid', loc: ['body'] }, 'the body (json_invalid)'],
    ['a place alone', { loc: ['body', 'a'] }, 'a'],
    ['a kind that is no text', { type: 7, loc: ['body', 'a'] }, 'a'],
    ['a kind that is no word', { type: 'Not A Word', loc: ['body', 'a'] }, 'a'],
    ['a kind that ends in more', { type: 'missing!', loc: ['body', 'a'] }, 'a'],
    ['a kind that begins with more', { type: '!missing', loc: ['body', 'a'] }, 'a'],
    ['the longest kind', { type: 'a'.repeat(40), loc: ['body'] }, `the body (${'a'.repeat(40)})`],
    ['a kind that is too long', { type: 'a'.repeat(41), loc: ['body', 'a'] }, 'a'],
    ['the longest name', { loc: ['body', 'a'.repeat(40)] }, 'a'.repeat(40)],
    ['a name that is too long', { loc: ['body', 'a'.repeat(41)] }, '?'],
    ['names that are none', { loc: ['body', 'a b', '-a', '0a', 'a!', '_'] }, '?.?.?.?._'],
    ['numbers', { loc: ['body', 3, -1, 1.5, 2 ** 53] }, '[3].?.?.?'],
    ['what is no segment', { loc: ['body', null, true, ['a'], { a: 1 }] }, '?.?.?.?'],
    ['a sentence', { type: 't', loc: ['body', 'a'], msg: 'Field required' }, 'a (t)'],
    ['no place', { type: 'missing', loc: 'a' }, ''],
    ['no detail', 'missing', ''],
    ['no depth without an end', { loc: ['body', ...Array(20).fill(1)] }, '[1]'.repeat(12)],
  ])('that is refused tells %s', async (_, one, told) => {
    await expect(refusal(detail(one))).resolves.toBe(told === '' ? '' : `: ${told}`);
  });

  it('that is refused tells each place once, and ten at most', async () => {
    const at = (...places: number[]) =>
      detail(...places.map((place) => ({ loc: ['body', place] })));
    await expect(refusal(at(1, 2, 1))).resolves.toBe(': [1], [2]');
    const ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    const listed = ten.map((place) => `[${place}]`).join(', ');
    await expect(refusal(at(...ten))).resolves.toBe(`: ${listed}`);
    await expect(refusal(at(...ten, 10))).resolves.toBe(`: ${listed} and more`);
  });

  it.each<[string, unknown]>([
    ['a list', [{ loc: ['body', 'a'] }]],
    ['a detail that is no list', { detail: { loc: ['body', 'a'] } }],
    ['a text', 'canary'],
  ])('that is refused with %s tells no place', async (_, answered) => {
    await expect(refusal(answered)).resolves.toBe('');
  });

  it('that is refused with a web page tells no place', async () => {
    const page = detail({ loc: ['body', 'a'] });
    await expect(refusal(page, {}, 'text/html')).resolves.toBe('');
  });

  it('that is refused tells nothing of what was sent, nor of the key of the request', async () => {
    const fields = { llm_api_key: new Secret('Canary_Written_Key') };
    const loc = ['body', 'Canary_Written_Key', 'canary_written_key', 'en_Key', 'n_Key'];
    await expect(refusal(detail({ type: 'written_key', loc }), fields)).resolves.toBe(
      ': ?.?.?.n_Key',
    );
    await expect(
      refusal(detail({ type: 'missing', loc: ['body', 'canary-session-key'] })),
    ).resolves.toBe(': ? (missing)');
    await expect(
      refusal(detail({ loc: ['body', 'of_canary_written_key_1', 'Y2FuYXJ5'] }), fields),
    ).resolves.toBe(': ?.?');
    const read = { mcp_config: { stdio_servers: [{ name: 'a', args: ['canary-stored-arg'] }] } };
    const { writing } = answering(422, detail({ loc: ['body', 'canary-stored-arg'] }));
    const answer = await postWholeRecord(writing)(writeOf({ language: 'en' }, read));
    expect(JSON.stringify(answer)).not.toContain('canary');
  });
});
