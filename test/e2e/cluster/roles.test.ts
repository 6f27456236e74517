import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  administer,
  asServiceAccount,
  create,
  establishAll,
  kubeApiserver,
  newNamespace,
  type KubeApiserver,
} from '../../fixture/kube-apiserver.ts';
import { join } from 'node:path';
import { until } from '../../fixture/until.ts';

const server = kubeApiserver();
const real = server as KubeApiserver;
const RBAC = 'rbac.authorization.k8s.io/v1';
const SETPOINT = 'setpoint.dev/v1alpha1';
const PLURALS: Readonly<Record<string, string>> = {
  SettingsPolicy: 'settingspolicies',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
};

interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Creates all of the example, and removes it with the test. */
async function createExample(): Promise<void> {
  const file = new URL('../../../examples/kubernetes/controller/roles.yml', import.meta.url);
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object = document.toJS() as KubeObject;
    const plural = PLURALS[object.kind] ?? `${object.kind.toLowerCase()}s`;
    const path = `/apis/${object.apiVersion}/${plural}`;
    const { status, body } = await administer(real, 'POST', path, object);
    expect([status, body]).toEqual([201, expect.anything()]);
    onTestFinished(async () => {
      await administer(real, 'DELETE', `${path}/${object.metadata.name}`);
    });
  }
}

/** A person with one of the roles in a namespace, as a service account. */
async function personWith(role: string, namespace: string): Promise<KubeApiserver> {
  const metadata = { name: role, namespace };
  await create(real, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  await create(real, {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: role, namespace }],
  });
  const { folder } = await asServiceAccount(real, namespace, role);
  return { ...real, token: readFileSync(join(folder, 'token'), 'utf8') };
}

it.skipIf(server === null)(
  'authors declare and cannot approve; approvers approve in their own name and cannot declare',
  async () => {
    await establishAll(real);
    await createExample();
    const namespace = await newNamespace(real);
    const author = await personWith('setpoint-author', namespace);
    const approver = await personWith('setpoint-approver', namespace);
    const targets = `/apis/${SETPOINT}/namespaces/${namespace}/settingstargets`;
    const approvals = `/apis/${SETPOINT}/namespaces/${namespace}/settingsapprovals`;
    const target = {
      apiVersion: SETPOINT,
      kind: 'SettingsTarget',
      metadata: { name: 'production', namespace },
      spec: { server: { url: 'https://agents.example.com' }, mode: 'Apply', settings: {} },
    };
    const approval = (name: string, by: string) => ({
      apiVersion: SETPOINT,
      kind: 'SettingsApproval',
      metadata: { name, namespace },
      spec: { target: 'production', planDigest: `sha256:${'0'.repeat(64)}`, approver: by },
    });
    const user = `system:serviceaccount:${namespace}:setpoint-approver`;
    const send = async (who: KubeApiserver, method: string, path: string, body: object) =>
      (await administer(who, method, path, body)).status;
    expect(await send(author, 'POST', targets, target)).toBe(201);
    expect(await send(author, 'POST', approvals, approval('a', user))).toBe(403);
    const merge = { 'content-type': 'application/merge-patch+json' };
    const patch = { spec: { mode: 'Observe' } };
    const patched = await administer(approver, 'PATCH', `${targets}/production`, patch, merge);
    expect(patched.status).toBe(403);
    // A policy of admission holds some moments after it was created.
    let tries = 0;
    await until(async () => {
      tries += 1;
      return (await send(approver, 'POST', approvals, approval(`b-${tries}`, 'ada'))) === 422;
    });
    expect(await send(approver, 'POST', approvals, approval('c', user))).toBe(201);
    const changed = { spec: { planDigest: `sha256:${'1'.repeat(64)}` } };
    expect((await administer(real, 'PATCH', `${approvals}/c`, changed, merge)).status).toBe(422);
  },
);
