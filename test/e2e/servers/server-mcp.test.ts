import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { request } from '../../fixture/settings.ts';

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

describe('a file that declares the entries of the server itself, as init writes it', () => {
  const TWO = { url: 'https://two.example.com/sse' };
  const THREE = { name: 'three', command: 'npx' };
  const declared = (language: string) =>
    `  sandbox_api_key: null\n  language: ${language}\n  mcp_config:\n    sse_servers:\n      - { url: "${OWN.url}", api_key: "\${env:OWN}" }\n      - "${TWO.url}"\n    stdio_servers:\n      - { name: three, command: npx }\n`;
  const env = { SETPOINT_API_KEY: 'a-session-key', OWN: OWN.api_key };

  async function owned(): Promise<void> {
    service = await startEmulator({
      apiKey: 'a-session-key',
      serverMcp: { sse_servers: [OWN, TWO], stdio_servers: [THREE] },
    });
    await send('POST', { language: 'en' });
  }

  it('is applied, keeps no copy of them, and names all of them with the line to paste', async () => {
    await owned();
    const outcome = await apply(request(service.url, declared('fr'), { env }));
    const line =
      'unmanaged: ["mcp_config.sse_servers[https://corp.example.com/sse]","mcp_config.sse_servers[https://two.example.com/sse]","mcp_config.stdio_servers[three]"]';
    expect(outcome.environments[0]).toMatchObject({
      status: 'applied',
      remaining: [],
      error: null,
      warnings: [{ code: 'server-owned', message: expect.stringContaining(line) }],
    });
    expect(await urls()).toEqual([OWN.url, TWO.url]);
    const again = await apply(request(service.url, declared('fr'), { env }));
    expect(again.environments[0]).toMatchObject({ status: 'in-sync', requests: { post: 0 } });
    const next = await apply(request(service.url, declared('de'), { env }));
    expect(next.environments[0]).toMatchObject({ status: 'applied', remaining: [] });
    expect(await urls()).toEqual([OWN.url, TWO.url]);
    expect(JSON.stringify([outcome, again, next])).not.toContain(OWN.api_key);
  });

  it('stays beside one that it declares with another key, which is not converged', async () => {
    await owned();
    const other = { env: { ...env, OWN: 'another-key' } };
    const outcome = await apply(request(service.url, declared('en'), other));
    expect(outcome.environments[0]).toMatchObject({ status: 'not-converged' });
    const { mcp_config: config } = await send('GET');
    expect(JSON.stringify(config.sse_servers)).toContain('another-key');
  });

  it('all that come back after their removal are named in one line', async () => {
    await owned();
    const none = '  sandbox_api_key: null\n  mcp_config: { sse_servers: [], stdio_servers: [] }\n';
    const outcome = await apply(request(service.url, none));
    const hint = outcome.environments[0]?.error?.hint ?? '';
    for (const name of [
      'sse_servers[https://corp.',
      'sse_servers[https://two.',
      'stdio_servers[three]',
    ])
      expect(hint).toContain(`mcp_config.${name}`);
    const unmanaged = hint.replace(/^.*unmanaged: /, '');
    const pasted = await apply(request(service.url, none, { unmanaged }));
    expect(pasted.environments[0]).toMatchObject({ status: 'in-sync', error: null });
  });
});
