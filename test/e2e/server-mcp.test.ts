import { afterEach, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { apply } from '../../src/operations/apply.ts';
import { request } from '../fixture/settings.ts';

const OWN = { url: 'https://corp.example.com/sse', api_key: 'the-server-s-own-key' };
const LET_GO = '["mcp_config.sse_servers[https://corp.example.com/sse]"]';

let service: Emulator;
afterEach(() => service.close());

async function start(stored: object): Promise<void> {
  service = await startEmulator({ apiKey: 'a-session-key', serverMcp: { sse_servers: [OWN] } });
  await send('POST', stored);
}

async function send(method: string, body?: object) {
  const response = await fetch(`${service.url}/api/settings`, {
    method,
    headers: { 'content-type': 'application/json', 'x-session-api-key': 'a-session-key' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as {
    language: string;
    mcp_config: { sse_servers: { url: string }[] };
  };
}

async function urls(): Promise<string[]> {
  return (await send('GET')).mcp_config.sse_servers.map(({ url }) => url);
}

const MINE =
  '  sandbox_api_key: null\n  mcp_config:\n    sse_servers: ["https://mine.example.com/sse"]\n';

it('an entry of the server that is unmanaged and doubles when it is written back is mended with one more write', async () => {
  await start({ language: 'en', mcp_config: { sse_servers: [] } });
  const outcome = await apply(request(service.url, MINE, { unmanaged: LET_GO }));
  expect(outcome.environments[0]).toMatchObject({ status: 'applied', requests: { post: 2 } });
  expect(await urls()).toEqual([OWN.url, 'https://mine.example.com/sse']);
  const again = await apply(request(service.url, MINE, { unmanaged: LET_GO }));
  expect(again.environments[0]).toMatchObject({ status: 'in-sync', requests: { post: 0 } });
});

it('in a list the file does not declare it does not double either', async () => {
  await start({
    language: 'en',
    mcp_config: { sse_servers: [{ url: 'https://theirs.example.com/sse', api_key: 'k' }] },
  });
  const outcome = await apply(request(service.url, '  language: fr\n  sandbox_api_key: null\n'));
  expect(outcome.environments[0]).toMatchObject({ status: 'applied' });
  expect(await urls()).toEqual([OWN.url, 'https://theirs.example.com/sse']);
});

it('one that comes back after its removal is not converged, with the line to paste', async () => {
  await start({ language: 'en', mcp_config: { sse_servers: [] } });
  const outcome = await apply(request(service.url, MINE));
  expect(outcome.environments[0]).toMatchObject({
    status: 'not-converged',
    error: { code: 'not-converged', hint: expect.stringContaining(`unmanaged: ${LET_GO}`) },
    remaining: [{ path: ['mcp_config', 'sse_servers', OWN.url] }],
  });
  expect(JSON.stringify(outcome)).not.toContain(OWN.api_key);
});

it('mcp_config: null is reached if only unmanaged entries are left', async () => {
  await start({
    language: 'en',
    mcp_config: { sse_servers: [{ url: 'https://theirs.example.com/sse', api_key: 'k' }] },
  });
  const asked = request(service.url, '  sandbox_api_key: null\n  mcp_config: null\n', {
    unmanaged: LET_GO,
  });
  expect((await apply(asked)).environments[0]).toMatchObject({ status: 'applied' });
  expect(await urls()).toEqual([OWN.url]);
  expect((await apply(asked)).environments[0]).toMatchObject({ status: 'in-sync' });
});
