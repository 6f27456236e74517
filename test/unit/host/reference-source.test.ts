import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { referenceSource } from '../../../src/reconciler/host/reference-source.ts';

/** A folder as the root of a machine would be. */
function machine(...paths: readonly string[]): (path: string) => string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'setpoint-root-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `text of ${path}\n`);
  }
  return (path) => join(root, path);
}

it('a file reference never reads the token of the page, by whatever way', () => {
  const at = machine('run/secrets/page/token', 'run/secrets/other');
  symlinkSync(at('run/secrets/page/token'), at('run/secrets/link'));
  for (const named of ['run/secrets/page/token', 'run/secrets/link']) {
    const source = referenceSource({
      SETPOINT_WATCH_TOKEN_FILE: at(named),
      SETPOINT_ALLOWED_FILES: `${at('run/secrets')},${at('run/secrets/page')}`,
    });
    for (const way of ['run/secrets/page/token', 'run/secrets/link'])
      expect(source.file(at(way))).toEqual({
        problem: `the file ${at(way)} is the token of the page, which no settings file can read`,
      });
    expect(source.file(at('run/secrets/other'))).toEqual({ text: 'text of run/secrets/other' });
  }
});

describe('a file reference does not read what the platform gives a container for itself', () => {
  it.each([
    'run/secrets/kubernetes.io/serviceaccount/token',
    'run/secrets/eks.amazonaws.com/serviceaccount/token',
    'run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token',
    'run/secrets/azure/tokens/azure-identity-token',
    'run/secrets/ack.alibabacloud.com/rrsa-tokens/token',
    'run/secrets/openshift/serviceaccount/token',
    'run/secrets/tokens/gcp-ksa/token',
    'run/secrets/tokens/istio-token',
    'run/secrets/rhsm/key.pem',
  ])('%s', (path) => {
    const at = machine(path, 'run/secrets/other');
    mkdirSync(at('var'));
    symlinkSync('../run', at('var/run'));
    symlinkSync(at(path), at('run/secrets/link'));
    const [, , first = ''] = path.split('/');
    const named = at(`run/secrets/${first}`);
    for (const folders of [at('run/secrets'), at('run'), at('var/run/secrets'), at('')]) {
      const source = referenceSource({ SETPOINT_ALLOWED_FILES: folders });
      for (const way of [path, `var/${path}`, 'run/secrets/link']) {
        const found = source.file(at(way));
        expect(found, `${way} of ${folders}`).toMatchObject({
          problem: expect.stringContaining(`SETPOINT_ALLOWED_FILES does not name ${named}`),
        });
      }
      expect(source.file(at('run/secrets/other'))).toEqual({ text: 'text of run/secrets/other' });
    }
    const source = referenceSource({ SETPOINT_ALLOWED_FILES: `${at('run/secrets')},${named}` });
    expect(source.file(at(path))).toEqual({ text: `text of ${path}` });
    const inner = referenceSource({ SETPOINT_ALLOWED_FILES: dirname(at(path)) });
    expect(inner.file(at(path))).toEqual({ text: `text of ${path}` });
  });

  it.each([
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AZURE_FEDERATED_TOKEN_FILE',
    'ALIBABA_CLOUD_OIDC_TOKEN_FILE',
    'GOOGLE_APPLICATION_CREDENTIALS',
  ])('wherever it is: the file that %s names', (name) => {
    const at = machine('keys/own/token', 'keys/other');
    const env = { [name]: at('keys/own/token'), SETPOINT_ALLOWED_FILES: at('keys') };
    const source = referenceSource(env);
    expect(source.file(at('keys/own/token'))).toMatchObject({
      problem: expect.stringContaining(`does not name ${at('keys/own')}`),
    });
    expect(source.file(at('keys/other'))).toEqual({ text: 'text of keys/other' });
    const named = referenceSource({ ...env, SETPOINT_ALLOWED_FILES: at('keys/own') });
    expect(named.file(at('keys/own/token'))).toEqual({ text: 'text of keys/own/token' });
  });

  it.each([
    'run/secrets/llm.key',
    'run/secrets/setpoint/api-key',
    'run/secrets/..2026_01_01/api-key',
    'run/secrets/setpoint/..2026_01_01/api.key',
    'srv/kubernetes.io/serviceaccount/token',
  ])('but what people mount: %s', (path) => {
    const at = machine(path);
    const source = referenceSource({ SETPOINT_ALLOWED_FILES: at('') });
    expect(source.file(at(path))).toEqual({ text: `text of ${path}` });
  });
});
