// Runs test/container on the container engine that answers, or on a podman of its own: private storage, networks and socket in a
// folder that is gone afterwards. Without either it reports that; SETPOINT_REQUIRE_CONTAINERS=1 makes that a failure.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getContainerRuntimeClient } from 'testcontainers';

const root = join(import.meta.dirname, '..');

async function runTests(env) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--config', join(root, 'vitest.container.config.ts')];
  const tests = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  // Ended from outside, the tests end first, and then what was started for them.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => tests.kill(signal));
  const [code] = await once(tests, 'close');
  return code ?? 1;
}

/** A podman that shares nothing with the machine's own. Throws an Error with the reason if there can be none. */
async function startPodman(folder) {
  const config = join(folder, 'containers.conf');
  writeFileSync(
    config,
    `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
lock_type = "file"
tmp_dir = "${folder}/tmp"
[network]
network_config_dir = "${folder}/networks"
`,
  );
  const env = { ...process.env, CONTAINERS_CONF: config };
  const global = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const podman = (...args) =>
    execFileSync('podman', [...global, ...args], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: 120_000,
    });
  runAnything(folder, podman);

  const socket = join(folder, 'podman.sock');
  const serve = [...global, 'system', 'service', '--time', '0', `unix://${socket}`];
  // In the folder: it leaves a file where it runs if a container takes more memory than it may.
  const service = spawn('podman', serve, { cwd: folder, env, stdio: 'ignore' });
  const ended = once(service, 'close');
  for (let tries = 0; !(await answers(socket)); tries += 1) {
    if (tries < 300 && service.exitCode === null) await sleep(100);
    else {
      service.kill();
      throw new Error('its service does not answer');
    }
  }
  return {
    env: {
      DOCKER_HOST: `unix://${socket}`,
      // The gateway of the default network is there only while a container is in it.
      TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
      TESTCONTAINERS_RYUK_DISABLED: 'true',
    },
    async stop() {
      service.kill();
      await ended;
      const containers = podman('ps', '--all', '--quiet').split('\n').filter(Boolean);
      if (containers.length > 0) podman('rm', '--force', '--time', '0', ...containers);
      const networks = podman('network', 'ls', '--format', '{{.Name}}').split('\n').filter(Boolean);
      for (const network of networks.filter((name) => name !== 'podman'))
        podman('network', 'rm', '--force', network);
      // Without root, the files of images belong to users of a namespace.
      if (process.getuid() !== 0) podman('unshare', 'rm', '-rf', join(folder, 'storage'));
    },
  };
}

/** A podman that answers may still not be allowed to run anything: this runs the machine's own `true` in a container. */
function runAnything(folder, podman) {
  const empty = join(folder, 'rootfs');
  mkdirSync(empty);
  const mounts = ['/bin', '/lib', '/lib64', '/usr']
    .filter((path) => existsSync(path))
    .flatMap((path) => ['--volume', `${path}:${path}:ro`]);
  podman('run', '--rm', ...mounts, '--rootfs', empty, 'true');
}

function answers(socketPath) {
  return new Promise((resolve) => {
    get({ socketPath, path: '/_ping' }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

function reasonOf(error) {
  if (error.code === 'ENOENT') return 'No engine answers, and podman is not installed.';
  const reason = String(error.stderr ?? '')
    .trim()
    .split('\n')
    .at(-1);
  return `No engine answers, and podman runs no container here: ${reason || error.message}`;
}

async function runOnPodman() {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-podman-'));
  try {
    const engine = await startPodman(folder).catch((error) => ({ reason: reasonOf(error) }));
    if (engine.reason !== undefined) {
      console.log(`skipped: no container engine\n${engine.reason}`);
      return process.env.SETPOINT_REQUIRE_CONTAINERS === '1' ? 1 : 0;
    }
    return await runTests(engine.env).finally(engine.stop);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const engine = await getContainerRuntimeClient().catch(() => undefined);
process.exitCode = engine === undefined ? await runOnPodman() : await runTests({});
