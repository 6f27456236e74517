import { chmodSync } from 'node:fs';
import { Network, type StartedNetwork, type StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { send } from '../contract/send.ts';
import { folderWith } from '../fixture/command.ts';
import { ReadOnlyContainer } from './read-only-container.ts';
import { runToEnd } from './run-to-end.ts';
import { KEY, serve, urlOf } from './serve.ts';

const NAME = 'agents.internal';
const ORIGIN = `http://${NAME}:3000`;

let network: StartedNetwork;
let service: StartedTestContainer;
const folder = folderWith({
  'settings.yaml': `version: 1\nserver: { url: "${ORIGIN}", api_key: "\${env:SETPOINT_API_KEY}" }\nsettings: { language: fr }\n`,
});

beforeAll(async () => {
  chmodSync(folder.path, 0o755);
  network = await new Network().start();
  service = await serve({ network });
});
afterAll(async () => {
  await service.stop();
  await network.stop();
  folder.remove();
});

/** The command in a container of its own, which reaches the service over the network of containers. */
function setpoint(...args: readonly string[]) {
  return runToEnd(
    new ReadOnlyContainer(inject('image'))
      .withNetwork(network)
      .withExtraHosts([{ host: NAME, ipAddress: service.getIpAddress(network.getName()) }])
      .withBindMounts([{ source: folder.path, target: '/work', mode: 'ro' }])
      .withEnvironment({ SETPOINT_API_KEY: KEY, SETPOINT_ALLOWED_ORIGINS: ORIGIN })
      .withCommand([...args]),
  );
}

async function language(): Promise<unknown> {
  const { text } = await send(urlOf(service), { headers: { 'X-Session-API-Key': KEY } });
  return (JSON.parse(text) as { readonly language?: unknown }).language;
}

describe('the command in one container, the service in another', () => {
  it('plans what is not there yet, and sends nothing', async () => {
    expect(await setpoint('plan')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Plan: 1 to set'),
    });
    expect(await language()).toBeUndefined();
  });

  it('applies it, and finds no drift', async () => {
    expect(await setpoint('apply', '--yes')).toMatchObject({ code: 0 });
    expect(await language()).toBe('fr');
    expect(await setpoint('drift')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No changes.'),
    });
  });

  it('finds what somebody else has changed since, and ends with 2', async () => {
    const { status } = await send(urlOf(service), {
      method: 'POST',
      headers: { 'X-Session-API-Key': KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify({ language: 'de' }),
    });
    expect(status).toBe(200);
    const { code, stdout } = await setpoint('drift');
    expect(code).toBe(2);
    expect(stdout).toContain('on the service  "de"');
    expect(stdout).toContain('in the file     "fr"');
    expect(await language()).toBe('de');
  });
});
