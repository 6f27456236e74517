import { PassThrough } from 'node:stream';

import { expect, it } from 'vitest';

import { serveCommand } from '../../../src/command/cli/commands/serve.ts';
import { call, good, statuses } from './emulator.ts';

/** `setpoint serve` with these flags, and what a test reads of it. */
async function serve(flags: object, read: (url: string) => Promise<void> = async () => {}) {
  const stopping = new AbortController();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let shown = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const url = new Promise<string>((resolve) => {
    stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
  });
  const ended = serveCommand(
    { port: '0', host: '127.0.0.1', ...flags },
    {
      env: {},
      stdin: () => stdin,
      stdout,
      stderr,
      signal: stopping.signal,
      abandon: new AbortController().signal,
    },
  );
  const started = await Promise.race([url, ended]);
  try {
    if (typeof started === 'string') await read(started);
  } finally {
    stopping.abort('SIGINT');
  }
  return { exit: await ended, shown };
}

it('prints that it keeps settings and sandboxes', async () => {
  const { exit, shown } = await serve({});
  expect(exit).toBe(0);
  expect(shown).toBe(
    'The embedded service is running. It keeps settings and sandboxes in memory and runs no agents. Press Ctrl-C to stop it.\n',
  );
});

it('hands every flag to the service', async () => {
  const flags = {
    startMs: '0',
    becomes: 'error',
    maxRunning: '1',
    emptyLists: '1',
    pageSize: '1',
    requireIds: true,
    runMs: '5',
    spec: ['one', 'two'],
    gitProvider: ['github=ghp_', 'gitlab@git.example.com=a=b'],
    dialect: 'app-server',
  };
  const { exit, shown } = await serve(flags, async (url) => {
    expect(await statuses(url)).toEqual([]);
    expect(await call(url, 'POST /sandboxes')).toMatchObject({ status: 500 });
    expect(await call(url, 'GET /app-conversations')).toMatchObject({ status: 422 });
    expect(await call(url, 'GET /settings')).toMatchObject({
      body: { error: 'Settings not found' },
    });
    expect(await good(url, 'GET /sandbox-specs/search')).toMatchObject({
      items: [{ id: 'one' }],
      next_page_id: '1',
    });
  });
  expect([exit, shown]).toEqual([0, expect.stringContaining('Ctrl-C')]);
  await serve({ startMs: '0', becomes: 'error' }, async (url) => {
    expect(await good(url, 'POST /sandboxes')).toMatchObject({ status: 'ERROR' });
  });
});

it.each([
  [{ startMs: 'soon' }, '--start-ms takes a whole number of milliseconds from 0 to 999999999.'],
  [{ startMs: '-1' }, '--start-ms takes'],
  [{ runMs: '1.5' }, '--run-ms takes a whole number of milliseconds'],
  [{ becomes: 'runing' }, '--becomes takes one of running, flapping, starting, error, missing.'],
  [{ maxRunning: '0' }, '--max-running takes a whole number from 1 to'],
  [{ emptyLists: '' }, '--empty-lists takes a whole number from 0 to'],
  [{ pageSize: '101' }, '--page-size takes a whole number from 1 to 100.'],
  [{ dialect: 'v2' }, '--dialect takes one of settings-v0, app-server, agent-server.'],
  [{ spec: [''] }, '--spec takes the id of a sandbox spec.'],
  [
    { gitProvider: ['gitea@git.example.com=x'] },
    '--git-provider takes a name, its host, and a text',
  ],
  [{ gitProvider: ['github'] }, 'The names are github, gitlab, bitbucket, bitbucket_data_center'],
  [{ gitProvider: ['forgejo=good'] }, "The embedded service's gitProviders is not a list of"],
])('%j is a usage error that names the flag', async (flags, sentence) => {
  const { exit, shown } = await serve(flags);
  expect(shown).toContain(sentence);
  expect(exit).toBe(3);
});
