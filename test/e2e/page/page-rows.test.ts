import { expect, it } from 'vitest';
import { RUNBOOKS } from '../../../src/controller/page/runbooks.gen.ts';
import { environment } from '../../fixture/documents.ts';
import { startPage } from '../../fixture/page.ts';
import { ago, watchState } from '../../fixture/watching.ts';

const COMMIT = 'a'.repeat(40);

function failures(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const name = `eu-${index}`;
    const message = `The connection was refused: GET https://s${index}.example.com/api/settings.`;
    const error = { code: 'unreachable', message, hint: '' };
    const plan = environment({ name, status: 'error', error });
    return watchState({ name, status: 'error', found: 'error', plan, since: ago(count - index) });
  });
}

it('a row has Read now for who may act, which leads back to the list and says so', async () => {
  const { ask, post, logIn, watching } = await startPage(failures(4));
  expect((await ask('/')).text).not.toContain('Read now');
  const { cookie, formToken } = await logIn();
  const list = (await ask('/', { headers: { cookie } })).text;
  const [, address = ''] = /formaction="([^"]*)"/.exec(list) ?? [];
  expect(address).toMatch(/^\/read\?state=error&amp;cause=/);
  const path = address.replaceAll('&amp;', '&');
  expect((await post(path, { back: '/' }, { cookie })).status).toBe(403);
  expect((await post(path, { back: '/' })).status).toBe(401);
  expect(watching.asked).toEqual([]);
  const form = { form_token: formToken, back: '/?state=error' };
  const { status, headers } = await post(path, form, { cookie });
  expect([status, headers.location]).toEqual([303, '/?state=error']);
  expect(watching.asked).toEqual(['read eu-0', 'read eu-1', 'read eu-2', 'read eu-3']);
  const after = (await ask('/?state=error', { headers: { cookie } })).text;
  expect(after).toContain('4 environments are read at the next turns.');
  const away = await post(
    '/environments/eu-0/read',
    { ...form, back: 'https://else.example/' },
    { cookie },
  );
  expect([away.status, away.headers.location]).toEqual([303, '/']);
});

it('the author and the subject of a commit are text', async () => {
  const { ask, watching } = await startPage([watchState({ name: 'eu', commit: COMMIT })]);
  const [author, subject] = ['<b>Eve\u202E', `<script>alert(1)</script>\u2066`];
  const committedAt = ago(60);
  watching.health = {
    ...watching.health,
    commit: COMMIT,
    commitInfos: new Map([[COMMIT, { author, subject, committedAt }]]),
  };
  for (const path of ['/', '/environments/eu']) {
    const { text } = await ask(path);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u{2066}');
    expect(text).toContain('&lt;b&gt;Eve\\u{202e}');
    expect(text).not.toMatch(/<script>|<b>Eve|[\u202A-\u202E\u2066-\u2069]/);
  }
});

it('serves every runbook, and none of another name', async () => {
  const { ask } = await startPage([watchState()]);
  for (const name of Object.keys(RUNBOOKS))
    expect((await ask(`/runbooks/${name}`)).status).toBe(200);
  expect((await ask('/runbooks/__proto__')).status).toBe(404);
});
