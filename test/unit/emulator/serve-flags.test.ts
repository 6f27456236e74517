import { PassThrough } from 'node:stream';

import { expect, it } from 'vitest';

import { serveCommand } from '../../../src/command/cli/commands/serve.ts';

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
    { port: '0', ...flags },
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

it('hands its flags to the service', async () => {
  const { exit, shown } = await serve({ dialect: 'app-server', apiKey: 'k' }, async (url) => {
    expect((await fetch(`${url}/api/v1/settings`)).status).toBe(401);
    const headers = { 'x-session-api-key': 'k' };
    const settings = await fetch(`${url}/api/v1/settings`, { headers });
    expect(await settings.json()).toEqual({ error: 'Settings not found' });
  });
  expect([exit, shown]).toEqual([0, expect.stringContaining('Ctrl-C')]);
});

it.each([
  [{ dialect: 'v2' }, '--dialect takes one of settings-v0, app-server, agent-server.'],
  [{ port: '70000' }, '--port takes an address and a port.'],
])('%j is a usage error that names the flag', async (flags, sentence) => {
  const { exit, shown } = await serve(flags);
  expect(shown).toContain(sentence);
  expect(exit).toBe(3);
});
