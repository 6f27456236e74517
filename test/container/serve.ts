import { getContainerRuntimeClient, Wait, type StartedNetwork } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';
import { inject } from 'vitest';
import { ReadOnlyContainer } from './read-only-container.ts';

export const KEY = 'contract-key';

interface ServeOptions {
  readonly network?: StartedNetwork;
  /** The name by which other containers call it. */
  readonly name?: string;
}

/** The embedded service in a container, on port 3000 there; it answers to the name that the engine's ports have here, too. */
export async function serve({ network, name }: ServeOptions = {}): Promise<StartedTestContainer> {
  const { info } = await getContainerRuntimeClient();
  const names = [info.containerRuntime.host, ...(name === undefined ? [] : [name])];
  const container = new ReadOnlyContainer(inject('image'))
    .withCommand(['serve', '--host', '0.0.0.0', ...names.flatMap((name) => ['--allow-host', name])])
    .withEnvironment({ SESSION_API_KEY: KEY })
    .withExposedPorts(3000)
    .withWaitStrategy(Wait.forLogMessage(/^http:/));
  return (network === undefined ? container : container.withNetwork(network)).start();
}

/** Where a container's port 3000, or another, answers on this machine. */
export function urlOf(container: StartedTestContainer, port = 3000): string {
  return `http://${container.getHost()}:${container.getMappedPort(port)}`;
}
