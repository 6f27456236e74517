/** LLM profiles of the embedded app server beyond what was recorded of a real one: read in its source. */
import { expect, it } from 'vitest';
import { call, emulatorForTest, good } from './emulator.ts';

const started = async () => {
  const { url } = await emulatorForTest({ dialect: 'app-server' });
  await good(url, 'POST /settings', {});
  return url;
};
const save = (url: string, name: string, llm: object, besides: object = {}) =>
  call(url, `POST /settings/profiles/${name}`, {
    llm: { model: 'openai/gpt-5', ...llm },
    ...besides,
  });
const active = async (url: string) =>
  (await good<{ active_profile: string | null }>(url, 'GET /settings/profiles')).active_profile;

it('one without an address that takes the place of a deleted one is active until the second write', async () => {
  const url = await started();
  await save(url, 'a', { model: 'anthropic/claude-sonnet-4-5' });
  await save(url, 'b', {});
  await good(url, 'POST /settings/profiles/b/activate');
  await good(url, 'DELETE /settings/profiles/b');
  expect(await active(url)).toBe('a');
  await good(url, 'POST /settings', { language: 'fr' });
  expect(await active(url)).toBe('a');
  await good(url, 'POST /settings', { language: 'de' });
  expect(await active(url)).toBeNull();
});

it('one of OpenAI without an address stays active: its usual address is none', async () => {
  const url = await started();
  await save(url, 'a', {});
  await good(url, 'POST /settings/profiles/a/activate');
  await good(url, 'POST /settings', { language: 'fr' });
  await save(url, 'b', {});
  expect(await active(url)).toBe('a');
});

it('one of another provider without an address is active until something is stored', async () => {
  const url = await started();
  await save(url, 'a', { model: 'anthropic/claude-sonnet-4-5' });
  await good(url, 'POST /settings/profiles/a/activate');
  await save(url, 'b', {});
  expect(await active(url)).toBeNull();
});

it.each([
  [
    'POST /settings/profiles/a/rename',
    { new_name: 'a b' },
    ['body', 'new_name'],
    'string_pattern_mismatch',
  ],
  ['POST /settings/profiles/a/rename', { new_name: '' }, ['body', 'new_name'], 'string_too_short'],
  ['POST /settings/profiles/a/rename', { new_name: 5 }, ['body', 'new_name'], 'string_type'],
  ['POST /settings/profiles/a/rename', {}, ['body', 'new_name'], 'missing'],
  ['POST /settings/profiles/a/rename', undefined, ['body'], 'missing'],
  [
    'POST /settings/profiles/a',
    { include_secrets: 'maybe' },
    ['body', 'include_secrets'],
    'bool_parsing',
  ],
  ['POST /settings/profiles/a', [], ['body'], 'model_attributes_type'],
  ['GET /settings/profiles/a%20b', undefined, ['path', 'name'], 'string_pattern_mismatch'],
  ['DELETE /settings/profiles/a%20b', undefined, ['path', 'name'], 'string_pattern_mismatch'],
  ['POST /settings/profiles/a%20b/activate', {}, ['path', 'name'], 'string_pattern_mismatch'],
])('%s of %j is refused at %j', async (what, body, loc, type) => {
  const url = await started();
  const answer = await call(url, what, body);
  expect(answer).toMatchObject({ status: 422, body: { detail: [{ type, loc }] } });
});

it('preserve_existing_api_key keeps that there is no key, too', async () => {
  const url = await started();
  await save(url, 'a', {});
  await save(url, 'a', { api_key: 'sk-1' }, { preserve_existing_api_key: true });
  expect(await good(url, 'GET /settings/profiles/a')).toMatchObject({ api_key_set: false });
});

it('include_secrets: false takes the key away, and no other secret', async () => {
  const url = await started();
  const llm = { api_key: 'sk-1', aws_secret_access_key: 'aws-1' };
  await save(url, 'a', llm, { include_secrets: false });
  expect(await good(url, 'GET /settings/profiles/a')).toMatchObject({
    api_key_set: false,
    config: { api_key: null, aws_secret_access_key: '**********' },
  });
});
