import { describe, expect, it } from 'vitest';

import { proxyUse } from '../../src/reconciler/service/network.ts';
import { rawServer } from './raw-server.ts';
import { failure, serviceAt } from './service.ts';

const HOST = 'https://agents.example.invalid';

describe('what is reported of a proxy is what happens to a request', () => {
  it.each([
    [HOST, ''],
    [HOST, '*'],
    [HOST, 'x,*'],
    [HOST, 'agents.example.invalid'],
    [HOST, 'AGENTS.example.INVALID'],
    [HOST, 'example.invalid'],
    [HOST, '.example.invalid'],
    [HOST, '*.example.invalid'],
    [HOST, 'gents.example.invalid'],
    [HOST, 'x.example  agents.example.invalid'],
    [HOST, 'agents.example.invalid:443'],
    [HOST, 'agents.example.invalid:8443'],
    [`${HOST}:8443`, 'agents.example.invalid:8443'],
    [`${HOST}:8443`, 'agents.example.invalid:443'],
    [`${HOST}:8443`, 'agents.example.invalid'],
    ['https://127.0.0.1:1', ''],
    ['http://agents.example.invalid', ''],
  ])('%s with NO_PROXY=%s', async (url, bypass) => {
    const proxy = await rawServer((socket) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
    const service = serviceAt(url, { proxy: { url: proxy.url, bypass }, timeout: 1_000 });
    await failure(service);
    const { kind } = proxyUse(new URL(url), proxy.url, bypass);
    expect(kind === 'used').toBe(proxy.connections() > 0);
  });

  it('names the proxy without what may be a secret in its address', () => {
    const use = proxyUse(new URL(HOST), 'user:canary@proxy.example:3128', null);
    expect(use).toEqual({ kind: 'used', via: 'proxy.example:3128' });
  });
});
