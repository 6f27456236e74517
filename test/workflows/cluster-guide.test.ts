import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/command/cli/command-table.ts';
import { folderWith } from '../fixture/command.ts';
import {
  administer,
  asServiceAccount,
  kubeApiserver,
  type KubeApiserver,
} from '../fixture/kube-apiserver.ts';
import { hasProgram } from '../fixture/program.ts';
import { mistakesIn } from './manifest.ts';
import { readText } from './read-text.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = 'examples/kubernetes/controller';
const GUIDE = readText('docs/guides/in-a-cluster.md');
const KUBECTL = process.env['SETPOINT_TEST_KUBECTL'] ?? 'kubectl';
const server = kubeApiserver();
const real = server as KubeApiserver;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly { readonly name: string; readonly namespace?: string }[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
}

const access = parseAllDocuments(readText(`${FOLDER}/access.yml`)).map(
  (document) => document.toJS() as Manifest,
);
const deployment = parse(readText(`${FOLDER}/deployment.yml`)) as Deployment;
const pod = deployment.spec?.template.spec;
const container = pod?.containers[0];

function blockOf(language: string): string {
  return GUIDE.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
}

const SETTINGS = blockOf('yaml');
const COMMANDS_TYPED = blockOf('sh');
const declared = parse(SETTINGS) as {
  readonly server: { readonly url: string };
  readonly kubernetes: { readonly namespace: string };
};
const namespace = declared.kubernetes.namespace;

const GROUPS: Readonly<Record<string, string>> = {
  ClusterRole: 'rbac',
  ClusterRoleBinding: 'rbac',
  Deployment: 'apps',
  NetworkPolicy: 'networking',
  Role: 'rbac',
  RoleBinding: 'rbac',
  Secret: 'core',
  ServiceAccount: 'core',
};

it.each(
  [...access, deployment as Manifest].map((one) => [one.kind, one.metadata.name, one] as const),
)(
  'the %s %s of the manifests is one, by the types of Kubernetes, in the namespace of the guide',
  (kind, _, object) => {
    expect(mistakesIn(stringify(object), [GROUPS[kind] ?? '', kind])).toEqual([]);
    const isOfCluster = kind.startsWith('Cluster');
    expect(object.metadata.namespace).toBe(isOfCluster ? undefined : namespace);
  },
);

it('the bindings are of the service account of the pods, and of roles that are there', () => {
  const account = { kind: 'ServiceAccount', name: pod?.serviceAccountName, namespace };
  const bindings = access.filter(({ kind }) => kind.endsWith('Binding'));
  expect(bindings.length).toBeGreaterThan(1);
  for (const { subjects, roleRef } of bindings) {
    expect(subjects).toEqual([account]);
    expect(access).toContainEqual(
      expect.objectContaining({
        kind: roleRef?.kind,
        metadata: expect.objectContaining({ name: roleRef?.name }),
      }),
    );
  }
});

it('the pods have flags that the command takes, may send keys to the server of the guide, and have probes on their port', () => {
  const [name, ...flags] = container?.args ?? [];
  const known: readonly string[] = COMMANDS.controller.flags;
  expect(name).toBe('controller');
  expect(flags.filter((flag) => !known.includes(flag.split('=')[0] ?? ''))).toEqual([]);
  const origins = container?.env?.find((one) => one.name === 'SETPOINT_ALLOWED_ORIGINS')?.value;
  expect(origins?.split(',')).toContain(declared.server.url);
  const [port] = container?.ports ?? [];
  expect(flags).toContain(`--probes=0.0.0.0:${port?.containerPort}/metrics`);
  for (const probe of [
    container?.startupProbe,
    container?.livenessProbe,
    container?.readinessProbe,
  ])
    expect(probe?.httpGet?.port).toBe(port?.name);
});

it('the chart, as the guide of Helm installs it, may send keys to the server of the guide', () => {
  const [, set = ''] = /allowedOrigins=\{([^}]*)\}/.exec(readText('docs/guides/helm.md')) ?? [];
  expect(set.split(',')).toContain(declared.server.url);
});

/** Puts programs on PATH: kubectl as the administrator, and setpoint as it was built. */
function programs(folder: string): void {
  const run = (name: string, line: string): void => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec ${line} "$@"\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  };
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'ca.crt'), real.ca);
  const kubectl = spawnSync('which', [KUBECTL], { encoding: 'utf8' }).stdout.trim();
  const who = `--server ${real.url.origin} --token ${real.token}`;
  run('kubectl', `${kubectl} ${who} --certificate-authority ${join(folder, 'ca.crt')}`);
  run('setpoint', `${process.execPath} ${join(ROOT, 'dist/bin/setpoint.cjs')}`);
}

/** Removes what the guide makes, also where no controller of namespaces does so. */
async function clear(folder: string): Promise<void> {
  const kubectl = (...args: readonly string[]): void => {
    spawnSync(join(folder, 'bin/kubectl'), [...args, '--ignore-not-found', '--wait=false']);
  };
  kubectl(
    'delete',
    '-f',
    join(ROOT, FOLDER, 'access.yml'),
    '-f',
    join(ROOT, FOLDER, 'deployment.yml'),
  );
  const rest = 'settingstargets,secrets,roles,events,leases';
  kubectl('delete', rest, '--all', '--namespace', namespace);
  kubectl('delete', 'namespace', namespace);
  const path = `/api/v1/namespaces/${namespace}`;
  const emptied = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace }, spec: {} };
  await administer(real, 'PUT', `${path}/finalize`, emptied);
  await expect.poll(async () => (await administer(real, 'GET', path)).status).toBe(404);
}

describe.skipIf(server === null || !hasProgram(KUBECTL))(
  'the guide on a real API server (SETPOINT_KUBE_APISERVER and kubectl)',
  () => {
    it('typed as it stands, leads to a controller that asks the server of its object', async () => {
      const folder = folderWith({ 'settings.yaml': SETTINGS });
      onTestFinished(() => folder.remove());
      programs(folder.path);
      // The pods' part is run below: there is no node here, and no registry with the image.
      await clear(folder.path);
      onTestFinished(() => clear(folder.path));
      const typed = COMMANDS_TYPED.replaceAll('examples/', `${ROOT}/examples/`);
      const { status, stdout, stderr } = spawnSync('bash', ['-ec', typed], {
        cwd: folder.path,
        encoding: 'utf8',
        env: {
          PATH: `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}`,
          HOME: folder.path,
          AGENTS_API_KEY: 'the-key-of-the-server',
          LLM_API_KEY: 'the-key-of-the-model',
        },
      });
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).toContain('settingstarget.setpoint.dev/production created');
      const { folder: account } = await asServiceAccount(
        real,
        namespace,
        pod?.serviceAccountName ?? '',
      );
      const args = (container?.args ?? []).map((arg) =>
        arg.replace('/var/lib/setpoint', folder.path).replace('0.0.0.0:8081', '127.0.0.1:0'),
      );
      const env = Object.fromEntries(
        (container?.env ?? []).map(({ name, value }) => [name, value]),
      );
      const controller = spawn(join(folder.path, 'bin/setpoint'), args, {
        env: {
          ...env,
          // The server of the guide is nobody's.
          HTTPS_PROXY: 'http://127.0.0.1:1',
          NO_PROXY: real.url.hostname,
          KUBERNETES_SERVICE_HOST: real.url.hostname,
          KUBERNETES_SERVICE_PORT: real.url.port,
          SETPOINT_SERVICE_ACCOUNT: account,
        },
        stdio: 'ignore',
      });
      const ended = once(controller, 'exit');
      onTestFinished(async () => {
        controller.kill();
        await ended;
      });
      const path = `/apis/setpoint.dev/v1alpha1/namespaces/${namespace}/settingstargets/production`;
      const reason = async (): Promise<string | undefined> => {
        const { body } = await administer(real, 'GET', path);
        const { status: of } = body as {
          readonly status?: { readonly conditions: readonly Record<string, string>[] };
        };
        return of?.conditions.find(({ type }) => type === 'Ready')?.['reason'];
      };
      await expect.poll(reason).toBe('Unreachable');
    }, 90_000);
  },
);
