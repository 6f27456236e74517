import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { credentialSource, credentialText } from '../../../src/command/cli/watch-page.ts';
import { listenOptions } from '../../../src/controller/page/listen-options.ts';
import { DiskAnswers } from '../../../src/reconciler/host/disk-answers.ts';
import { Events, startPage } from '../../fixture/page.ts';
import { aFolder } from '../../fixture/watch-command.ts';
import { until } from '../../fixture/until.ts';
import { watchState } from '../../fixture/watching.ts';

const FIRST = 'the-first-token-of-the-page';
const SECOND = 'the-second-token-of-the-page';

const certificate = (name: string): string =>
  readFileSync(new URL(`../../faults/certs/${name}`, import.meta.url), 'utf8');

/** A page whose certificate, key and token are in files that it reads again at once. */
async function startFollowing() {
  const folder = aFolder({
    'tls.crt': certificate('server.pem'),
    'tls.key': certificate('server.key'),
    token: `${FIRST}\n`,
  });
  const path = (name: string): string => join(folder, name);
  const flags = {
    listen: '127.0.0.1:0',
    tls: `${path('tls.crt')},${path('tls.key')}`,
    allowActions: true,
  };
  const env = { SETPOINT_WATCH_TOKEN_FILE: path('token') };
  const options = listenOptions(flags, env, credentialText);
  if (options === null) throw new Error('no --listen');
  const taken: string[] = [];
  const started = await startPage([watchState()], {
    ...options,
    source: credentialSource(flags, env, new DiskAnswers()),
    taken: (kind) => taken.push(kind),
    bounds: { look: 20 },
  });
  /** Replaces a file in one step, as whoever renews certificates does. */
  const replace = (name: string, text: string): void => {
    writeFileSync(path('aside'), text);
    renameSync(path('aside'), path(name));
  };
  const problems = (): readonly string[] =>
    started.watching.conditions.list().map(({ kind, message }) => `${kind}: ${message}`);
  return { ...started, taken, replace, problems, remove: (name: string) => rmSync(path(name)) };
}

/** A connection to a page; `names` are those of the certificate that it was shown. */
function connected(url: string): Promise<{ readonly socket: TLSSocket; readonly names: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
    const socket = connect(options, () =>
      resolve({ socket, names: socket.getPeerCertificate().subjectaltname ?? '' }),
    );
    socket.on('error', reject);
    onTestFinished(() => void socket.destroy());
  });
}

function asked(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
}

it('shows a new certificate to new connections, and cuts none', async () => {
  const { page, taken, replace, problems } = await startFollowing();
  const before = await connected(page.url);
  expect(before.names).not.toContain('other.example');
  expect(await asked(before.socket)).toMatch(/^HTTP\/1\.1 200/);
  replace('tls.crt', certificate('wrong-name.pem'));
  await until(() => taken.length > 0);
  expect(taken).toEqual(['certificate']);
  const after = await connected(page.url);
  expect(after.names).not.toBe(before.names);
  expect(await asked(before.socket)).toMatch(/^HTTP\/1\.1 200/);
  expect(await asked(after.socket)).toMatch(/^HTTP\/1\.1 200/);
  expect(problems()).toEqual([]);
});

const OTHER_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

it.each([
  ['a certificate that is none', 'tls.crt', 'not a certificate', /cannot be used/],
  ['an empty certificate', 'tls.crt', '', /cannot be used/],
  ['a key that is not its own', 'tls.key', OTHER_KEY, /cannot be used/],
  ['a certificate that is gone', 'tls.crt', null, /tls\.crt does not exist/],
])('keeps the certificate that it has, and says so: %s', async (_, name, text, words) => {
  const { page, watching, taken, replace, remove, problems } = await startFollowing();
  const before = await connected(page.url);
  if (text === null) remove(name);
  else replace(name, text);
  await until(() => problems().length > 0);
  const [said = ''] = problems();
  expect(said).toMatch(words);
  expect(said).toMatch(/^page: .* The page continues with the previous certificate\.$/);
  expect(said).not.toContain('PRIVATE');
  expect((await connected(page.url)).names).toBe(before.names);
  expect(watching.conditions.areSilencing).toBe(false);
  expect(taken).toEqual([]);

  replace(name, certificate(name === 'tls.crt' ? 'wrong-name.pem' : 'server.key'));
  await until(() => problems().length === 0);
});

it('takes a new token, with which the sessions and streams of the one before end', async () => {
  const { ask, open, post, taken, replace, problems } = await startFollowing();
  const { headers } = await post('/login', { token: FIRST });
  const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';');
  const bearer = { authorization: `Bearer ${FIRST}` };
  const streams = [new Events(), new Events()] as const;
  const opened = streams.map(
    (events, index) =>
      new Promise<void>((resolve) => {
        open('/events', { headers: index === 0 ? { cookie } : bearer }, (response) => {
          events.take(response);
          resolve();
        });
      }),
  );
  await Promise.all(opened);
  expect((await ask('/', { headers: { cookie, accept: 'text/html' } })).text).toContain('Log out');

  replace('token', 'short');
  await until(() => problems().length > 0);
  expect(problems()[0]).toMatch(/too short.* The page continues with the previous token\.$/);
  expect((await ask('/api/environments', { headers: bearer })).status).toBe(200);

  replace('token', `${SECOND}\n`);
  await until(() => taken.length > 0);
  expect(taken).toEqual(['token']);
  for (const events of streams) await events.until(({ ended }) => ended);
  expect((await ask('/api/environments', { headers: bearer })).status).toBe(401);
  const second = { authorization: `Bearer ${SECOND}` };
  expect((await ask('/api/environments', { headers: second })).status).toBe(200);
  const page = await ask('/', { headers: { cookie, accept: 'text/html' } });
  expect(page.text).not.toContain('Log out');
  expect(problems()).toEqual([]);
});

it('neither certificate nor token hinders the other', async () => {
  const { taken, replace, problems } = await startFollowing();
  replace('tls.crt', 'not a certificate');
  replace('token', SECOND);
  await until(() => taken.length > 0 && problems().length > 0);
  expect(taken).toEqual(['token']);
});
