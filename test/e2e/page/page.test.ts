import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { servePage } from '../../../src/controller/page/serve-page.ts';
import {
  documentOf,
  elementsOf,
  named,
  attribute,
  ofClass,
  textOf,
} from '../../fixture/html-tree.ts';
import { Events, SetClock, startPage, TOKEN } from '../../fixture/page.ts';
import { everyState, fleet, someHistory, longWatched } from '../../fixture/watched-fleet.ts';
import { ago, MadeUpWatching, watchState } from '../../fixture/watching.ts';
import { setpoint } from '../../fixture/command.ts';
import { change, environment, outcome } from '../../fixture/documents.ts';
import { itEach } from '../../fixture/long.ts';
import { listSchemaErrors } from '../../fixture/published-schemas.ts';

const HTML = { accept: 'text/html' };
const BEARER = { authorization: `Bearer ${TOKEN}` };
const near = () => startPage(everyState());
/** As behind a proxy: whoever reaches it may be anywhere. */
const far = () => startPage(everyState(), { publicOrigin: 'https://setpoint.example.com' });

describe('the list', () => {
  it('has every environment with its state in words, the worst first', async () => {
    const { ask } = await near();
    const { status, text } = await ask('/');
    expect(status).toBe(200);
    const rows = elementsOf(documentOf(text), named('tr')).slice(1).map(textOf);
    expect(rows).toHaveLength(11);
    expect(rows[0]).toMatch(/eu-production[^]*✗ failed/);
    for (const words of [
      'refused',
      'conflict',
      'drift',
      'pending edits',
      'could not be compared',
      'not read yet',
      'suspended',
      'in sync',
      'healing stopped',
      'held elsewhere',
    ])
      expect(rows.join('\n')).toContain(words);
  });

  it('is searched, filtered and paged without scripts', async () => {
    const { ask } = await startPage(fleet(250));
    const second = await ask('/?state=any&page=2');
    expect(elementsOf(documentOf(second.text), named('tr'))).toHaveLength(101);
    expect(second.text).toContain('href="/?state=any&amp;page=3"');
    const found = await ask('/?q=team-0005&state=drift');
    expect(elementsOf(documentOf(found.text), named('tr'))).toHaveLength(2);
    const none = await ask('/?q=%3Cscript%3Ealert(1)%3C/script%3E');
    expect(none.text).toContain('No environment matches.');
    expect(none.text).not.toContain('<script>alert');
  });

  it('says that there is nothing yet', async () => {
    const { ask } = await startPage([]);
    expect((await ask('/')).text).toContain('No environments yet.');
  });
});

describe('setpoint status --server', () => {
  const status = (url: string, token: string, ...flags: readonly string[]) =>
    setpoint(['status', '--server', url, ...flags], {
      cwd: '.',
      env: { SETPOINT_WATCH_TOKEN: token },
    });

  it('lists the same for who has the token, the worst first, and shows no secret of it', async () => {
    const {
      page: { url },
    } = await far();
    const listed = await status(url, TOKEN, '-o', 'json');
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    const document = JSON.parse(listed.stdout) as { environments: { name: string }[] };
    expect(listSchemaErrors('watched', document)).toEqual([]);
    expect(document.environments).toHaveLength(11);
    const text = await status(url, TOKEN, 'attention', '--exit-code');
    expect(text.code).toBe(2);
    expect(text.stdout).toMatch(/^ENVIRONMENT[^\n]*\neu-production +✗ failed/);
    const wrong = await status(url, 'canary-token-of-many-characters');
    expect(wrong.code).toBe(4);
    expect(wrong.stderr).toContain('refuses the token.');
    expect(wrong.stdout + wrong.stderr).not.toContain('canary');
    const clear = await status('http://setpoint.example.com', TOKEN);
    expect(clear.code).toBe(3);
    expect(clear.stderr).toContain('in clear text');
  });
});

describe('the page of an environment', () => {
  it('has links to commits if it is known where a browser shows them', async () => {
    const { ask, watching } = await near();
    someHistory(watching);
    const { commits } = watching.health;
    const page = async (commit: string): Promise<string> => {
      watching.put(watchState({ name: 'canary', commit }));
      return (await ask('/environments/canary')).text;
    };
    const known = await page('a'.repeat(40));
    expect(known).toContain(
      `<a href="${commits}${'a'.repeat(40)}" rel="noreferrer noopener"><code`,
    );
    expect(known).toContain(`<a href="${commits}0123456789abcdef`);
    expect(await page('main"><script>')).not.toContain(`${commits}main`);
    watching.health = { ...watching.health, commits: null };
    const unknown = await page('a'.repeat(40));
    expect(unknown).toContain(`commit <code title="${'a'.repeat(40)}"`);
    expect(unknown).not.toContain('git.example');
  });

  it('has what the last read found, masked, the history and the commit', async () => {
    const { ask, watching } = await near();
    someHistory(watching);
    const { text } = await ask('/environments/canary');
    for (const words of [
      '(sensitive)',
      'llm_api_key',
      'Migration',
      'octocat',
      '<code title="0123456789abcdef',
      'href="https://github.com/example/settings/actions/runs/7"',
      'notified',
    ])
      expect(text).toContain(words);
  });

  it('has the differences in a table: path, file, service', async () => {
    const { ask } = await near();
    const tree = documentOf((await ask('/environments/staging')).text);
    const [table] = elementsOf(tree, ofClass('differences'));
    expect(table?.tagName).toBe('table');
    const cells = (tag: string) =>
      elementsOf(table ?? tree, named(tag)).map((one) =>
        textOf(one).replaceAll(/\s+/g, ' ').trim(),
      );
    expect(cells('th')).toEqual([
      'Path',
      'In the file',
      'On the service',
      expect.stringMatching(/^language drift ?settings\.yaml:\d+:\d+$/),
      expect.stringMatching(/^agent conflict/),
      expect.stringMatching(/^max_iterations pending/),
    ]);
    expect(cells('td')).toEqual(['"en"', '"fr"', '"en"', '"fr"', '2', '1']);
    const scopes = elementsOf(table ?? tree, named('th')).map((one) => attribute(one, 'scope'));
    expect(scopes).toEqual(['col', 'col', 'col', 'row', 'row', 'row']);
  });

  it('has links from its reads to the records of the history that they follow from', async () => {
    const { ask, watching } = await near();
    someHistory(watching);
    const marks = (['in-sync', 'drift', 'drift'] as const).map((status, index) => ({
      at: ago(52 - index * 5),
      status,
    }));
    watching.put(longWatched({ name: 'canary', status: 'drift', reads: marks }));
    const tree = documentOf((await ask('/environments/canary')).text);
    const [strip] = elementsOf(tree, ofClass('reads'));
    const links = elementsOf(strip ?? tree, named('a')).map((one) => attribute(one, 'href') ?? '');
    expect(links).toHaveLength(1);
    const [record] = elementsOf(tree, (one) => attribute(one, 'id') === links[0]?.slice(1));
    expect(textOf(record ?? tree)).toContain('2026-03-01 11:13:00 UTC');
  });

  it('shows what has begun only until it is known how it ended', async () => {
    const { ask, watching } = await near();
    const named = { environment: 'canary' } as const;
    const labels = async () => {
      const { text } = await ask('/environments/canary');
      const rows = text.slice(text.indexOf('id="history"'));
      return [...rows.matchAll(/<span class="chip \w+">([^<]+)<\/span><\/p>\n<div>/g)].map(
        ([, label]) => label,
      );
    };
    watching.record({ kind: 'writing', ...named, paths: ['language'], commit: null });
    const notice = {
      kind: 'notice',
      ...named,
      event: 'opened',
      receiver: 'chat',
      digest: 'd',
    } as const;
    watching.record({ ...notice, result: 'begun' });
    watching.record({ kind: 'clock-set', ...named, by: -90_000 });
    expect(await labels()).toEqual(['! clock set', '? perhaps notified', '→ writing']);
    watching.record({ ...notice, result: 'sent' });
    watching.record({
      kind: 'write',
      ...named,
      by: 'watch',
      commit: null,
      actor: null,
      url: null,
      outcome: outcome({ name: 'canary' }),
    });
    expect(await labels()).toEqual(['✓ applied', '✉ notified', '! clock set']);
  });

  it('says that heals fail, since when and why, as the API does', async () => {
    const { ask } = await near();
    const { text } = await ask('/environments/canary');
    expect(textOf(documentOf(text))).toMatch(
      /The service refuses what healing writes, 3 times in a row since .*: The service refuses these settings: llm_model\./,
    );
    const document = JSON.parse((await ask('/api/environments/canary')).text) as {
      environments: { healing_failed: unknown }[];
    };
    expect(document.environments[0]?.healing_failed).toMatchObject({
      times: 3,
      refused: true,
      code: 'settings-refused',
      message: 'The service refuses these settings: llm_model.',
    });
    expect((await ask('/environments/demo')).text).not.toContain('in a row since');
  });

  it('links runs on the web alone', async () => {
    const { ask, watching } = await near();
    someHistory(watching);
    watching.health = { ...watching.health, commits: null };
    const [write] = watching.records.filter(({ kind }) => kind === 'write');
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'https://user:secret@example.com/',
      'file:///etc/passwd',
    ])
      if (write?.kind === 'write') watching.record({ ...write, url });
    const links = elementsOf(documentOf((await ask('/environments/canary')).text), named('a')).map(
      (link) => attribute(link, 'href') ?? '',
    );
    expect(links.filter((href) => !href.startsWith('/') && !href.startsWith('#'))).toEqual([
      'https://agents.example.com/',
      'https://github.com/example/settings/actions/runs/7',
    ]);
  });

  it.each([
    '/environments/nobody',
    '/environments/..%2f..%2fetc',
    '/api/environments/nobody',
    '/badge/nobody.svg',
    '/badge/canary',
    '/nothing',
    '/assets/__proto__',
    '/metrics',
  ])('%s is not there', async (path) => {
    const { ask, failures } = await near();
    expect((await ask(path)).status).toBe(404);
    expect(failures).toEqual([]);
  });
});

describe('for programs', () => {
  it('/api/environments fits its schema, the worst first, filtered as the list is', async () => {
    const { ask } = await near();
    const all = JSON.parse((await ask('/api/environments')).text) as {
      environments: { name: string }[];
    };
    expect(listSchemaErrors('watched', all)).toEqual([]);
    expect(all.environments.map(({ name }) => name)).toHaveLength(11);
    const some = JSON.parse((await ask('/api/environments?state=drift')).text) as typeof all;
    expect(some.environments.map(({ name }) => name)).toEqual(['demo', 'canary']);
  });

  it.each(everyState().map(({ name }) => name))(
    '/api/environments/%s fits its schema, its plan that of plans',
    async (name) => {
      const { ask, watching } = await near();
      someHistory(watching);
      const document = JSON.parse((await ask(`/api/environments/${name}`)).text) as {
        environments: { plan: unknown; history: unknown[] }[];
      };
      expect(listSchemaErrors('watched', document)).toEqual([]);
      const plan = document.environments[0]?.plan ?? null;
      expect(plan === null ? [] : listSchemaErrors('plan#/$defs/environment', plan)).toEqual([]);
      expect(document.environments[0]?.history).toHaveLength(name === 'canary' ? 6 : 0);
    },
  );

  it('a badge says the state in words', async () => {
    const { ask } = await near();
    const { headers, text } = await ask('/badge/canary.svg');
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(text).toContain('aria-label="canary: drift"');
  });

  it.each([
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2', 'open'],
    ['*/*', 'older'],
  ])('metrics are those that are handed in, in a format for %s', async (accept, format) => {
    const metrics = async (form: {
      readonly inOpenMetrics: boolean;
      readonly perEnvironment: boolean;
    }) => {
      const used = form.inOpenMetrics ? 'open' : 'older';
      return { type: `text/${used}`, text: form.perEnvironment ? 'up 1\n' : 'totals 1\n' };
    };
    const { ask } = await startPage([], { metrics });
    const { headers, text } = await ask('/metrics', { headers: { accept } });
    expect([headers['content-type'], headers['vary'], text]).toEqual([
      `text/${format}`,
      'Accept',
      'up 1\n',
    ]);
    expect((await ask('/metrics?environments=false')).text).toBe('totals 1\n');
  });
});

describe('health', () => {
  it('/healthz is well while the loop turns within three intervals', async () => {
    const { ask, clock, watching } = await far();
    clock.pass(3 * watching.health.turnsEvery);
    expect(await ask('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
    clock.pass(1);
    expect((await ask('/healthz')).status).toBe(503);
  });

  it('/readyz is well as long as the page is served, whatever is wrong with the controller', async () => {
    const { ask, watching } = await far();
    watching.health = { ...watching.health, ready: false };
    watching.conditions.set('journal', 'The journal in data cannot be written (ENOSPC).');
    for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).toBe(200);
  });

  it('needs no login and no name, and gives none', async () => {
    const { ask } = await far();
    for (const path of ['/healthz', '/readyz']) {
      const { status, text } = await ask(path, { headers: { host: '10.1.2.3:8080' } });
      expect([status, text]).toEqual([200, 'ok\n']);
    }
  });
});

describe('every answer', () => {
  it.each([
    '/',
    '/environments/canary',
    '/api/environments',
    '/badge/canary.svg',
    '/healthz',
    '/login',
    '/nothing',
    '/assets/page.js',
    '/events',
  ])('%s has the headers that keep other sites out', async (path) => {
    const { page } = await near();
    const abort = new AbortController();
    const { headers } = await fetch(page.url + path, { signal: abort.signal });
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toBe(
      path.startsWith('/assets') ? 'public, max-age=31536000, immutable' : 'no-store',
    );
    abort.abort();
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
    '%s is not a method of it',
    async (method) => {
      const { ask } = await near();
      expect((await ask('/', { method })).status).toBe(405);
    },
  );

  it('a defect shows nothing of itself, and is reported', async () => {
    const { ask, watching, failures } = await near();
    watching.history = async () => {
      throw new Error('a secret text');
    };
    const { status, text } = await ask('/environments/canary');
    expect(status).toBe(500);
    expect(text).not.toContain('a secret text');
    expect(failures.map(({ code }) => code)).toEqual(['internal']);
  });
});

describe('on loopback', () => {
  it('the cookie of a session has the name of the port that a browser asks', async () => {
    const { page, post, ask } = await near();
    const named = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      ((await post('/login', { token: TOKEN }, headers)).headers['set-cookie']?.[0] ?? '').split(
        '=',
      )[0] ?? '';
    expect(await named({})).toBe(`setpoint-${new URL(page.url).port}`);
    expect(await named({ host: 'localhost:9000' })).toBe('setpoint-9000');
    const { headers } = await post('/login', { token: TOKEN });
    const cookie = (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
    expect((await ask('/', { headers: { cookie } })).text).toContain('Log out');
    const elsewhere = { cookie: cookie.replace(/^setpoint-\d+/, 'setpoint-1') };
    expect((await ask('/', { headers: elsewhere })).text).not.toContain('Log out');
  });

  it.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.0.2.1',
    'localhost@evil.example',
    'localhost/evil',
    '[::2]',
  ])('the name "%s" is not answered', async (host) => {
    const { ask } = await near();
    for (const path of ['/', '/api/environments', '/assets/page.js', '/events'])
      expect([400, 421]).toContain((await ask(path, { headers: { host } })).status);
  });

  it.each(['localhost', 'localhost:1234', '127.0.0.1', '127.9.9.9:80', '[::1]:8080'])(
    'the name %s is',
    async (host) => {
      const { ask } = await near();
      expect((await ask('/', { headers: { host } })).status).toBe(200);
    },
  );
});

describe('off loopback', () => {
  it.each([
    '/',
    '/environments/canary',
    '/api/environments',
    '/api/environments/canary',
    '/badge/canary.svg',
    '/events',
    '/metrics',
    '/nothing',
  ])('%s takes a login', async (path) => {
    const { ask } = await far();
    expect((await ask(path)).status).toBe(401);
    const { status, headers, text } = await ask(path, { headers: HTML });
    expect(status).toBe(303);
    expect(headers.location).toBe(`/login?next=${encodeURIComponent(path)}`);
    expect(text).not.toContain('canary');
  });

  it('a person logs in by a form, and comes back to where it was', async () => {
    const { post, ask } = await far();
    const { status, headers } = await post('/login', {
      token: TOKEN,
      next: '/environments/canary',
    });
    expect([status, headers.location]).toEqual([303, '/environments/canary']);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(
      /^__Host-setpoint=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await ask('/', { headers: { cookie: cookie.split(';')[0] ?? '' } })).status).toBe(200);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '\t//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/..//evil.example/x',
    '/..//here.invalid//evil.example/x',
    '/x/..//evil.example',
    '/.//evil.example',
    '/%2e%2e//evil.example',
    '/%2E/%2e%2e/.//evil.example',
    '/..\\\\evil.example',
    '\\\\evil.example',
    '/..//\tevil.example',
    '/..//user@evil.example:80/',
    'http:/..//evil.example',
    'http://here.invalid//evil.example',
    '//[',
    '/login',
    '/login?next=/login',
    '/login/',
    '/x/../login',
  ])('and never to %j', async (next) => {
    const { post, ask } = await far();
    expect((await post('/login', { token: TOKEN, next })).headers.location).toBe('/');
    const { text } = await ask(`/login?next=${encodeURIComponent(next)}`);
    expect(text).toContain('name="next" value="/"');
  });

  itEach([false, true], (isEach) => !isEach)(
    'wherever next leads, it is on this page (each end with each way: %s)',
    async (isEach) => {
      const { post, page } = await far();
      const pieces = ['/', '//', '\\', '..', '.', '%2e', '%2f', '%5c', '\t', '\r\n', '\0', 'http:'];
      const ends = ['evil.example', '@evil.example', '%00', '?q=//evil.example', '#//evil.example'];
      const made = pieces.flatMap((one, row) =>
        pieces.flatMap((two, column) =>
          ends
            .filter((_, index) => isEach || index === (row + column) % ends.length)
            .map((end) => `/${one}${two}${one}${end}`),
        ),
      );
      for (const next of made) {
        const { headers } = await post('/login', { token: TOKEN, next });
        const { host, protocol } = new URL(headers.location ?? 'none:', page.url);
        expect(`${protocol}//${host}`, JSON.stringify(next)).toBe(page.url);
      }
    },
  );

  it('a tool sends the token', async () => {
    const { ask } = await far();
    expect((await ask('/api/environments', { headers: BEARER })).status).toBe(200);
    for (const authorization of ['Bearer wrong', 'Bearer', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`])
      expect((await ask('/api/environments', { headers: { authorization } })).status).toBe(401);
  });

  it('guesses are throttled by address, and a session goes on', async () => {
    const { ask, logIn, post, clock } = await far();
    const { cookie } = await logIn();
    const from = (address: string) => ({ 'x-forwarded-for': `spoofed, ${address}` });
    for (let count = 0; count < 10; count++)
      expect((await post('/login', { token: 'wrong' }, from('192.0.2.1'))).status).toBe(401);
    const refused = await post('/login', { token: 'wrong' }, from('192.0.2.1'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const wrong = { authorization: 'Bearer wrong' };
    expect((await ask('/', { headers: { ...wrong, ...from('192.0.2.1') } })).status).toBe(429);
    expect((await post('/login', { token: 'wrong' }, from('192.0.2.2'))).status).toBe(401);
    expect((await ask('/', { headers: { cookie } })).status).toBe(200);
    clock.pass(60_000);
    expect((await post('/login', { token: 'wrong' }, from('192.0.2.1'))).status).toBe(401);
  });

  it('the right token is taken, whatever others have tried, from the same address too', async () => {
    const { ask, post } = await far();
    const from = (address: string) => ({ 'x-forwarded-for': address });
    for (let count = 0; count < 220; count++)
      await post('/login', { token: 'wrong' }, from(`192.0.2.${count % 20}`));
    for (const address of ['192.0.2.1', '198.51.100.7']) {
      expect((await post('/login', { token: TOKEN }, from(address))).status).toBe(303);
      const headers = { ...BEARER, ...from(address) };
      expect((await ask('/api/environments', { headers })).status).toBe(200);
    }
    const wrong = { authorization: 'Bearer wrong', ...from('198.51.100.8') };
    expect((await ask('/', { headers: wrong })).status).toBe(401);
  });

  it('what a proxy with its own login passes on is no wrong token', async () => {
    for (const start of [near, far]) {
      const { ask, post, logIn } = await start();
      for (const authorization of ['Basic dXNlcjpwYXNz', 'Digest a="b"', 'Negotiate abc', '']) {
        for (let count = 0; count < 15; count++)
          expect((await ask('/login', { headers: { authorization } })).status).toBe(200);
        expect((await post('/login', { token: TOKEN }, { authorization })).status).toBe(303);
        const { cookie, formToken } = await logIn();
        expect((await ask('/', { headers: { cookie, authorization } })).status).toBe(200);
        const form = { form_token: formToken };
        const sent = { cookie, authorization };
        expect((await post('/environments/canary/read', form, sent)).status).toBe(303);
      }
    }
  });

  it('a session ends by itself, and when somebody logs out', async () => {
    const { ask, logIn, post, clock } = await far();
    const { cookie } = await logIn();
    const other = await logIn();
    await post('/logout', {}, { cookie });
    expect((await ask('/', { headers: { cookie } })).status).toBe(401);
    clock.pass(12 * 3_600_000);
    expect((await ask('/', { headers: { cookie: other.cookie } })).status).toBe(401);
  });
});

const ACTIONS = ['read', 'plan', 'apply', 'suspend', 'resume'];

describe('an action', () => {
  it.each(ACTIONS)('%s: is not there without --allow-actions', async (action) => {
    const { ask, post, logIn, watching } = await startPage(everyState(), { allowActions: false });
    const { cookie, formToken } = await logIn();
    const path = `/environments/canary/${action}`;
    expect((await post(path, { form_token: formToken, reason: 'x' }, { cookie })).status).toBe(403);
    expect((await ask(path, { method: 'POST', headers: BEARER })).status).toBe(403);
    expect((await ask('/environments/canary', { headers: { cookie } })).text).not.toContain(
      'Actions',
    );
    expect(watching.asked).toEqual([]);
  });

  it.each(ACTIONS)('%s: takes the token on loopback, too', async (action) => {
    const { ask, post, watching } = await near();
    expect((await post(`/environments/canary/${action}`, { reason: 'x' })).status).toBe(401);
    expect((await ask('/environments/canary')).text).not.toContain('Actions');
    expect(watching.asked).toEqual([]);
  });

  it.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': '', origin: 'null' },
    { 'sec-fetch-site': '', origin: 'http://evil.example' },
    { 'sec-fetch-site': '' },
  ])('comes from the page itself, not with %j', async (headers) => {
    const { ask, logIn, watching } = await near();
    const { cookie, formToken } = await logIn();
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const { status } = await ask('/environments/canary/read', {
      method: 'POST',
      headers: { ...sent, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: `form_token=${formToken}`,
    });
    expect(status).toBe(403);
    const { authorization } = BEARER;
    if (Object.keys(sent).length > 0)
      expect(
        (
          await ask('/environments/canary/read', {
            method: 'POST',
            headers: { ...sent, authorization },
          })
        ).status,
      ).toBe(403);
    expect(watching.asked).toEqual([]);
  });

  it('comes from the page itself: a browser without Sec-Fetch-Site says so by its origin', async () => {
    const { ask, page, logIn, watching } = await near();
    const { cookie, formToken } = await logIn();
    const headers = {
      cookie,
      origin: page.url,
      'content-type': 'application/x-www-form-urlencoded',
    };
    await ask('/environments/canary/read', {
      method: 'POST',
      headers,
      body: `form_token=${formToken}`,
    });
    expect(watching.asked).toEqual(['read canary']);
  });

  it('has the token of its own session', async () => {
    const { post, logIn, watching } = await near();
    const mine = await logIn();
    const other = await logIn();
    for (const form of [{}, { form_token: '' }, { form_token: other.formToken }])
      expect((await post('/environments/canary/read', form, { cookie: mine.cookie })).status).toBe(
        403,
      );
    expect(watching.asked).toEqual([]);
  });

  it('reads, suspends and resumes, and says so once', async () => {
    const { ask, post, logIn, watching, clock } = await near();
    const { cookie, formToken } = await logIn();
    const act = (action: string, form = {}) =>
      post(`/environments/canary/${action}`, { form_token: formToken, ...form }, { cookie });
    const { status, headers } = await act('read');
    expect([status, headers.location]).toEqual([303, '/environments/canary']);
    const page = () => ask('/environments/canary', { headers: { cookie } });
    expect((await page()).text).toContain('canary is read at the next turn.');
    expect((await page()).text).not.toContain('canary is read at the next turn.');
    await act('suspend', { reason: ' Load test ', hours: '8' });
    expect((await page()).text).toContain('Load test');
    await act('resume');
    await act('suspend', { reason: 'For good', hours: '' });
    const until = new Date(clock.now() + 8 * 3_600_000).toISOString();
    expect(watching.asked).toEqual([
      'read canary',
      `suspend canary: Load test, ${until}`,
      'resume canary',
      'suspend canary: For good, for good',
    ]);
  });

  it.each([
    { reason: '' },
    { reason: '  ' },
    { reason: 'x'.repeat(501) },
    { reason: 'x', hours: '-1' },
    { reason: 'x', hours: 'Infinity' },
    { reason: 'x', hours: '99999999' },
  ])('suspend with %j is refused', async (form) => {
    const { post, logIn, watching } = await near();
    const { cookie, formToken } = await logIn();
    const { status, text } = await post(
      '/environments/canary/suspend',
      { form_token: formToken, ...form },
      { cookie },
    );
    expect(status).toBe(400);
    expect(text).toContain('Back to canary');
    expect(watching.asked).toEqual([]);
  });

  it('resume says so where nothing is suspended', async () => {
    const { ask, watching } = await startPage([watchState({ name: 'canary' })]);
    const resume = { method: 'POST', headers: BEARER };
    const { status, text } = await ask('/environments/canary/resume', resume);
    expect([status, text]).toEqual([200, expect.stringContaining('not suspended')]);
    expect(watching.asked).toEqual([]);
  });

  it('of a tool answers as JSON', async () => {
    const { ask, watching } = await near();
    const { status, text } = await ask('/environments/canary/read', {
      method: 'POST',
      headers: BEARER,
    });
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { message: 'canary is read at the next turn.' },
    ]);
    expect(watching.asked).toEqual(['read canary']);
  });

  it.each(['', 'Content-Length: 0\r\n'])('needs no body: %j', async (header) => {
    const { page, watching } = await near();
    const head = `POST /environments/canary/plan HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n${header}`;
    expect(await rawly(page.url, `${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(watching.asked).toEqual(['plan canary']);
  });

  it('that fails says why, and what to do', async () => {
    const { post, logIn, watching, failures } = await near();
    watching.readNow = async () => {
      throw new SetpointError('contended', 'Somebody else writes.');
    };
    const { cookie, formToken } = await logIn();
    const { status, text } = await post(
      '/environments/canary/read',
      { form_token: formToken },
      { cookie },
    );
    expect(status).toBe(409);
    expect(text).toContain('Somebody else writes.');
    expect(failures).toEqual([]);
  });
});

describe('apply now', () => {
  const digestIn = (text: string) => /name="digest" value="([^"]+)"/.exec(text)?.[1] ?? '';

  it('shows the plan and asks, and applies what was shown', async () => {
    const { ask, post, logIn, watching } = await near();
    const { cookie, formToken } = await logIn();
    const plan = await post('/environments/canary/plan', { form_token: formToken }, { cookie });
    expect(plan.text).toContain('Apply 1 change to canary now?');
    expect(watching.asked).toEqual(['plan canary']);
    const form = { form_token: formToken, digest: digestIn(plan.text) };
    const { status } = await post('/environments/canary/apply', form, { cookie });
    expect(status).toBe(303);
    expect(watching.asked).toEqual(['plan canary', 'plan canary', 'apply canary: language']);
    expect((await ask('/environments/canary', { headers: { cookie } })).text).toContain(
      'Applied 1 change.',
    );
  });

  it('writes nothing if the plan has changed since, and shows the one of now', async () => {
    const { post, logIn, watching } = await near();
    const { cookie, formToken } = await logIn();
    const plan = await post('/environments/canary/plan', { form_token: formToken }, { cookie });
    watching.plan = (name) => environment({ name, changes: [change({ after: 'de' })] });
    const form = { form_token: formToken, digest: digestIn(plan.text) };
    const { status, text } = await post('/environments/canary/apply', form, { cookie });
    expect(status).toBe(409);
    expect(text).toContain('the plan has changed since you saw it');
    expect(watching.asked.filter((asked) => asked.startsWith('apply'))).toEqual([]);
    const again = { form_token: formToken, digest: digestIn(text) };
    expect((await post('/environments/canary/apply', again, { cookie })).status).toBe(303);
  });

  it.each([
    ['nothing to do', environment({ name: 'canary' })],
    [
      'a refusal',
      environment({
        name: 'canary',
        changes: [change()],
        refusals: [{ rule: 'max-changes', message: 'Too many.', hint: 'h', path: [] }],
      }),
    ],
    [
      'an error',
      environment({ name: 'canary', error: { code: 'unreachable', message: 'm', hint: 'h' } }),
    ],
  ])('does not ask with %s', async (_, plan) => {
    const { post, logIn, watching } = await near();
    watching.plan = () => plan;
    const { cookie, formToken } = await logIn();
    const { text } = await post('/environments/canary/plan', { form_token: formToken }, { cookie });
    expect(text).not.toContain('name="digest"');
    await post('/environments/canary/apply', { form_token: formToken, digest: '' }, { cookie });
    expect(watching.asked).toEqual(['plan canary', 'plan canary']);
  });
});

describe('events', () => {
  it.each([near, far])('end with the session of their reader', async (start) => {
    const { open, post, logIn, clock, watching } = await start();
    const stream = async (cookie: string): Promise<Events> => {
      const events = new Events();
      open('/events', { headers: { cookie } }, (response) => events.take(response));
      await events.until(({ all }) => all.length > 0);
      return events;
    };
    const [one, other] = [await logIn(), await logIn()];
    const [mine, others] = [await stream(one.cookie), await stream(other.cookie)];
    await post('/logout', {}, { cookie: one.cookie });
    await mine.until(({ ended }) => ended);
    watching.set('sandbox', { status: 'drift' });
    await others.until(({ all }) => all.length > 1);
    expect(mine.all).toHaveLength(1);
    clock.pass(12 * 3_600_000);
    watching.set('sandbox', { status: 'error' });
    await others.until(({ ended }) => ended);
    expect(others.all).toHaveLength(2);
  });

  it('a session that ends while they begin gets none', async () => {
    const { ask, post, logIn, watching } = await far();
    const { cookie } = await logIn();
    const history = watching.history.bind(watching);
    watching.history = async (name) => {
      await post('/logout', {}, { cookie });
      return history(name);
    };
    const { status, text } = await ask('/events?environment=canary', { headers: { cookie } });
    expect([status, text]).toEqual([204, '']);
  });

  it('HEAD ends at once and holds no stream', async () => {
    const { ask, page } = await near();
    for (let count = 0; count < 120; count++) {
      const { status, headers } = await ask('/events', { method: 'HEAD' });
      expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    }
    const abort = new AbortController();
    expect((await fetch(`${page.url}/events`, { signal: abort.signal })).status).toBe(200);
    abort.abort();
  });

  it('bring a row from what the reader has to what is now', async () => {
    const { ask, open, watching } = await near();
    const version = /data-version="([^"]+)"/.exec((await ask('/')).text)?.[1] ?? '';
    const events = new Events();
    const request = open(`/events?version=${version}`, {}, (response) => events.take(response));
    await new Promise((resolve) => request.once('response', resolve));
    watching.set('sandbox', { status: 'error', found: 'error' });
    await events.until(({ all }) => all.length > 0);
    const { parts = {}, order } = events.all[0] ?? {};
    const row = Object.values(parts).find((html) => html.includes('data-name="sandbox"'));
    expect(row).toContain('✗ failed');
    expect(order).toHaveLength(11);
    expect(Object.keys(parts).filter((id) => id.startsWith('e-'))).toHaveLength(1);
    request.destroy();
  });

  it('bring what nobody has announced, with the next one', async () => {
    const { open, watching } = await near();
    const events = new Events();
    const request = open('/events', {}, (response) => events.take(response));
    await events.until(({ all }) => all.length > 0);
    watching.setSilently('research', { nextRead: '2026-03-01T12:34:56.000Z' });
    watching.remove('sandbox');
    watching.set('canary', {});
    await events.until(({ all }) => all.length > 1);
    expect(JSON.stringify(events.all[1]?.parts)).toContain('12:34:56');
    expect(events.all[1]?.order).toHaveLength(10);
    request.destroy();
  });

  it('bring everything to a reader who missed something, and nothing to one who did not', async () => {
    const { ask, open, watching } = await near();
    const version = /data-version="([^"]+)"/.exec((await ask('/')).text)?.[1] ?? '';
    watching.set('sandbox', { status: 'error' });
    const late = new Events();
    const one = open(`/events?version=${version}`, {}, (response) => late.take(response));
    await late.until(({ all }) => all.length > 0);
    expect(Object.keys(late.all[0]?.parts ?? {}).filter((id) => id.startsWith('e-'))).toHaveLength(
      11,
    );
    const again = new Events();
    const headers = { 'last-event-id': late.all[0]?.id ?? '' };
    const two = open('/events', { headers }, (response) => again.take(response));
    await new Promise((resolve) => two.once('response', resolve));
    watching.set('research', { status: 'drift' });
    await again.until(({ all }) => all.length > 0);
    expect(Object.keys(again.all[0]?.parts ?? {}).filter((id) => id.startsWith('e-'))).toHaveLength(
      1,
    );
    one.destroy();
    two.destroy();
  });

  it('of one environment bring its sections', async () => {
    const { open, watching } = await near();
    const events = new Events();
    const request = open('/events?environment=canary', {}, (response) => events.take(response));
    await events.until(({ all }) => all.length > 0);
    expect(Object.keys(events.all[0]?.parts ?? {})).toEqual([
      'controller',
      'state',
      'facts',
      'reads',
      'found',
      'history',
    ]);
    watching.set('research', { status: 'drift' });
    watching.record({ kind: 'suspended', environment: 'canary', reason: 'Migration', until: null });
    await events.until(({ all }) =>
      all.some(({ parts }) => parts['history']?.includes('Migration')),
    );
    request.destroy();
  });

  it('end when the environment is gone and when the page closes, and cost the controller one subscription', async () => {
    const { page, open, watching } = await near();
    const events = Array.from({ length: 5 }, () => new Events());
    for (const one of events)
      open('/events', {}, (response) => one.take(response)).on('error', () => {});
    for (const one of events) await one.until(({ all }) => all.length > 0);
    expect(watching.listeners).toBe(1);
    await page.close();
    for (const one of events) await one.until(({ ended }) => ended);
    expect(watching.listeners).toBe(0);
  });
});

describe('bounds', () => {
  it('a body of more than 16 KiB is refused, said or not said how long it is', async () => {
    const { ask, page } = await near();
    const headers = { 'sec-fetch-site': 'same-origin' };
    const body = 'x'.repeat(16 * 1024 + 1);
    expect((await ask('/login', { method: 'POST', headers, body })).status).toBe(413);
    const chunked = await rawly(
      page.url,
      `POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${'4000\r\n' + 'x'.repeat(0x4000) + '\r\n1\r\nx\r\n'}0\r\n\r\n`,
    );
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
    const endless = connect(Number(new URL(page.url).port), '127.0.0.1');
    endless.write(
      'POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    endless.on('error', () => {});
    const pour = setInterval(() => endless.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`), 5);
    await new Promise((resolve) => endless.on('close', resolve));
    clearInterval(pour);
  });

  it.each([
    ['a head', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
    [
      'a form',
      'POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 99\r\n\r\nt',
    ],
    ['nothing', ''],
  ])('%s that is sent a byte at a time, or not to its end, is cut off', async (_, begun) => {
    const { page } = await startPage([], {
      bounds: {
        headersTimeout: 300,
        requestTimeout: 600,
        keepAliveTimeout: 300,
        connectionsCheckingInterval: 50,
        silence: 1500,
      },
    });
    const socket = connect(Number(new URL(page.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(begun);
    const drip = begun === '' ? undefined : setInterval(() => socket.write('x'), 50);
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(drip);
    expect(answer).toMatch(/^$|^HTTP\/1\.1 4\d\d /);
  });

  it('a head of more than 8 KiB is refused', async () => {
    const { ask } = await near();
    expect((await ask(`/?q=${'x'.repeat(9000)}`)).status).toBe(431);
  });

  it.each([
    'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example',
    'GET //evil.example HTTP/1.1\r\nHost: localhost',
    'GET /%ff%00 HTTP/1.1\r\nHost: localhost',
    'GET /environments/%E0%A4%A HTTP/1.1\r\nHost: localhost',
    'GET / HTTP/1.1',
    'nonsense',
  ])('%s is answered with an error of the one who asks', async (head) => {
    const { page, failures } = await near();
    expect(await rawly(page.url, `${head}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 4\d\d /,
    );
    expect(failures).toEqual([]);
  });
});

function rawly(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('TLS', () => {
  const cert = (name: string) =>
    readFileSync(new URL(`../../faults/certs/${name}`, import.meta.url), 'utf8');

  it('serves by the certificate', async () => {
    const tls = { cert: cert('server.pem'), key: new Secret(cert('server.key')) };
    const { page, ask } = await startPage([longWatched()], { tls });
    expect(page.url).toMatch(/^https:/);
    expect((await ask('/')).text).toContain('production');
  });

  it('says that a certificate and a key do not fit', async () => {
    const options = {
      host: '127.0.0.1',
      port: 0,
      publicOrigin: null,
      token: null,
      allowActions: false,
      metrics: null,
      failed: () => {},
      clock: new SetClock(),
      tls: { cert: 'no certificate', key: new Secret('no key') },
    };
    const watching = new MadeUpWatching();
    await expect(servePage(watching, options)).rejects.toMatchObject({ code: 'usage' });
    expect(watching.listeners).toBe(0);
  });
});

it('says that a port is in use', async () => {
  const { page, watching } = await near();
  const port = Number(new URL(page.url).port);
  await expect(startPage([], { port })).rejects.toMatchObject({
    code: 'not-listening',
    exitCode: 1,
    message: `The page cannot be served on 127.0.0.1:${port}: the port is in use.`,
  });
  expect(watching.listeners).toBe(1);
});
