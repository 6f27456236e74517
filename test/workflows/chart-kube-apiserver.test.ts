import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { hasProgram } from '../fixture/program.ts';
import {
  administer,
  asServiceAccount,
  create,
  establishAll,
  kubeApiserver,
  newNamespace,
  type KubeApiserver,
} from '../fixture/kube-apiserver.ts';
import { readText } from './read-text.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = 'examples/kubernetes/chart/setpoint';
const TESTDATA = 'examples/kubernetes/argo-cd/setpoint.dev/SettingsTarget/testdata';
const HELM = process.env['SETPOINT_TEST_HELM'] ?? 'helm';
const server = kubeApiserver();
const real = server as KubeApiserver;

type Manifest = Parameters<typeof create>[1] & {
  readonly metadata: { readonly name: string };
  readonly spec?: Readonly<Record<string, unknown>>;
};
/** What the API server says of a request that it refuses. */
const said = (body: unknown): string => (body as { readonly message: string }).message;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ROLES = '/apis/rbac.authorization.k8s.io/v1';
const POLICIES = '/apis/admissionregistration.k8s.io/v1';
const TARGETS = '/apis/setpoint.dev/v1alpha1';
const COMMAND = join(ROOT, 'dist/bin/setpoint.cjs');
const MERGE = { 'content-type': 'application/merge-patch+json' };

/** The objects of a release, which belong to a namespace of the test; those of the cluster go with it. */
function released(namespace: string, values: string): readonly Manifest[] {
  const args = ['template', 'release', CHART, '-n', namespace, '--kube-version', '1.34.0'];
  const given = ['-f', `${CHART}/ci/${values}-values.yaml`, '--set', 'priorityClassName='];
  const { stdout, stderr } = spawnSync(HELM, [...args, ...given], { cwd: ROOT, encoding: 'utf8' });
  expect(stderr).toBe('');
  const objects = parseAllDocuments(stdout).flatMap((one) => (one.toJS() as Manifest | null) ?? []);
  const ofCluster = objects.filter(({ kind }) => kind.startsWith('ClusterRole'));
  onTestFinished(async () => {
    for (const { kind, metadata } of ofCluster)
      await administer(real, 'DELETE', `${ROLES}/${kind.toLowerCase()}s/${metadata.name}`);
  });
  return objects;
}

async function restricted(): Promise<string> {
  const namespace = await newNamespace(real);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const path = `/api/v1/namespaces/${namespace}`;
  expect(await administer(real, 'PATCH', path, { metadata: { labels } }, MERGE)).toMatchObject({
    status: 200,
  });
  return namespace;
}

/** Whether the service account of the release may do something, such as `get secrets.`. */
async function may(
  account: { readonly of: string; readonly in: string },
  what: string,
): Promise<boolean> {
  const [verb = '', rest = ''] = what.split(' ');
  const [names = '', ...group] = rest.split('.');
  const [resource, subresource] = names.split('/');
  const resourceAttributes = {
    namespace: account.in,
    verb,
    resource,
    subresource,
    group: group.join('.'),
  };
  const user = `system:serviceaccount:${account.of}:release-setpoint`;
  const { body } = await administer(
    real,
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    },
  );
  return (body as { readonly status: { readonly allowed: boolean } }).status.allowed;
}

interface Condition {
  readonly type: string;
  readonly reason: string;
}

/** An object with its Secret, whose server is not there. */
async function createTarget(namespace: string): Promise<void> {
  const stringData = { key: 'the-key-of-the-server' };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'agents', namespace } };
  await create(real, { ...secret, stringData });
  const server = { url: 'http://127.0.0.1:1', apiKeySecretRef: { name: 'agents', key: 'key' } };
  await create(real, {
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsTarget',
    metadata: { name: 'production', namespace },
    spec: { server, mode: 'Observe', settings: { language: 'en' } },
  });
}

function containerOf(objects: readonly Manifest[]) {
  const template = objects.find(({ kind }) => kind === 'Deployment')?.spec?.['template'];
  const container = (template as PodTemplateSpec | undefined)?.spec?.containers[0];
  const env = (container?.env ?? []).map(({ name, value }) => [name, value] as const);
  return { args: container?.args ?? [], env: Object.fromEntries(env) };
}

const NEEDED = [
  'watch settingstargets.setpoint.dev',
  'patch settingstargets/status.setpoint.dev',
  'create events.events.k8s.io',
  'get secrets.',
  'get configmaps.',
];

describe.skipIf(server === null || !hasProgram(HELM))(
  'the chart on a real API server (SETPOINT_KUBE_APISERVER and helm)',
  () => {
    it.each(['default', 'cluster', 'page'] as const)(
      'is taken as it is, with pods that a restricted namespace takes: %s',
      async (values) => {
        const namespace = await restricted();
        const foreign = ['ServiceMonitor', 'PrometheusRule'];
        for (const object of released(namespace, values)) {
          if (foreign.includes(object.kind)) continue;
          if (object.kind === 'CustomResourceDefinition') {
            const { name } = object.metadata;
            const query = '?dryRun=All&fieldManager=chart&fieldValidation=Strict&force=true';
            const type = { 'content-type': 'application/apply-patch+yaml' };
            const path = `${DEFINITIONS}/${name}${query}`;
            const { status, body } = await administer(real, 'PATCH', path, object, type);
            expect([200, 201], said(body)).toContain(status);
            continue;
          }
          const metadata = { ...object.metadata };
          if (metadata.namespace !== undefined) metadata.namespace = namespace;
          await create(real, { ...object, metadata });
          const template = object.spec?.['template'] as PodTemplateSpec | undefined;
          if (template === undefined) continue;
          const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
          const volumes = [
            ...(template.spec?.volumes ?? []),
            ...(object.kind === 'StatefulSet' ? [claim] : []),
          ];
          const pod = {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'pod', namespace },
            spec: { ...template.spec, volumes },
          };
          await create(real, pod);
          const loose = { ...pod, metadata: { name: 'loose', namespace } };
          const spec = { ...pod.spec, securityContext: {} };
          await expect(create(real, { ...loose, spec })).rejects.toThrow(/restricted/);
        }
      },
    );

    it.each(['default', 'cluster'] as const)(
      'lets its pods do what a controller does, and nothing else: %s',
      async (values) => {
        const [own, other] = [await newNamespace(real), await newNamespace(real)];
        const kinds = /^(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?)$/;
        for (const object of released(own, values))
          if (kinds.test(object.kind)) await create(real, object);
        const here = { of: own, in: own };
        for (const what of [...NEEDED, 'update leases.coordination.k8s.io'])
          expect([what, await may(here, what)]).toEqual([what, true]);
        const never = ['list secrets.', 'patch settingstargets.setpoint.dev', 'create pods.'];
        for (const what of never) expect([what, await may(here, what)]).toEqual([what, false]);
        const there = { of: own, in: other };
        for (const what of NEEDED)
          expect([what, await may(there, what)]).toEqual([what, values === 'cluster']);
        expect(await may(there, 'update leases.coordination.k8s.io')).toBe(false);
      },
    );

    it.each(['default', 'cluster'] as const)(
      'runs a controller that writes the status of an object: %s',
      async (values) => {
        await establishAll(real);
        const own = await newNamespace(real);
        const objects = released(own, values);
        const kinds = /^(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?)$/;
        for (const object of objects) if (kinds.test(object.kind)) await create(real, object);
        const watched = values === 'cluster' ? await newNamespace(real) : own;
        await createTarget(watched);
        const { args, env } = containerOf(objects);
        const folder = folderWith({});
        const { folder: account } = await asServiceAccount(real, own, 'release-setpoint');
        const controller = spawn(
          process.execPath,
          [COMMAND, ...args.map((arg) => arg.replace('/var/lib/setpoint', folder.path))],
          {
            env: {
              ...env,
              SETPOINT_ALLOWED_ORIGINS: 'http://127.0.0.1:1',
              KUBERNETES_SERVICE_HOST: real.url.hostname,
              KUBERNETES_SERVICE_PORT: real.url.port,
              SETPOINT_SERVICE_ACCOUNT: account,
            },
            stdio: 'ignore',
          },
        );
        const ended = once(controller, 'exit');
        onTestFinished(async () => {
          controller.kill();
          await ended;
          folder.remove();
        });
        const path = `${TARGETS}/namespaces/${watched}/settingstargets/production`;
        const reason = async () => {
          const { body } = await administer(real, 'GET', path);
          const { status } = body as { readonly status?: { readonly conditions: Condition[] } };
          return status?.conditions.find(({ type }) => type === 'Ready')?.reason;
        };
        await expect.poll(reason).toBe('Unreachable');
        controller.kill();
        expect(await ended).toEqual([0, null]);
      },
    );
  },
);

/** What kstatus, with the expressions, makes of each object of the test data; the generation is compared before. */
const BY_FLUX: Readonly<Record<string, string>> = {
  applying: 'InProgress',
  'first-read': 'InProgress',
  'in-sync': 'Current',
  observed: 'Failed',
  refused: 'Failed',
  suspended: 'Current',
  unreachable: 'InProgress',
};

/** A policy that refuses every write of a status in a namespace, with what the expressions say of it. */
async function refuseWithHealth(namespace: string): Promise<void> {
  const [, kustomization] = parseAllDocuments(readText('examples/kubernetes/chart/flux.yml')).map(
    (one) => one.toJS() as { readonly spec: Record<string, unknown> },
  );
  const [rule] = (kustomization?.spec['healthCheckExprs'] ?? []) as Record<string, string>[];
  const [inProgress, failed, current] = ['inProgress', 'failed', 'current'].map(
    (name) => `(${rule?.[name]?.replaceAll('status.conditions', 'object.status.conditions')})`,
  );
  const messageExpression = `${inProgress} ? 'InProgress.' : ${failed} ? 'Failed.' : ${current} ? 'Current.' : 'none'`;
  const names = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const resource = {
    apiGroups: ['setpoint.dev'],
    apiVersions: ['*'],
    operations: ['UPDATE'],
    resources: ['settingstargets/status'],
  };
  const metadata = { name: namespace };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  onTestFinished(async () => {
    for (const kind of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
      await administer(real, 'DELETE', `${POLICIES}/${kind}/${namespace}`);
  });
  const policy = await administer(real, 'POST', `${POLICIES}/validatingadmissionpolicies`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: { namespaceSelector: names, resourceRules: [resource] },
      validations: [{ expression: 'false', messageExpression }],
    },
  });
  expect([policy.status, policy.status === 201 ? '' : said(policy.body)]).toEqual([201, '']);
  const spec = { policyName: namespace, validationActions: ['Deny'] };
  await create(real, { apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata, spec });
}

describe.skipIf(server === null)(
  'the expressions for Flux on a real API server (SETPOINT_KUBE_APISERVER)',
  () => {
    it('say of each object of the test data what Flux is to do', async () => {
      await establishAll(real);
      const namespace = await newNamespace(real);
      const path = `/apis/setpoint.dev/v1alpha1/namespaces/${namespace}/settingstargets`;
      const looked: string[] = [];
      for (const file of readdirSync(join(ROOT, TESTDATA))) {
        const name = file.replace(/\.yaml$/, '');
        const { status, ...object } = parse(readText(`${TESTDATA}/${file}`)) as Manifest;
        await create(real, { ...object, metadata: { name, namespace } });
        if (status === undefined) continue;
        const strict = `${path}/${name}/status?fieldValidation=Strict`;
        const written = await administer(real, 'PATCH', strict, { status }, MERGE);
        expect([name, written.status]).toEqual([name, 200]);
        looked.push(name);
      }
      await refuseWithHealth(namespace);
      const dryRun = async (name: string): Promise<string> => {
        const status = { lastHandledReconcileAt: 'now' };
        const query = `${path}/${name}/status?dryRun=All`;
        const { body } = await administer(real, 'PATCH', query, { status }, MERGE);
        return /: (\w+)\.$/.exec(said(body) ?? '')?.[1] ?? '';
      };
      await expect.poll(() => dryRun('in-sync')).toBe('Current');
      for (const [name, health] of Object.entries(BY_FLUX))
        expect([name, await dryRun(name)]).toEqual([name, health]);
      expect(looked).toEqual([...Object.keys(BY_FLUX), 'changed'].toSorted());
    });
  },
);
