import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { kubeServer, type KubeServer } from '../../fixture/kube-server.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const BIN = join(import.meta.dirname, '../../../dist/bin/setpoint.cjs');
const GROUP = '/apis/setpoint.dev/v1alpha1/namespaces';
const MANIFEST = readFileSync(
  join(import.meta.dirname, '../../../examples/kubernetes/controller/deployment.yml'),
  'utf8',
);
/** The options of Node in the manifest. */
const NODE_OPTIONS = /name: NODE_OPTIONS.*\n\s+value: (.+)/.exec(MANIFEST)?.[1] ?? '';
/** The memory limit of the manifest, in MiB. */
const LIMIT = Number(/limits:\n\s+memory: (\d+)Mi/.exec(MANIFEST)?.[1]);
/** What must be left of it, in MiB. */
const MARGIN = 20;
/** Times the longest pause between two reads may grow next to the other namespaces. */
const SLOWER = 4;

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const members = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));

/** Texts of ConfigMaps that take long to parse, or much memory. */
const TEXTS: Readonly<Record<string, string>> = {
  comment: `version: 1\n${lines(8_000, () => `# ${'x'.repeat(120)}\n`)}settings: {language: en}\n`,
  keys: `version: 1\nsecrets:\n${lines(45_000, (index) => `  K${index}: {value: x}\n`)}`,
  flow: `version: 1\nsettings: {${lines(60_000, (index) => `k${index}: x,`)}}`,
  tags: `version: 1\nsettings:\n${lines(30_000, (index) => `  !!str k${index}: !!str x\n`)}`,
  anchors: `version: 1\nsettings:\n${lines(30_000, (index) => `  k${index}: &a${index} x\n`)}`,
  hosts: `version: 1\nmcp_servers:\n${lines(15_000, (index) => `  k${index}: {url: "http://a"}\n`)}`,
};

/** Specs that are large, and as large as they may be. */
const SPECS: readonly (readonly [namespace: string, count: number, spec: object])[] = [
  ['large', 70, { clear: [lines(1_000, () => 'x'.repeat(1_024))] }],
  ['full', 200, { settings: { llm_model: 'x'.repeat(200 * 1024) } }],
  ['keys', 20, { settings: members(5_000, 'x') }],
  ['optional', 10, { settings: { language: 'en' }, valuesFrom: optionalKeys() }],
];

function optionalKeys(): readonly object[] {
  return Array.from({ length: 1_000 }, (_, index) => ({
    path: `secrets.K${index}.value`,
    secretKeyRef: { name: 'keys', key: `k${index}`, optional: true },
  }));
}

function put(kube: KubeServer, namespace: string, name: string, spec: object): void {
  kube.put(`${GROUP}/${namespace}/settingstargets/${name}`, {
    metadata: { name, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { mode: 'Observe', ...spec },
  });
}

/** A service, and the times of its reads. */
async function observedService() {
  const service = await startFronted({});
  onTestFinished(() => service.close());
  const stored = await service.ask('POST', '/api/settings', { language: 'en' });
  expect(stored.status).toBe(200);
  const times: number[] = [];
  service.instead = ({ method, path }) => {
    if (method === 'GET' && path.startsWith('/api/settings')) times.push(performance.now());
    return null;
  };
  return { url: service.url, times };
}

/** The longest pause between times, the last of which may be now. */
function longestPause(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}

/** The built command with all namespaces of an API server. */
function startController(kube: KubeServer) {
  const data = mkdtempSync(join(tmpdir(), 'setpoint-budgets-'));
  const { hostname, port } = new URL(kube.cluster.origin);
  const args = ['controller', '--all-namespaces', '--data', data];
  const child = spawn(process.execPath, [BIN, ...args], {
    env: {
      NODE_OPTIONS,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      SETPOINT_SERVICE_ACCOUNT: kube.cluster.folder,
      SETPOINT_ALLOWED_ORIGINS: 'http://127.0.0.1:*',
    },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(data, { recursive: true, force: true });
  });
  return child;
}

/** A size in the status of a process, in MiB. */
function mebibytes(pid: number | undefined, name: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
}

/** Adds all the objects of other namespaces. */
function attack(kube: KubeServer, url: string): void {
  for (const [name, text] of Object.entries(TEXTS)) {
    kube.put(`/api/v1/namespaces/texts/configmaps/${name}`, {
      metadata: { name, namespace: 'texts' },
      data: { file: text },
    });
    const settingsFrom = { configMapKeyRef: { name, key: 'file' } };
    for (let index = 0; index < 60; index += 1)
      put(kube, 'texts', `${name}-${index}`, { server: { url }, settingsFrom });
  }
  for (const [namespace, count, spec] of SPECS)
    for (let index = 0; index < count; index += 1)
      put(kube, namespace, `o-${index}`, { server: { url }, ...spec });
}

it.skipIf(!existsSync('/proc/self/status'))(
  'an object is read on time next to everything that other namespaces may declare',
  { ...LONG, timeout: 900_000 },
  async () => {
    const kube = await kubeServer();
    const healthy = await observedService();
    const other = await observedService();
    put(kube, 'b', 'production', {
      server: { url: healthy.url },
      interval: '10s',
      settings: { language: 'en' },
    });
    const child = startController(kube);
    const reads = (count: number) =>
      until(() => {
        expect(child.exitCode ?? child.signalCode).toBeNull();
        return healthy.times.length >= count;
      });
    await reads(5);
    const usual = longestPause(healthy.times);

    const before = healthy.times.length;
    attack(kube, other.url);
    await reads(before + 8);
    expect(longestPause(healthy.times.slice(before - 1))).toBeLessThan(SLOWER * usual);

    // All of them were judged meanwhile: each namespace has objects with a status.
    const judged = (namespace: string) =>
      [...kube.objects].some(
        ([path, { status }]) =>
          path.startsWith(`${GROUP}/${namespace}/settingstargets/`) && status !== undefined,
      );
    const namespaces = ['texts', ...SPECS.map(([namespace]) => namespace)];
    await until(() => namespaces.every(judged));
    expect(kube.objects.get(`${GROUP}/large/settingstargets/o-0`)?.['status']).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          reason: 'Invalid',
          message: expect.stringContaining('The limit is 256 KiB.'),
        }),
      ]),
    });
    // The most that it ever had, with the pages of the program itself.
    expect(mebibytes(child.pid, 'VmHWM')).toBeLessThan(LIMIT - MARGIN);
  },
);
