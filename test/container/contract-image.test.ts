/**
 * The contract suite against a container of a real server, if SETPOINT_CONTRACT_IMAGE names its image. The server is given
 * its key as SESSION_API_KEY; SETPOINT_CONTRACT_PORT is the port it listens on (default: 3000), and it is taken to be up when
 * SETPOINT_CONTRACT_HEALTH (default: /) answers anything. The container, and all that was stored in it, is gone afterwards.
 */
import { GenericContainer, Wait } from 'testcontainers';
import { afterAll, describe, it } from 'vitest';
import { KEY, urlOf } from './serve.ts';

const image = process.env['SETPOINT_CONTRACT_IMAGE'];
const port = Number(process.env['SETPOINT_CONTRACT_PORT'] ?? 3000);
const health = process.env['SETPOINT_CONTRACT_HEALTH'] ?? '/';

if (image === undefined) {
  describe('the contract, against the image of a real server', () => {
    it.skip('needs SETPOINT_CONTRACT_IMAGE');
  });
} else {
  const server = await new GenericContainer(image)
    .withEnvironment({ SESSION_API_KEY: KEY })
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forHttp(health, port).forStatusCodeMatching(() => true))
    .withStartupTimeout(300_000)
    .start();
  afterAll(() => server.stop());

  process.env['SETPOINT_CONTRACT_URL'] = urlOf(server, port);
  process.env['SETPOINT_CONTRACT_KEY'] = KEY;
  await import('../contract/contract.test.ts');
}
