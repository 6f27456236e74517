import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { connect } from 'node:net';
import { Network, Wait, getContainerRuntimeClient } from 'testcontainers';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { ReadOnlyContainer } from './read-only-container.ts';
import { endOf } from './run-to-end.ts';
import { serve, urlOf } from './serve.ts';

/** As `docker stop` does: SIGTERM to process 1, and SIGKILL, which ends with 137, if that does not do in time. */
async function stopped(running: StartedTestContainer) {
  const { container } = await getContainerRuntimeClient();
  await container.getById(running.getId()).stop({ t: 10 });
  return endOf(running.getId());
}

describe('serve, stopped', () => {
  it('is process 1 and ends with 0, though a request has not arrived whole', async () => {
    const service = await serve();
    try {
      const script = "fs.readFileSync('/proc/1/cmdline', 'utf8').replaceAll('\\0', ' ')";
      const first = await service.exec(['node', '-p', script]);
      expect(first.output).toMatch(/^node \/opt\/setpoint\/dist\/bin\/setpoint\.cjs serve /);
      const { hostname, port } = new URL(urlOf(service));
      const socket = connect(Number(port), hostname);
      const request = `GET /api/settings HTTP/1.1\r\nHost: ${hostname}\r\n`;
      socket.write(`${request}\r\n${request}`);
      await once(socket, 'data');
      const closed = once(socket, 'close');
      expect(await stopped(service)).toMatchObject({ code: 0 });
      await closed;
    } finally {
      await service.stop();
    }
  });
});

describe('a command, stopped while it waits for an answer', () => {
  let network: StartedNetwork;
  let silent: StartedTestContainer;

  beforeEach(async () => {
    network = await new Network().start();
    const script = `require('node:http').createServer(() => console.log('asked')).listen(3000, () => console.log('listening'))`;
    silent = await new ReadOnlyContainer(inject('image'))
      .withNetwork(network)
      .withEntrypoint(['node', '-e', script])
      .withWaitStrategy(Wait.forLogMessage('listening'))
      .start();
  });
  afterEach(async () => {
    await silent.stop({ timeout: 0 });
    await network.stop();
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends it with %i', async (signal, code) => {
    const origin = `http://${silent.getIpAddress(network.getName())}:3000`;
    const settings = `version: 1\nserver: { url: "${origin}" }\nsettings: { language: fr }\n`;
    const folder = folderWith({ 'settings.yaml': settings });
    chmodSync(folder.path, 0o755);
    const running = await new ReadOnlyContainer(inject('image'))
      .withNetwork(network)
      .withEnvironment({ SETPOINT_ALLOWED_ORIGINS: origin })
      .withBindMounts([{ source: folder.path, target: '/work', mode: 'ro' }])
      .withCommand(['plan'])
      .start();
    try {
      await untilSaid(silent, 'asked');
      const { container } = await getContainerRuntimeClient();
      await container.getById(running.getId()).kill({ signal });
      expect(await endOf(running.getId())).toMatchObject({ code });
    } finally {
      await running.stop();
      folder.remove();
    }
  });
});

/** Resolves when a container has printed that text. */
async function untilSaid(container: StartedTestContainer, text: string): Promise<void> {
  const lines = await container.logs();
  for await (const line of lines) if (String(line).includes(text)) return;
}
