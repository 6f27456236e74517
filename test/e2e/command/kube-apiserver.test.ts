import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/reconciler/kubernetes/crd.ts';
import { setpoint } from '../../fixture/command-here.ts';
import {
  administer,
  asServiceAccount,
  create,
  establishAll,
  kubeApiserver,
  newAccount,
  newNamespace,
  type KubeApiserver,
} from '../../fixture/kube-apiserver.ts';

const server = kubeApiserver();
const real = server as KubeApiserver;
const ROOT = join(import.meta.dirname, '../../..');

const GROUP = '/apis/setpoint.dev/v1alpha1';
const STRICT = '?fieldValidation=Strict&fieldManager=test';

/** What the API server says of a request that it refuses. */
const said = (body: unknown): string => (body as { readonly message: string }).message;

/** Other tests may have the definition there already. */
const established = (): Promise<void> => establishAll(real);

async function rendered(
  namespace: string,
  args: readonly string[],
): Promise<readonly KubeObject[]> {
  const { code, stdout, stderr } = await setpoint(
    ['render', '--secret', 'agents', '--namespace', namespace, ...args],
    { cwd: ROOT },
  );
  expect([code, stderr]).toEqual([0, '']);
  return parseAllDocuments(stdout).map((one) => one.toJS() as KubeObject);
}

function pathOf({ kind }: KubeObject, namespace: string): string {
  return kind === 'Role'
    ? `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`
    : `${GROUP}/namespaces/${namespace}/settingstargets`;
}

async function applied(
  object: KubeObject,
  namespace: string,
  manager: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { name } = object['metadata'] as { readonly name: string };
  const path = `${pathOf(object, namespace)}/${name}?fieldManager=${manager}&fieldValidation=Strict`;
  return administer(real, 'PATCH', path, object, {
    'content-type': 'application/apply-patch+yaml',
  });
}

const target = (name: string, spec: KubeObject): KubeObject => ({
  apiVersion: 'setpoint.dev/v1alpha1',
  kind: 'SettingsTarget',
  metadata: { name },
  spec: { server: { url: 'https://agents.example.com' }, mode: 'Observe', ...spec },
});

describe.skipIf(server === null)(
  'SettingsTargets on a real kube-apiserver (SETPOINT_KUBE_APISERVER)',
  () => {
    it('takes the definitions, and all that is rendered of the examples, as it was rendered', async () => {
      await established();
      for (const args of [
        ['-f', 'examples/minimal/settings.yaml'],
        ['-f', 'examples/complete/settings.yaml'],
        ['-f', 'examples/rings/settings.yaml'],
        ['-f', 'examples/environments/settings.yaml', '-e', 'staging,production'],
        ['-f', 'examples/file-per-environment/*.yaml'],
        ['-f', 'test/golden/kubernetes/everything/settings.yaml'],
      ]) {
        const namespace = await newNamespace(real);
        for (const object of await rendered(namespace, args)) {
          const path = `${pathOf(object, namespace)}${STRICT}`;
          const { status, body } = await administer(real, 'POST', path, object);
          expect([status, body]).toEqual([201, expect.anything()]);
          // Nothing was dropped, and nothing was added.
          if (object['kind'] === 'SettingsTarget')
            expect((body as KubeObject)['spec']).toEqual(object['spec']);
        }
      }
    });

    it('merges lists by their keys if two apply one object', async () => {
      await established();
      const namespace = await newNamespace(real);
      const servers = (url: string, more: KubeObject = {}): KubeObject => ({
        settings: { mcp_config: { sse_servers: [{ url, ...more }] } },
      });
      const from = (path: string): KubeObject => ({
        valuesFrom: [{ path, secretKeyRef: { name: 'agents', key: 'KEY' } }],
      });
      const one = target('both', {
        ...servers('https://one.example.com', { timeout: 5 }),
        ...from('settings.llm_api_key'),
        clear: ['settings.language'],
      });
      const two = target('both', {
        ...servers('https://two.example.com'),
        ...from('settings.search_api_key'),
        clear: ['settings.agent'],
      });
      expect((await applied(one, namespace, 'one')).status).toBe(201);
      const { status, body } = await applied(two, namespace, 'two');
      expect(status).toBe(200);
      expect(body).toMatchObject({
        spec: {
          settings: {
            mcp_config: {
              sse_servers: [
                { url: 'https://one.example.com', timeout: 5 },
                { url: 'https://two.example.com' },
              ],
            },
          },
          valuesFrom: [{ path: 'settings.llm_api_key' }, { path: 'settings.search_api_key' }],
          clear: ['settings.language', 'settings.agent'],
        },
      });
      const twice = target('twice', {
        settings: { mcp_config: { sse_servers: [{ url: 'https://x' }, { url: 'https://x' }] } },
      });
      const refused = await administer(
        real,
        'POST',
        `${GROUP}/namespaces/${namespace}/settingstargets${STRICT}`,
        twice,
      );
      expect([refused.status, said(refused.body)]).toEqual([
        422,
        expect.stringMatching(/Duplicate/),
      ]);
    });

    it.each<[string, KubeObject, RegExp]>([
      [
        'an unknown field',
        { settings: { langauge: 'en' } },
        /unknown field "spec.settings.langauge"/,
      ],
      [
        'a secret',
        { settings: { llm_api_key: 'sk-1' } },
        /unknown field "spec.settings.llm_api_key"/,
      ],
      ['no mode', { settings: {}, mode: null }, /spec\.mode.*Required value|mode: Required/],
      [
        'settings and settingsFrom',
        { settings: {}, settingsFrom: { configMapKeyRef: { name: 'a', key: 'b' } } },
        /nothing else is declared beside it/,
      ],
      ['neither of them', {}, /declare settings, or name a ConfigMap/],
      ['a mode in other words', { settings: {}, mode: 'heal' }, /Unsupported value: "heal"/],
      [
        'an address without a host',
        { settings: {}, server: { url: 'https://' } },
        /spec\.server\.url/,
      ],
      ['the embedded service', { settings: {}, server: { url: 'embedded:' } }, /spec\.server\.url/],
      ['a number as text', { settings: { max_iterations: '100' } }, /max_iterations/],
      [
        'a Secret that cannot be',
        { valuesFrom: [{ path: 'settings.llm_api_key', secretKeyRef: { name: 'a/b', key: 'c' } }] },
        /secretKeyRef\.name/,
      ],
      ['a digest in another form', { settings: {}, approval: { planDigest: 'x' } }, /planDigest/],
    ])('refuses %s', async (_, spec, message) => {
      await established();
      const namespace = await newNamespace(real);
      const path = `${GROUP}/namespaces/${namespace}/settingstargets${STRICT}`;
      const { status, body } = await administer(real, 'POST', path, target('refused', spec));
      expect([400, 422]).toContain(status);
      expect(said(body)).toMatch(message);
    });

    it('takes another path and a port of the same address, and no other origin', async () => {
      await established();
      const namespace = await newNamespace(real);
      const at = (url: string) => target('moving', { settings: {}, server: { url } });
      const apply = async (url: string) => applied(at(url), namespace, 'test');
      expect((await apply('https://agents.example.com/a')).status).toBe(201);
      expect((await apply('https://Agents.example.com/b')).status).toBe(200);
      for (const url of [
        'https://other.example.com/b',
        'http://agents.example.com/b',
        'https://agents.example.com:8443/b',
        'https://agents.example.com.evil.example/b',
      ]) {
        const { status, body } = await apply(url);
        expect([url, status, said(body)]).toEqual([
          url,
          422,
          expect.stringMatching(/origin cannot change/),
        ]);
      }
    });

    it('keeps spec and status apart: a generation counts the spec alone', async () => {
      await established();
      const namespace = await newNamespace(real);
      const spec = { settings: { language: 'en' } };
      const created = await applied(target('one', spec), namespace, 'person');
      expect(created.body).toMatchObject({ metadata: { generation: 1 } });
      const path = `${GROUP}/namespaces/${namespace}/settingstargets/one`;
      const status = {
        observedGeneration: 1,
        lastHandledReconcileAt: '2026-01-31T18:00:00Z',
        sync: 'OutOfSync',
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Observed',
            message: '',
            observedGeneration: 1,
            lastTransitionTime: '2026-01-31T18:00:00Z',
          },
        ],
        target: { origin: 'https://agents.example.com', dialect: 'app-server', release: '1.11.0' },
        plan: {
          digest: `sha256:${'0'.repeat(64)}`,
          changes: 1,
          summary: '1 to change',
          items: [{ path: 'language', action: 'change', before: '"fr"', after: '"en"' }],
        },
        lastLook: { time: '2026-01-31T18:00:00Z' },
      };
      const written = await administer(
        real,
        'PATCH',
        `${path}/status?fieldManager=setpoint&fieldValidation=Strict&force=true`,
        { ...target('one', { settings: { language: 'de' } }), status },
        { 'content-type': 'application/apply-patch+yaml' },
      );
      // What was written beside the status is not taken.
      expect([written.status, written.body]).toEqual([
        200,
        expect.objectContaining({ spec: expect.objectContaining(spec), status }),
      ]);
      expect(written.body).toMatchObject({ metadata: { generation: 1 } });
      const again = await applied({ ...target('one', spec), status: {} }, namespace, 'person');
      expect(again.body).toMatchObject({ metadata: { generation: 1 }, status });
      const tooMany = Array.from({ length: 51 }, (_, index) => ({
        path: `${index}`,
        action: 'set',
      }));
      const refused = await administer(
        real,
        'PATCH',
        `${path}/status?fieldValidation=Strict`,
        { status: { plan: { items: tooMany } } },
        { 'content-type': 'application/merge-patch+json' },
      );
      expect([refused.status, said(refused.body)]).toEqual([
        422,
        expect.stringMatching(/at most 50/),
      ]);
    });

    it('lets the Secrets be read that are named, by the Role that is rendered, and no others', async () => {
      await established();
      const namespace = await newNamespace(real);
      const args = ['-f', 'test/golden/kubernetes/everything/settings.yaml'];
      const [role] = await rendered(namespace, args);
      const roles = pathOf(role as KubeObject, namespace);
      expect((await administer(real, 'POST', roles, role)).status).toBe(201);
      await newAccount(real, namespace);
      await create(real, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'setpoint', namespace },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'agents-secrets' },
        subjects: [{ kind: 'ServiceAccount', name: 'setpoint-watch', namespace }],
      });
      const { folder } = await asServiceAccount(real, namespace, 'setpoint-watch');
      const asReader = { ...real, token: readFileSync(join(folder, 'token'), 'utf8') };
      const secrets = `/api/v1/namespaces/${namespace}/secrets`;
      for (const name of ['agents', 'llm', 'op', 'other'])
        await create(real, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } });
      const read = async (path: string) => (await administer(asReader, 'GET', path)).status;
      await expect.poll(() => read(`${secrets}/agents`)).toBe(200);
      expect([await read(`${secrets}/llm`), await read(`${secrets}/op`)]).toEqual([200, 200]);
      expect([await read(`${secrets}/other`), await read(secrets)]).toEqual([403, 403]);
    });

    it('shows the columns, and is found by its short name', async () => {
      await established();
      const namespace = await newNamespace(real);
      await applied(target('one', { settings: {} }), namespace, 'person');
      const { body } = await administer(
        real,
        'GET',
        `${GROUP}/namespaces/${namespace}/settingstargets`,
        undefined,
        { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
      );
      const { columnDefinitions, rows } = body as {
        readonly columnDefinitions: readonly { readonly name: string }[];
        readonly rows: readonly { readonly cells: readonly unknown[] }[];
      };
      expect(columnDefinitions.map(({ name }) => name)).toEqual([
        'Name',
        'Mode',
        'Sync',
        'Changes',
        'Ready',
        'Reason',
        'Release',
        'Last Look',
        'Age',
        'Origin',
      ]);
      expect(rows[0]?.cells.slice(0, 2)).toEqual(['one', 'Observe']);
      const { body: resources } = await administer(real, 'GET', GROUP);
      expect(resources).toMatchObject({
        resources: expect.arrayContaining([
          expect.objectContaining({
            name: 'settingstargets',
            shortNames: ['spt'],
            namespaced: true,
          }),
        ]),
      });
    });

    it('is the definition of the examples', async () => {
      const file = readFileSync(join(ROOT, 'examples/kubernetes/crd.yml'), 'utf8');
      const documents = parseAllDocuments(file).map((one) => one.toJS() as KubeObject);
      expect(documents.length).toBe(3);
      for (const document of documents) {
        const { name } = document['metadata'] as { readonly name: string };
        const { status } = await administer(
          real,
          'PATCH',
          `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}${STRICT}&force=true&dryRun=All`,
          document,
          { 'content-type': 'application/apply-patch+yaml' },
        );
        expect([name, status]).toEqual([name, 200]);
      }
    });

    it.each([
      ['nothing in it', {}, /declare one of/],
      ['a rule that is none', { forbidden: ['runcode'] }, /Unsupported value/],
      ['a mode that is none', { modes: ['Heal'] }, /Unsupported value/],
      ['no mode', { modes: [] }, /should have at least 1 items/],
      ['an interval that is none', { minInterval: '1 day' }, /minInterval/],
      ['a misspelt member', { alowedOrigins: [] }, /unknown field "spec.alowedOrigins"/],
    ])('refuses a policy with %s', async (_, spec, message) => {
      await established();
      const { status, body } = await administer(
        real,
        'POST',
        `${GROUP}/settingspolicies${STRICT}&dryRun=All`,
        {
          apiVersion: 'setpoint.dev/v1alpha1',
          kind: 'SettingsPolicy',
          metadata: { name: 'refused' },
          spec,
        },
      );
      expect([400, 422]).toContain(status);
      expect(said(body)).toMatch(message);
    });
  },
);
