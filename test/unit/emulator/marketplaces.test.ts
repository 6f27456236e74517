/** Marketplaces of the embedded app server beyond what was recorded of a real one: read in its source. */
import { expect, it } from 'vitest';
import { call, emulatorForTest, good } from './emulator.ts';

const posted = async (sent: unknown) => {
  const { url } = await emulatorForTest({ dialect: 'app-server' });
  const { status, body } = await call(url, 'POST /settings', { registered_marketplaces: sent });
  return { url, status, body };
};
const entry = (besides: object) => ({ name: 'team', source: 'github:example/skills', ...besides });

it.each([
  [entry({ source: ' ' }), 'Value error, source cannot be empty'],
  [entry({ source: '/x' }), 'Value error, local path source must be relative, not absolute'],
  [entry({ source: 5 }), 'Input should be a valid string'],
  [
    entry({ repo_path: 'a/../b' }),
    "Value error, repo_path cannot contain '..' (parent directory traversal)",
  ],
  [
    entry({ repo_path: 'https://x' }),
    'Value error, repo_path must be a subdirectory within the repository, not a URL',
  ],
  [entry({ auto_load: null }), 'Input should be a valid boolean'],
])('%j is refused', async (one, sentence) => {
  const { status, body } = await posted([entry({ name: 'first' }), one]);
  expect({ status, body }).toEqual({
    status: 400,
    body: { error: `Invalid marketplace at index 1: ${sentence}` },
  });
});

it.each([
  ['git@git.example.com:team/skills.git'],
  ['ssh://git.example.com/team/skills'],
  ['skills/mine'],
])('the source %s is taken, with what is left out', async (source) => {
  const { url } = await posted([entry({ source: ` ${source} `, no_such: 1 })]);
  expect(await good(url, 'GET /settings')).toMatchObject({
    registered_marketplaces: [
      { name: 'team', source, ref: null, repo_path: null, auto_load: false, scope: 'personal' },
    ],
  });
});

it('what is no list fails, and a map is taken for its names', async () => {
  expect((await posted(5)).status).toBe(500);
  expect((await posted({ a: 1 })).status).toBe(400);
});
