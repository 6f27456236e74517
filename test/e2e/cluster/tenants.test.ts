import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readFileSync } from 'node:fs';
import {
  administer,
  create,
  kubeApiserver,
  newNamespace,
  type KubeApiserver,
} from '../../fixture/kube-apiserver.ts';
import { kubeDoor } from '../../fixture/kube-door.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import {
  adminOf,
  clusterWorld,
  KEY,
  openReal,
  reasonOf,
  type ClusterWorld,
} from '../../fixture/cluster-world.ts';
import { until } from '../../fixture/until.ts';

const server = kubeApiserver();
const real = server as KubeApiserver;

/** A controller's cluster with the Secret `victim` in its own namespace, another namespace, and what the API server was asked. */
interface Tenants {
  readonly world: ClusterWorld;
  readonly other: string;
  readonly asked: () => readonly string[];
}

const VALUE = 'sk-of-the-victim-0123456789';

async function onFake(): Promise<Tenants> {
  const kube = await kubeServer();
  const world = await clusterWorld(adminOf(kube));
  await world.secret('victim', { key: VALUE });
  return { world, other: 'attacker', asked: () => kube.requests };
}

/** The account may read all namespaces, as with --all-namespaces: nothing but the controller keeps them apart. */
async function onReal(): Promise<Tenants> {
  const admin = await openReal(real);
  const { namespace } = admin.cluster;
  const access = new URL('../../../examples/kubernetes/controller/access.yml', import.meta.url);
  const role = parseAllDocuments(readFileSync(access, 'utf8'))
    .map((one) => one.toJS() as { readonly kind: string; readonly rules?: unknown })
    .find(({ kind }) => kind === 'Role');
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const name = `all-${namespace}`;
  const metadata = { name };
  await create(real, { apiVersion, kind: 'ClusterRole', metadata, rules: role?.rules });
  await create(real, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'setpoint-controller', namespace }],
  });
  onTestFinished(async () => {
    for (const kind of ['clusterroles', 'clusterrolebindings'])
      await administer(real, 'DELETE', `/apis/${apiVersion}/${kind}/${name}`);
  });
  const door = await kubeDoor(real, admin.cluster);
  const world = await clusterWorld({ ...admin, cluster: door.cluster });
  await world.secret('victim', { key: VALUE });
  return { world, other: await newNamespace(real), asked: () => door.requests };
}

const ON = [
  ['of a test', onFake],
  ['that is real', server === null ? null : onReal],
] as const;

describe.each(ON)('an object of one namespace, on an API server %s', (_, open) => {
  const test = it.skipIf(open === null);

  test('gets no Secret of another one, however it names it', async () => {
    const { world, other, asked } = await (open as () => Promise<Tenants>)();
    const own = world.namespace;
    await world.secret('own', { 'api-key': KEY }, { namespace: other });
    const put = async (name: string, spec: object): Promise<void> => {
      const path = world.pathOf(name, other);
      await world.admin.put(path, {
        apiVersion: 'setpoint.dev/v1alpha1',
        kind: 'SettingsTarget',
        metadata: { name, namespace: other },
        spec: {
          server: { url: world.service.url, apiKeySecretRef: { name: 'own', key: 'api-key' } },
          mode: 'Apply',
          interval: '30s',
          ...spec,
        },
      });
    };
    const byRef = (name: string, key = 'key') => ({
      settings: { language: 'en' },
      valuesFrom: [{ path: 'settings.llm_api_key', secretKeyRef: { name, key } }],
    });
    const text = `version: 1
settings:
  llm_api_key: \${secret:kubernetes/${own}/production/victim/key}
kubernetes:
  references:
    secret:kubernetes/${own}/production/victim/key: { secret: victim, key: key }
`;
    await world.admin.put(`/api/v1/namespaces/${other}/configmaps/settings`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: other },
      data: { 'settings.yaml': text },
    });
    const from = { configMapKeyRef: { name: 'settings', key: 'settings.yaml' } };
    const spelled: Readonly<Record<string, object>> = {
      'by-name': byRef('victim'),
      'by-file': { settingsFrom: from },
      'by-reference': {
        settings: { language: `\${secret:kubernetes/${own}/production/victim/key}` },
      },
      'by-path': byRef(`../../${own}/secrets/victim`),
      'by-key': byRef('victim', `../../${own}/secrets/victim`),
    };
    const refused: string[] = [];
    for (const [name, spec] of Object.entries(spelled))
      await put(name, spec).catch(() => refused.push(name));
    // The definition takes no name with a slash and no reference.
    expect([[], ['by-reference', 'by-path', 'by-key']]).toContainEqual(refused);
    await world.start({}, { namespace: null });
    const left = Object.keys(spelled).filter((name) => !refused.includes(name));
    for (const name of left) {
      const status = await statusOf(world, other, name);
      expect([name, reasonOf(status, 'Stalled')]).toEqual([name, 'Invalid']);
      expect(JSON.stringify(status)).not.toContain(VALUE);
    }
    const secrets = asked().filter((one) => one.includes('/secrets/'));
    expect(secrets).toContain(`GET /api/v1/namespaces/${other}/secrets/own`);
    expect(secrets).not.toContain(`GET /api/v1/namespaces/${own}/secrets/victim`);
    expect(world.said).not.toContain(VALUE);
  });
});

async function statusOf(world: ClusterWorld, namespace: string, name: string) {
  let status: object = {};
  const look = async (): Promise<boolean> => {
    const object = await world.admin.get(world.pathOf(name, namespace));
    status = object?.['status'] ?? {};
    return reasonOf(status, 'Stalled') !== null;
  };
  await until(look, { show: () => status });
  return status;
}
