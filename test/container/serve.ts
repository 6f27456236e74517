import { Wait, type StartedNetwork } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';
import { inject } from 'vitest';
import { ReadOnlyContainer } from './read-only-container.ts';

export const KEY = 'contract-key';

interface ServeOptions {
  readonly network?: StartedNetwork;
}

/** The embedded service in a container, on port 3000 there. */
export async function serve({ network }: ServeOptions = {}): Promise<StartedTestContainer> {
  const container = new ReadOnlyContainer(inject('image'))
    .withCommand(['serve', '--port', '0.0.0.0:3000'])
    .withEnvironment({ SESSION_API_KEY: KEY })
    .withExposedPorts(3000)
    .withWaitStrategy(Wait.forLogMessage(/^http:/));
  return (network === undefined ? container : container.withNetwork(network)).start();
}

/** Where a container's port 3000, or another, answers on this machine. */
export function urlOf(container: StartedTestContainer, port = 3000): string {
  return `http://${container.getHost()}:${container.getMappedPort(port)}`;
}
