import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { CronJob, Job } from 'kubernetes-types/batch/v1.js';
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import { parse } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { folderWith, setpoint } from '../fixture/command.ts';
import { mistakesIn } from './manifest.ts';
import { readText } from './read-text.ts';
import { PACKAGE } from './workflow-file.ts';

const text = readText('examples/kubernetes/cronjob.yml');
const manifest = parse(text) as CronJob;
const job = manifest.spec?.jobTemplate.spec;
const pod = job?.template.spec;
const container = pod?.containers[0];

let service: Emulator | undefined;
afterEach(() => service?.close());

describe('the CronJob', () => {
  it('is one, by the types of Kubernetes', () => {
    expect(mistakesIn(text)).toEqual([]);
  });

  it.each([
    ['a misspelt key', text.replace('backoffLimit', 'backofLimit'), /backofLimit/],
    [
      'a misspelt key far inside',
      text.replace('readOnlyRootFilesystem', 'readOnlyRoot'),
      /readOnlyRoot/,
    ],
    [
      'a wrong type',
      text.replace('backoffLimit: 3', "backoffLimit: '3'"),
      /'string' is not assignable to type 'number'/,
    ],
    ['another kind', text.replace('kind: CronJob', 'kind: Job'), /"Job"/],
  ])('would not be with %s', (_, broken, message) => {
    expect(broken).not.toBe(text);
    expect(mistakesIn(broken).join()).toMatch(message);
  });

  it('ends at drift, at a wrong file and at a refused key, and tries the rest again', () => {
    const rules = job?.podFailurePolicy?.rules ?? [];
    const failing = rules.find(({ action }) => action === 'FailJob')?.onExitCodes;
    expect(failing).toEqual({ containerName: container?.name, operator: 'In', values: [2, 3, 4] });
    expect([pod?.restartPolicy, manifest.spec?.concurrencyPolicy]).toEqual(['Never', 'Forbid']);
    expect(job?.backoffLimit).toBeGreaterThan(0);
  });

  it('runs as nobody who could harm the node, this version, with its keys from a secret', () => {
    harmless(pod, container);
  });

  it('declares what the example settings need, in the form that the command takes', async () => {
    service = await startEmulator({ apiKey: 'a-key' });
    const { code, stdout } = await runIn(pod, container, service.url);
    expect([code, stdout.includes('language')]).toEqual([2, true]);
  });
});

const SEEDS = [
  ['seed-hook.yml', 'batch', 'Job'],
  ['seed-first.yml', 'apps', 'Deployment'],
] as const;

describe.each(SEEDS)('%s', (file, group, kind) => {
  const yaml = readText(`examples/kubernetes/${file}`);
  const { metadata, spec } = parse(yaml) as Deployment & Job;
  const seeding = spec?.template.spec;
  const seeder = (seeding?.initContainers ?? seeding?.containers)?.[0];

  it(`is a ${kind}, by the types of Kubernetes`, () => {
    expect(mistakesIn(yaml, [group, kind])).toEqual([]);
    const broken = yaml.replace('readOnlyRootFilesystem', 'readOnlyRoot');
    expect(mistakesIn(broken, [group, kind]).join()).toMatch(/readOnlyRoot/);
  });

  it('runs as nobody who could harm the node, this version, with its keys from a secret', () => {
    harmless(seeding, seeder);
  });

  it('seeds a service that starts after it, and leaves alone one that has settings', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const seeded = runIn(seeding, seeder, url);
    service = await startEmulator({ apiKey: 'a-key', port });
    const first = await seeded;
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('Applied 5 changes.')]);
    await fetch(`${url}/api/settings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-api-key': 'a-key' },
      body: '{"language":"fr"}',
    });
    const second = await runIn(seeding, seeder, url);
    expect([second.code, second.stdout]).toEqual([
      0,
      expect.stringContaining('settings are already stored'),
    ]);
  });

  if (kind === 'Job')
    it('is a hook that Helm does not stop waiting for first, and that no second try hides', () => {
      expect(metadata?.annotations?.['helm.sh/hook']).toBe('post-install,post-upgrade');
      const minutes = Number(/^(\d+)m$/.exec(seeder?.args?.[4] ?? '')?.[1]);
      expect(minutes).toBeLessThan(5);
      const deadline = (spec as Job['spec'])?.activeDeadlineSeconds ?? 0;
      expect([deadline > minutes * 60, deadline < 300]).toEqual([true, true]);
      const rules = (spec as Job['spec'])?.podFailurePolicy?.rules ?? [];
      const failing = rules.find(({ action }) => action === 'FailJob')?.onExitCodes;
      expect(failing).toMatchObject({ containerName: seeder?.name });
      expect(failing?.values).toEqual(expect.arrayContaining([7, 8]));
    });
});

describe('the folder for Flux and Argo CD', () => {
  const folder = 'examples/kubernetes/gitops';
  const yaml = readText(`${folder}/job.yml`);
  const { metadata, spec } = parse(yaml) as Job;
  const applying = spec?.template.spec;

  it('has a Job that both run again when the ConfigMap of the settings has another name', () => {
    expect(mistakesIn(yaml, ['batch', 'Job'])).toEqual([]);
    expect(metadata?.annotations).toMatchObject({
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
      'argocd.argoproj.io/hook': 'PostSync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
    });
    expect(spec?.ttlSecondsAfterFinished).toBeUndefined();
    const { resources, configMapGenerator } = parse(readText(`${folder}/kustomization.yml`));
    expect([resources, configMapGenerator]).toMatchObject([
      ['job.yml'],
      [
        {
          name: applying?.volumes?.find(({ name }) => name === 'settings')?.configMap?.name,
          files: ['settings.yaml'],
          options: { annotations: { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } },
        },
      ],
    ]);
  });

  it('applies the example settings', async () => {
    harmless(applying, applying?.containers[0]);
    const own = readText(`${folder}/settings.yaml`).replace('../../../', '../../');
    expect(own).toBe(readText('examples/kubernetes/settings.yaml'));
    service = await startEmulator({ apiKey: 'a-key' });
    const { code, stdout } = await runIn(applying, applying?.containers[0], service.url);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Applied 5 changes.')]);
  });
});

function harmless(spec: PodSpec | undefined, runs: Container | undefined): void {
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(runs).toMatchObject({
    image: `registry.example.com/setpoint:${PACKAGE.version}`,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  });
  const key = runs?.env?.find(({ name }) => name === 'SETPOINT_API_KEY');
  expect(key?.valueFrom?.secretKeyRef).toEqual({ name: 'setpoint', key: 'api-key' });
  expect(spec?.volumes?.find(({ name }) => name === 'secrets')?.secret?.defaultMode).toBe(0o440);
}

/** Runs a container's command with the example settings, for a service at another address, and checks that it has all they need. */
async function runIn(spec: PodSpec | undefined, runs: Container | undefined, url: string) {
  const settings = readText('examples/kubernetes/settings.yaml');
  const env = Object.fromEntries(
    (runs?.env ?? []).map(({ name, value = 'a-key' }) => [name, value]),
  );
  expect(settings).toContain(`url: ${env['SETPOINT_ALLOWED_ORIGINS']}\n`);
  expect(settings.match(/\$\{env:(\w+)/g)).toEqual([
    '${env:' + String(env['SETPOINT_ALLOWED_VARIABLES']),
  ]);
  const mounted = spec?.volumes?.find(({ name }) => name === 'secrets')?.secret?.items?.[0]?.path;
  const secret = `${String(runs?.volumeMounts?.[1]?.mountPath)}/${mounted}`;
  expect(settings).toContain(`\${file:${secret}}`);

  const folder = folderWith({ 'settings.yaml': '', 'secrets/llm-api-key': 'sk-1' });
  try {
    const path = join(folder.path, 'settings.yaml');
    const secrets = join(folder.path, 'secrets');
    const copy = settings
      .replace('https://agents.example.com', url)
      .replace(secret, join(secrets, 'llm-api-key'));
    writeFileSync(path, copy);
    const args = runs?.args?.map((arg) => (arg === '/etc/setpoint/settings.yaml' ? path : arg));
    return await setpoint(args ?? [], {
      cwd: folder.path,
      env: { ...env, SETPOINT_ALLOWED_FILES: secrets },
    });
  } finally {
    folder.remove();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
