import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';

import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { plan } from '../../../src/index.ts';
import { loaded, RECORDED } from '../../fixture/store-server.ts';

interface Counted {
  readonly url: string;
  readonly connections: () => number;
  readonly open: () => Promise<number>;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}

const servers: Counted[] = [];
afterEach(() => servers.splice(0).forEach(({ close }) => close()));

/** A service with the same settings under every path, which counts the connections that are made to it. */
async function counted(): Promise<Counted> {
  let [connections, ended] = [0, 0];
  const server: Server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(loaded({ language: 'en' }, RECORDED)));
  }).on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => (ended += 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const service = {
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    isOpen: () => connections > ended,
    open: () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    close: () => server.close().closeAllConnections(),
  };
  servers.push(service);
  return service;
}

function settingsOf(urls: readonly string[]): string {
  const environments = urls.map((url, index) => `  e${index}: { server: { url: '${url}' } }\n`);
  return `version: 1\nsettings: { language: en }\nenvironments:\n${environments.join('')}`;
}

it.each([1, 4])('environments of one origin share connections, %s at a time', async (parallel) => {
  const service = await counted();
  const urls = Array.from({ length: 40 }, (_, index) => `${service.url}/p${index}`);
  const { environments } = await plan({ text: settingsOf(urls), env: {}, parallel });
  expect(environments.map(({ status }) => status)).toEqual(urls.map(() => 'in-sync'));
  expect(service.connections()).toBeLessThanOrEqual(parallel);
});

it('no connection is left when a run ends', async () => {
  const services = await Promise.all([counted(), counted(), counted()]);
  const { environments } = await plan({
    text: settingsOf(services.map(({ url }) => url)),
    env: {},
  });
  expect(environments.map(({ status }) => status)).toEqual(['in-sync', 'in-sync', 'in-sync']);
  await expect.poll(() => Promise.all(services.map(({ open }) => open()))).toEqual([0, 0, 0]);
});

it.each([1, 4, 16])(
  'environments of as many origins have a connection each while they are read, %s at a time',
  async (parallel) => {
    const services = await Promise.all(Array.from({ length: 60 }, counted));
    let most = 0;
    // Each environment looks at the clock when it is opened.
    const watching = {
      ...SYSTEM_CLOCK,
      monotonic: () => {
        most = Math.max(most, services.filter(({ isOpen }) => isOpen()).length);
        return SYSTEM_CLOCK.monotonic();
      },
    };
    const urls = services.map(({ url }) => url);
    const { environments } = await plan({
      text: settingsOf(urls),
      env: {},
      parallel,
      clock: watching,
    });
    expect(environments.map(({ status }) => status)).toEqual(urls.map(() => 'in-sync'));
    expect(services.map(({ connections }) => connections())).toEqual(urls.map(() => 1));
    // One that is idle is kept for the next environment, and a server learns of an end a little later.
    expect(most).toBeLessThanOrEqual(2 * parallel + 1);
  },
);
