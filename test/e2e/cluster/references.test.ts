import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DATA } from '../../../src/reconciler/kubernetes/spec.ts';
import { formatPath } from '../../../src/reconciler/model/path.ts';
import { adminOf, clusterWorld, openReal, reasonOf } from '../../fixture/cluster-world.ts';
import { REFERENCES, textPlaces, withText } from '../../fixture/definition-texts.ts';
import { kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { kubeDoor } from '../../fixture/kube-door.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { LONG } from '../../fixture/long.ts';

const server = kubeApiserver();

async function onFake() {
  const kube = await kubeServer();
  return { admin: adminOf(kube), asked: () => kube.requests };
}

async function onReal() {
  const admin = await openReal(server as KubeApiserver);
  const door = await kubeDoor(server as KubeApiserver, admin.cluster);
  return { admin: { ...admin, cluster: door.cluster }, asked: () => door.requests };
}

const ON = [
  ['of a test', onFake],
  ['that is real', server === null ? null : onReal],
] as const;

/** A server that counts what is asked of it. */
async function countingServer(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"language":"en"}');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
}

const SPELLINGS = Object.values(REFERENCES);

describe.each(ON)('texts of objects are data, on an API server %s', (_, open) => {
  it.skipIf(open === null)(
    'so that no reference in any of them is asked for, and each is told with its place',
    LONG,
    async () => {
      const { admin, asked } = await (open as typeof onFake)();
      const world = await clusterWorld(admin, 60);
      const own = await countingServer();
      const bare = { server: { url: own.url }, mode: 'Observe' };
      const refused: string[] = [];
      const places = new Map<string, string>();
      const put = async (name: string, place: string, spec: object): Promise<void> => {
        places.set(name, place);
        // A real API server refuses what the definition can refuse.
        await admin
          .put(world.pathOf(name), {
            apiVersion: 'setpoint.dev/v1alpha1',
            kind: 'SettingsTarget',
            metadata: { name, namespace: world.namespace },
            spec,
          })
          .catch(() => refused.push(name));
      };
      const texts = textPlaces('SettingsTarget');
      for (const [index, place] of texts.entries()) {
        const text = SPELLINGS[index % SPELLINGS.length] ?? '';
        // An address that the definition takes, but for the reference in it.
        const address = `${own.url}/${text}`;
        const written = place.at(-1) === 'url' ? address : text;
        const spec = withText({ ...bare, settings: {} }, place, written) as object;
        await put(`text-${index}`, formatPath(['spec', ...place]), spec);
      }
      for (const [index, text] of SPELLINGS.entries()) {
        const spec = { ...bare, server: { url: `${own.url}/${text}` }, settings: {} };
        await put(`url-${index}`, 'spec.server.url', spec);
        const [first = []] = texts.filter(([block = '']) => block === DATA[index % DATA.length]);
        const file = withText({ version: 1 }, first, text);
        await admin.put(`/api/v1/namespaces/${world.namespace}/configmaps/file-${index}`, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `file-${index}`, namespace: world.namespace },
          data: { 'settings.yaml': JSON.stringify(file) },
        });
        const configMapKeyRef = { name: `file-${index}`, key: 'settings.yaml' };
        const place = `ConfigMap file-${index}, key settings.yaml: ${formatPath(first)}`;
        await put(`file-${index}`, place, { ...bare, settingsFrom: { configMapKeyRef } });
      }
      await world.start({ SETPOINT_STATE_KEY: 'the-key-of-the-fingerprints-0123456789' });
      for (const [name, place] of places) {
        if (refused.includes(name)) continue;
        const status = await world.until(name, (one) => reasonOf(one, 'Stalled') !== null);
        const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
        expect([name, stalled?.reason, stalled?.message.startsWith(`${place}: `)]).toEqual([
          name,
          'Invalid',
          true,
        ]);
      }
      expect(asked().filter((one) => one.includes('/secrets/'))).toEqual([]);
      expect(own.asked).toEqual([]);
    },
  );
});

it('a Secret of another namespace is not put into an address', async () => {
  const kube = await kubeServer();
  const world = await clusterWorld(adminOf(kube));
  await world.secret('victim', { key: 'value-of-the-victim' }, { namespace: 'other' });
  const own = await countingServer();
  const server = { url: `${own.url}/\${secret:kubernetes/other/production/victim/key}` };
  await world.target('production', { server, settings: { language: 'en' } });
  await world.start({}, { namespace: null });
  const status = await world.until('production', (one) => reasonOf(one, 'Stalled') !== null);
  expect(reasonOf(status, 'Stalled')).toBe('Invalid');
  expect(own.asked).toEqual([]);
  expect(kube.requests.filter((one) => one.includes('/secrets/'))).toEqual([]);
});

it('values of Secrets are named as the object names them, in every word of its status', async () => {
  const world = await clusterWorld(adminOf(await kubeServer()));
  await world.target('production', {
    settings: { language: 'en' },
    valuesFrom: [
      { path: 'settings.llm_api_key', secretKeyRef: { name: 'agents', key: 'model' } },
      { path: 'settings.search_api_key', secretKeyRef: { name: 'agents', key: 'gone' } },
    ],
  });
  await world.target('keyless', {
    server: { url: world.service.url, apiKeySecretRef: { name: 'agents', key: 'gone' } },
    settings: { language: 'en' },
  });
  await world.start();
  const planned = await world.until('production', (one) => reasonOf(one, 'Ready') !== null);
  const failed = await world.until('keyless', (one) => reasonOf(one, 'Stalled') !== null);
  for (const text of [JSON.stringify(planned), JSON.stringify(failed), world.said])
    expect(text).not.toMatch(/\$\{|secret:/);
  expect(JSON.stringify(failed)).toContain('Secret agents, key gone');
});
