import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/command/cli/command-table.ts';
import { folderWith } from '../fixture/command.ts';
import { hasProgram } from '../fixture/program.ts';
import { mistakesIn } from './manifest.ts';
import { readText } from './read-text.ts';
import { PACKAGE } from './workflow-file.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = 'examples/kubernetes/chart/setpoint';
const ACCESS = 'examples/kubernetes/controller/access.yml';
const HELM = process.env['SETPOINT_TEST_HELM'] ?? 'helm';
const CASES = ['default', 'cluster', 'page', 'least'] as const;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly Rule[];
}

function helm(...args: readonly string[]): {
  readonly status: number | null;
  readonly out: string;
} {
  const { status, stdout, stderr } = spawnSync(HELM, args, { cwd: ROOT, encoding: 'utf8' });
  return { status, out: status === 0 ? stdout : `${stdout}${stderr}` };
}

const RENDER = ['template', 'release', CHART, '-n', 'setpoint', '--kube-version', '1.34.0'];

function rendered(name: (typeof CASES)[number], ...args: readonly string[]): readonly Manifest[] {
  const values = `${CHART}/ci/${name}-values.yaml`;
  const { status, out } = helm(...RENDER, '-f', values, ...args);
  expect([status, status === 0 ? '' : out]).toEqual([0, '']);
  return parseAllDocuments(out).flatMap((one) => (one.toJS() as Manifest | null) ?? []);
}

const GROUPS: Readonly<Record<string, string>> = {
  ClusterRole: 'rbac',
  ClusterRoleBinding: 'rbac',
  Deployment: 'apps',
  NetworkPolicy: 'networking',
  PodDisruptionBudget: 'policy',
  Role: 'rbac',
  RoleBinding: 'rbac',
  Secret: 'core',
  Service: 'core',
  ServiceAccount: 'core',
  StatefulSet: 'apps',
};
const FOREIGN = new Set(['CustomResourceDefinition', 'PrometheusRule', 'ServiceMonitor']);

function one(objects: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  expect(found.map(({ metadata }) => metadata.name)).toHaveLength(1);
  return found[0] as Manifest;
}

function podOf(objects: readonly Manifest[]) {
  const owner = objects.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  const { template, ...rest } = (owner?.spec ?? {}) as { readonly template: PodTemplateSpec };
  return {
    kind: owner?.kind,
    rest,
    template,
    pod: template.spec,
    container: template.spec?.containers[0],
  };
}

const names = (objects: readonly Manifest[]): string[] =>
  objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`).toSorted();

describe.skipIf(!hasProgram(HELM))('the chart, rendered (helm, or SETPOINT_TEST_HELM)', () => {
  it.each(CASES)('is one that helm lints, and objects by the types of Kubernetes: %s', (name) => {
    const linted = helm('lint', '--strict', CHART, '-f', `${CHART}/ci/${name}-values.yaml`);
    expect([linted.status, linted.out]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
    const objects = rendered(name).filter(({ kind }) => !FOREIGN.has(kind));
    expect(objects.length).toBeGreaterThan(4);
    const found = objects.map((object) => [
      `${object.kind} ${object.metadata.name}`,
      ...mistakesIn(stringify(object), [GROUPS[object.kind] ?? '', object.kind]),
    ]);
    expect(found.filter(({ length }) => length > 1)).toEqual([]);
    const broken = { ...objects[0], misspelt: true };
    const { kind } = broken;
    expect(mistakesIn(stringify(broken), [GROUPS[kind ?? ''] ?? '', kind ?? '']).join()).toContain(
      'misspelt',
    );
  });

  it('is refused by helm, too, if the values are not those of the schema', () => {
    const { status, out } = helm(...RENDER);
    expect(status).not.toBe(0);
    for (const place of ['/allowedOrigins', '/image/repository']) expect(out).toContain(place);
  });

  it.each(CASES)('has pods that a restricted namespace takes: %s', (name) => {
    const { pod, container } = podOf(rendered(name));
    expect(pod).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(pod?.containers).toHaveLength(1);
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const writable = container?.volumeMounts?.filter(({ readOnly }) => readOnly !== true);
    expect(writable).toEqual([{ name: 'data', mountPath: '/var/lib/setpoint' }]);
  });

  it('has two pods of the version, apart, that may send keys where the values say', () => {
    const objects = rendered('default');
    const { kind, rest, container } = podOf(objects);
    expect([kind, rest]).toMatchObject(['Deployment', { replicas: 2 }]);
    expect(container?.image).toBe(`registry.example.com/setpoint:${PACKAGE.version}`);
    expect(container?.env).toEqual([
      { name: 'SETPOINT_ALLOWED_ORIGINS', value: 'https://*.agents.example.com' },
      { name: 'NODE_OPTIONS', value: '--max-old-space-size=160 --max-semi-space-size=1' },
    ]);
    expect(container?.ports?.map(({ name }) => name)).toEqual(['probes']);
    expect(one(objects, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
    const cluster = podOf(rendered('cluster')).container;
    expect(cluster?.image).toBe(`registry.example.com/setpoint@sha256:${'0'.repeat(64)}`);
    expect(cluster?.args).toContain('--all-namespaces');
    expect(cluster?.env?.[0]?.value).toBe(
      'https://eu.agents.example.com,https://us.agents.example.com',
    );
  });

  it('leaves the user to the platform, or takes a large one as it is', () => {
    expect(podOf(rendered('least')).pod?.securityContext).not.toHaveProperty('runAsUser');
    const { pod } = podOf(rendered('default', '--set', 'runAsUser=1000680000'));
    expect(pod?.securityContext).toMatchObject({
      runAsUser: 1_000_680_000,
      fsGroup: 1_000_680_000,
    });
  });

  it('keeps the definitions, which are those of now', () => {
    const definitions = parseAllDocuments(readText('examples/kubernetes/crd.yml'));
    const objects = rendered('cluster');
    const forced = rendered(
      'default',
      '--set',
      'crds.annotations.helm\\.sh/resource-policy=delete',
    );
    expect(definitions.length).toBe(3);
    for (const document of definitions) {
      const { metadata: own, ...definition } = document.toJS() as Manifest;
      const { metadata, ...rest } = one(objects, 'CustomResourceDefinition', own.name);
      expect(rest).toEqual(definition);
      expect(metadata.annotations).toEqual({
        ...own.annotations,
        'argocd.argoproj.io/sync-options': 'ServerSideApply=true',
        'helm.sh/resource-policy': 'keep',
      });
      const kept = one(forced, 'CustomResourceDefinition', own.name);
      expect(kept.metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    }
  });

  it('has what is switched on, and nothing else', () => {
    expect(names(rendered('least'))).toEqual([
      'ClusterRole setpoint-release-setpoint-policies',
      'ClusterRoleBinding setpoint-release-setpoint-policies',
      'Deployment release-setpoint',
      'Role release-setpoint-locks',
      'Role release-setpoint-watch',
      'RoleBinding release-setpoint-locks',
      'RoleBinding release-setpoint-watch',
      'Service release-setpoint',
    ]);
    expect(names(rendered('cluster'))).toEqual([
      'ClusterRole setpoint-release-setpoint',
      'ClusterRole setpoint-release-setpoint-edit',
      'ClusterRole setpoint-release-setpoint-policies',
      'ClusterRole setpoint-release-setpoint-view',
      'ClusterRoleBinding setpoint-release-setpoint',
      'ClusterRoleBinding setpoint-release-setpoint-policies',
      'CustomResourceDefinition settingsapprovals.setpoint.dev',
      'CustomResourceDefinition settingspolicies.setpoint.dev',
      'CustomResourceDefinition settingstargets.setpoint.dev',
      'Deployment release-setpoint',
      'NetworkPolicy release-setpoint',
      'Role release-setpoint-locks',
      'RoleBinding release-setpoint-locks',
      'Secret release-setpoint-state',
      'Service release-setpoint',
      'ServiceAccount release-setpoint',
    ]);
  });

  it('binds the pods to what a controller needs, in the namespaces where it needs it', () => {
    const objects = rendered('page');
    expect(one(objects, 'Role', 'release-setpoint-watch').metadata.namespace).toBe('agents');
    expect(one(objects, 'Role', 'release-setpoint-locks').metadata.namespace).toBe('setpoint');
    const bindings = objects.filter(({ kind }) => kind === 'RoleBinding') as unknown as {
      readonly metadata: Manifest['metadata'];
      readonly roleRef: unknown;
      readonly subjects: unknown;
    }[];
    const { serviceAccountName, automountServiceAccountToken } = podOf(objects).pod ?? {};
    expect(automountServiceAccountToken).toBe(true);
    for (const { metadata, roleRef, subjects } of bindings) {
      const apiGroup = 'rbac.authorization.k8s.io';
      expect(roleRef).toEqual({ apiGroup, kind: 'Role', name: metadata.name });
      const account = { kind: 'ServiceAccount', name: serviceAccountName, namespace: 'setpoint' };
      expect(subjects).toEqual([account]);
    }
    const named = one(rendered('least'), 'Role', 'release-setpoint-watch').rules;
    expect(named?.slice(3)).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['agents', 'llm'] },
    ]);
  });

  /** Each verb on each resource, so that two lists of rules can be compared. */
  const allowed = (rules: readonly Rule[]): string[] =>
    rules
      .flatMap(({ apiGroups: [group = ''], resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`)),
      )
      .toSorted();

  it.each(['default', 'cluster'] as const)(
    'allows what examples/kubernetes/controller allows: %s',
    (name) => {
      const own = rendered(name).filter(
        ({ kind, metadata }) =>
          kind.endsWith('Role') && !/-(?:view|edit|admin)$/.test(metadata.name),
      );
      const example = parseAllDocuments(readText(ACCESS)).map((doc) => doc.toJS() as Manifest);
      expect(allowed(own.flatMap(({ rules = [] }) => rules))).toEqual(
        allowed(example.flatMap(({ rules = [] }) => rules)),
      );
    },
  );

  it('adds SettingsTargets to the roles of people', () => {
    const objects = rendered('default');
    const [view, edit] = ['view', 'edit'].map((role) =>
      one(objects, 'ClusterRole', `setpoint-release-setpoint-${role}`),
    );
    const label = 'rbac.authorization.k8s.io/aggregate-to-';
    expect(view?.metadata.labels).toMatchObject({ [`${label}view`]: 'true' });
    expect(edit?.metadata.labels).toMatchObject({ [`${label}edit`]: 'true' });
    expect(view?.rules?.[0]?.verbs).toEqual(['get', 'list', 'watch']);
    expect(edit?.rules?.[0]?.verbs).toContain('patch');
  });

  it.each(CASES)('has probes and metrics on a port of their own: %s', (name) => {
    const objects = rendered(name);
    const { container } = podOf(objects);
    const [port] = container?.ports ?? [];
    expect(container?.args).toContain(`--probes=0.0.0.0:${port?.containerPort}/metrics`);
    const httpGet = { port: port?.name };
    expect(container).toMatchObject({
      startupProbe: { httpGet: { ...httpGet, path: '/healthz' } },
      livenessProbe: { httpGet: { ...httpGet, path: '/healthz' } },
      readinessProbe: { httpGet: { ...httpGet, path: '/readyz' } },
    });
    const [first] = (one(objects, 'Service').spec?.['ports'] ?? []) as readonly object[];
    expect(first).toMatchObject({ port: port?.containerPort, targetPort: port?.name });
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    for (const { spec } of policies)
      expect(spec?.['ingress']).toMatchObject([
        { ports: expect.arrayContaining([{ port: port?.name }]) as unknown },
      ]);
  });

  it('has what the values add: a policy, the form of the log, arguments, volumes and annotations', () => {
    const objects = rendered('page');
    const { template, pod, container } = podOf(objects);
    expect(container?.args).toEqual(
      expect.arrayContaining([
        '--policy=/etc/setpoint/policy/policy.json',
        '--output=json',
        '--quiet',
      ]),
    );
    expect(pod?.volumes).toContainEqual({ name: 'policy', configMap: { name: 'setpoint-policy' } });
    expect(pod?.volumes).toContainEqual({ name: 'extra', emptyDir: {} });
    expect(container?.volumeMounts?.map(({ name }) => name)).toContain('extra');
    const noted = [
      one(objects, 'StatefulSet'),
      one(objects, 'Service'),
      one(objects, 'NetworkPolicy'),
    ].map(({ metadata }) => metadata.annotations?.['example.com/note']);
    expect([template.metadata?.annotations?.['example.com/note'], ...noted]).toEqual([
      'pod',
      'set',
      'service',
      'policy',
    ]);
  });

  it('serves the page with TLS and a token, to those whom the policy lets in', () => {
    const objects = rendered('page');
    const { kind, rest, template, pod, container } = podOf(objects);
    expect(kind).toBe('StatefulSet');
    expect(rest).toMatchObject({ volumeClaimTemplates: [{ metadata: { name: 'data' } }] });
    const port = container?.ports?.find(({ name }) => name === 'https');
    expect(container?.args).toContain(`--listen=0.0.0.0:${port?.containerPort}`);
    const mounted = container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
    const files = [...(container?.args ?? []), ...(container?.env ?? []).map(({ value }) => value)]
      .flatMap((text) => /(?<==|^)\/(?:run|etc)\/\S+/.exec(text ?? '') ?? [])
      .map((path) => path.slice(0, path.lastIndexOf('/')));
    expect(files).toHaveLength(6);
    expect(files.filter((path) => !mounted.includes(path))).toEqual([]);
    expect(container?.volumeMounts?.map(({ name }) => name)).toEqual(
      expect.arrayContaining((pod?.volumes ?? []).map(({ name }) => name)),
    );
    const labels = template.metadata?.labels;
    const service = one(objects, 'Service');
    const policy = one(objects, 'NetworkPolicy');
    const monitor = one(objects, 'ServiceMonitor');
    expect(labels).toMatchObject(service.spec?.['selector'] as object);
    expect(policy.spec?.['podSelector']).toEqual({ matchLabels: service.spec?.['selector'] });
    expect(policy.spec?.['ingress']).toMatchObject([
      { ports: [{ port: 'probes' }, { port: 'https' }] },
    ]);
    const selector = monitor.spec?.['selector'] as { readonly matchLabels: object };
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect(monitor.spec?.['endpoints']).toMatchObject([{ port: 'probes', path: '/metrics' }]);
    expect(one(objects, 'PrometheusRule').spec).toEqual(
      parse(readText('examples/prometheus/rules.yml')),
    );
  });

  it('gives the command flags that it takes', () => {
    const known: readonly string[] = COMMANDS.controller.flags;
    const args = CASES.flatMap((name) => podOf(rendered(name)).container?.args ?? []);
    const flags = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.split('=')[0] ?? '');
    expect(new Set(flags).size).toBeGreaterThan(12);
    expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
  });

  it('is packaged without its tests', () => {
    const folder = folderWith({});
    try {
      expect(helm('package', CHART, '--destination', folder.path).status).toBe(0);
      const file = join(folder.path, `setpoint-${PACKAGE.version}.tgz`);
      const { stdout } = spawnSync('tar', ['-tzf', file], { encoding: 'utf8' });
      expect(stdout).toContain('setpoint/files/crd.yaml');
      expect(stdout).not.toContain('setpoint/ci/');
    } finally {
      folder.remove();
    }
  });
});
