import { describe, expect, it } from 'vitest';
import { SuspensionFile } from '../../../src/controller/watch/suspension-file.ts';
import { startPage, TOKEN } from '../../fixture/page.ts';
import { startStore } from '../../fixture/store-server.ts';
import { fleet } from '../../fixture/watched-fleet.ts';
import {
  MINUTE,
  recordsOf,
  settingsFile,
  startWatching,
  watchFolder,
} from '../../fixture/watch-world.ts';

const BEARER = { authorization: `Bearer ${TOKEN}` };
const RING_0 = ['team-0000', 'team-0004', 'team-0008'];
const ASKED = '/suspend?q=ring%3D0&state=any';
const START = { q: 'ring=0', state: 'any' };

/** A page over twelve environments in four rings, and somebody who is logged in by a name. */
async function loggedIn(name = 'Ada Lovelace') {
  const started = await startPage(fleet(12));
  const { headers } = await started.post('/login', { token: TOKEN, name });
  const cookie = (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  const page = await started.ask(ASKED, { headers: { cookie } });
  const form = await formOfNow(started.ask, cookie);
  return { ...started, cookie, page, form };
}

describe('all environments of a list', () => {
  it('are named before they are suspended, with who does it, and resumed', async () => {
    const { page, form, post, cookie, watching, ask } = await loggedIn();
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Suspend or resume 3 environments</h1>');
    for (const name of RING_0) expect(page.text).toContain(`>${name}</a></li>`);
    expect(page.text).not.toContain('team-0001');
    expect(page.text).toContain('Ada Lovelace');
    const suspend = { ...form, reason: 'Move', hours: '' };
    const done = await post('/suspend', suspend, { cookie });
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Suspended 3 environ')]);
    expect(watching.asked).toEqual([
      `suspend ${RING_0.join(' ')}: Move, for good, by Ada Lovelace`,
    ]);
    const one = await ask('/environments/team-0004', { headers: { cookie } });
    expect(one.text).toContain('<b>Suspended</b> by Ada Lovelace since');
    const api = await ask('/api/environments/team-0004', { headers: BEARER });
    expect(JSON.parse(api.text)).toMatchObject({
      environments: [{ suspended: { reason: 'Move', by: 'Ada Lovelace' } }],
    });
    const resumed = await post('/resume', await formOfNow(ask, cookie), { cookie });
    expect(resumed.text).toContain('Resumed 3 environments.');
    expect(watching.asked.at(-1)).toBe(`resume ${RING_0.join(' ')}, by Ada Lovelace`);
  });

  it('are asked for again if others match by then', async () => {
    const { form, post, cookie, watching } = await loggedIn();
    watching.remove('team-0004');
    const again = await post('/suspend', { ...form, reason: 'x', hours: '' }, { cookie });
    expect(again.status).toBe(409);
    expect(again.text).toContain('the list has changed since you saw it');
    expect(again.text).toContain('Suspend or resume 2 environments');
    expect(watching.asked).toEqual([]);
  });

  it('are suspended by a program, which says who', async () => {
    const { ask, watching } = await startPage(fleet(12));
    const asked = (body: string, headers = BEARER) =>
      ask('/suspend', { method: 'POST', headers, body });
    const { status, text } = await asked('q=ring%3D0&reason=Move&hours=8&by=deploy+bot');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      message: 'Suspended 3 environments.',
      environments: RING_0,
    });
    expect(watching.asked[0]).toMatch(/^suspend team-0000 .*, by deploy bot$/);
    for (const by of ['x'.repeat(65), 'a\u202Eb', 'a%0Ab'])
      expect((await asked(`q=ring%3D1&reason=Move&hours=8&by=${by}`)).status).toBe(400);
    expect((await asked('q=ring%3D1&hours=8')).status).toBe(400);
    expect(watching.asked).toHaveLength(1);
  });
});

describe('nobody else suspends a list', () => {
  it('another site, a form of another session, who is not logged in', async () => {
    const { form, post, cookie, watching, ask } = await loggedIn();
    const suspend = { ...form, reason: 'x', hours: '' };
    const foreign = await post('/suspend', suspend, { cookie, 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    expect((await post('/suspend', { ...suspend, form_token: 'x' }, { cookie })).status).toBe(403);
    expect((await post('/resume', { ...suspend, form_token: 'x' }, { cookie })).status).toBe(403);
    expect((await post('/suspend', suspend)).status).toBe(401);
    expect((await ask('/suspend')).status).toBe(403);
    expect(watching.asked).toEqual([]);
  });

  it('anybody without --allow-actions', async () => {
    const { post, ask, watching, logIn } = await startPage(fleet(12), { allowActions: false });
    const { cookie } = await logIn();
    expect((await post('/suspend', START, { cookie })).status).toBe(403);
    expect((await ask('/suspend', { headers: { cookie } })).status).toBe(403);
    expect((await ask('/', { headers: { cookie } })).text).not.toContain('href="/suspend');
    expect(watching.asked).toEqual([]);
  });
});

it.each(['x'.repeat(65), 'a\u202Eb', 'a\nb'])('the login takes no name as %j', async (name) => {
  const { post } = await startPage(fleet(1));
  const { status, headers } = await post('/login', { token: TOKEN, name });
  expect([status, headers['set-cookie']]).toEqual([400, undefined]);
});

it('who did it is in the journal and the suspensions', async () => {
  const store = await startStore({}, { language: 'en' });
  const folder = watchFolder();
  settingsFile(
    folder,
    `version: 1\nserver: { url: "${store.url}", api_key: "\${env:SETPOINT_API_KEY}" }\nsettings: { language: en }\nenvironments: { a: {}, b: {}, c: {} }\n`,
  );
  const watching = startWatching({ folder });
  const { controller, data, clock } = watching;
  await watching.pass(2 * MINUTE);
  await controller.suspend(['a', 'b'], { reason: 'Move', until: null, by: 'Ada' });
  const others = new SuspensionFile(data);
  await others.refresh();
  expect(others.of('b', clock.now())).toMatchObject({ reason: 'Move', by: 'Ada' });
  expect(await controller.resume(['a', 'b', 'c'], 'Bob')).toEqual(['a', 'b']);
  await watching.stop();
  const suspended = recordsOf(data, 'suspended');
  expect(suspended.map(({ environment, by }) => [environment, by])).toEqual([
    ['a', 'Ada'],
    ['b', 'Ada'],
  ]);
  const resumed = recordsOf(data, 'resumed');
  expect(resumed.map(({ environment, by }) => [environment, by])).toEqual([
    ['a', 'Bob'],
    ['b', 'Bob'],
  ]);
  await store.close();
});

async function formOfNow(
  ask: Awaited<ReturnType<typeof startPage>>['ask'],
  cookie: string,
): Promise<Record<string, string>> {
  const { text } = await ask(ASKED, { headers: { cookie } });
  const hidden = (field: string) =>
    new RegExp(`name="${field}" value="([^"]+)"`).exec(text)?.[1] ?? '';
  return { ...START, form_token: hidden('form_token'), digest: hidden('digest') };
}
