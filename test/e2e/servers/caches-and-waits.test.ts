/** What stands between a run and its service is reported: a cache that answers, and refusals that take long. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, quickTime, start } from '../../fixture/command.ts';

/** A service behind a front that answers what `front` does not return null for. */
async function fronted(
  front: (
    asked: IncomingMessage,
    answer: ServerResponse,
    service: string,
  ) => boolean | Promise<boolean>,
) {
  const service = await startEmulator({ dialect: 'agent-server' });
  const server = createServer(async (asked, answer) => {
    if (await front(asked, answer, service.url)) return;
    const {
      method,
      headers: { host: _, ...headers },
    } = asked;
    const passed = request(service.url + (asked.url ?? ''), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, { ...answer.getHeaders(), ...reply.headers });
      reply.pipe(answer);
    });
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = folderWith({
    'settings.yaml': `version: 1\nserver: { url: "${url}", dialect: agent-server }\nsettings: { language: de }\n`,
  });
  onTestFinished(async () => {
    folder.remove();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await service.close();
  });
  return folder.path;
}

it.each([
  [{ age: '120' }, 'A cache in front of the service answered, 120 s old'],
  [{ 'x-cache': 'HIT from edge' }, 'A cache in front of the service answered:'],
  [{ 'cf-cache-status': 'HIT' }, 'A cache in front of the service answered:'],
])('an answer with %o warns of a cache', async (headers, words) => {
  const cwd = await fronted((_, answer) => {
    for (const [name, value] of Object.entries(headers)) answer.setHeader(name, value);
    return false;
  });
  expect((await setpoint(['plan'], { cwd })).stdout).toContain(words);
  const { stdout } = await setpoint(['plan', '--output', 'json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    environments: [
      { warnings: expect.arrayContaining([expect.objectContaining({ code: 'cached-answer' })]) },
    ],
  });
});

it.each([{ age: '0' }, { 'x-cache': 'MISS' }, { 'cf-cache-status': 'DYNAMIC' }, {}])(
  'an answer with %o does not',
  async (headers) => {
    const cwd = await fronted((_, answer) => {
      for (const [name, value] of Object.entries(headers)) answer.setHeader(name, value);
      return false;
    });
    expect((await setpoint(['plan'], { cwd })).stdout).not.toContain('cache');
  },
);

it('a write that a cache hides is explained by the cache', async () => {
  let stale: string | null = null;
  const cwd = await fronted(async (asked, answer, service) => {
    if (asked.method !== 'GET' || asked.url !== '/api/settings') return false;
    stale ??= await (await fetch(`${service}/api/settings`)).text();
    answer.writeHead(200, { 'content-type': 'application/json', age: '30' }).end(stale);
    return true;
  });
  const { code, stdout } = await setpoint(['apply', '--yes'], { cwd });
  expect(code).toBe(8);
  expect(stdout).toContain('a cache in front of the service may have answered');
});

it('refusals for too many requests are shown after five seconds', async () => {
  let since: number | null = null;
  const time = quickTime();
  const cwd = await fronted((_, answer) => {
    since ??= performance.now();
    if (performance.now() - since > 1_500) return false;
    answer.writeHead(429, { 'retry-after': '3', 'content-type': 'application/json' }).end('{}');
    return true;
  });
  const { code, stderr } = await start(['plan'], { cwd, time }).ended;
  expect(code).toBe(0);
  expect(stderr).toContain('default: waiting for the service: it limits requests (status 429).');
  expect(stderr).toMatch(/default: the service answers, after \d+ s\./);
});
