import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Network, Wait } from 'testcontainers';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { ReadOnlyContainer } from './read-only-container.ts';
import { runToEnd } from './run-to-end.ts';
import { loaded, RECORDED } from '../fixture/store-server.ts';

const RECORD = JSON.stringify(
  loaded({ language: 'en', max_iterations: 100, llm_model: 'model-a' }, RECORDED),
);

const MEBIBYTES = 192;
const FILES = 4;
const ENVIRONMENTS = 10_000;

/** Answers for every environment alike, and holds nothing of it. */
const SERVICE = `
  const body = ${JSON.stringify(RECORD)};
  require('node:http')
    .createServer((request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body))
    .listen(3000, () => console.log('listening'));`;

/** Leaves the kernel's own count of the most memory that the process had. Node's would count whoever started it, too. */
const PEAK = `
  const { readFileSync, writeFileSync } = require('node:fs');
  process.on('exit', () =>
    writeFileSync('/work/peak', /VmHWM:\\s*(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]));`;

/** A container that is ended if it takes more memory: what it may swap counts, too. */
class SmallContainer extends ReadOnlyContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.Memory = MEBIBYTES * 1024 ** 2;
    this.hostConfig.MemorySwap = this.hostConfig.Memory;
  }
}

let network: StartedNetwork;
let service: StartedTestContainer;
const folder = folderWith({ 'peak.cjs': PEAK });

beforeAll(async () => {
  chmodSync(folder.path, 0o777);
  network = await new Network().start();
  service = await new ReadOnlyContainer(inject('image'))
    .withNetwork(network)
    .withEntrypoint(['node', '-e', SERVICE])
    .withCommand([])
    .withWaitStrategy(Wait.forLogMessage('listening'))
    .start();
});
afterAll(async () => {
  await service.stop({ timeout: 0 });
  await network.stop();
  folder.remove();
});

it(`plans ${FILES * ENVIRONMENTS} environments in a container of ${MEBIBYTES} MiB`, async () => {
  const origin = `http://${service.getIpAddress(network.getName())}:3000`;
  const files = Array.from({ length: FILES }, (_, file) => {
    const name = `fleet-${file}.yaml`;
    writeFileSync(join(folder.path, name), settings(origin, file * ENVIRONMENTS));
    return ['-f', name];
  });
  const command = ['/opt/setpoint/dist/bin/setpoint.cjs', 'plan', '--max-file-size', '16MiB'];
  const { code, stdout, stderr } = await runToEnd(
    new SmallContainer(inject('image'))
      .withNetwork(network)
      .withEnvironment({ SETPOINT_API_KEY: 'a-key', SETPOINT_ALLOWED_ORIGINS: origin })
      .withBindMounts([{ source: folder.path, target: '/work', mode: 'rw' }])
      .withEntrypoint(['node', '--require', '/work/peak.cjs', ...command])
      .withCommand(files.flat()),
  );
  expect([code, stderr.slice(0, 1000)]).toEqual([0, '']);
  expect(stdout).toContain('\n40,000 environments: 39,600 in sync, 400 differ.\n');
  const peak = Number(readFileSync(join(folder.path, 'peak'), 'utf8')) / 1024;
  console.log(`At most ${peak.toFixed(0)} MiB.`);
  expect(peak).toBeLessThan(MEBIBYTES);
}, 300_000);

/** One in a hundred differs from what the service has. */
function settings(origin: string, from: number): string {
  const environments = Array.from({ length: ENVIRONMENTS }, (_, index) => {
    const iterations = index % 100 === 0 ? 101 : 100;
    return `  env-${from + index}:
    server: { url: "${origin}/env-${from + index}", api_key: "\${env:SETPOINT_API_KEY}" }
    settings: { max_iterations: ${iterations} }
`;
  });
  return `version: 1
settings: { language: en, llm_model: model-a, sandbox_api_key: null }
environments:
${environments.join('')}`;
}
