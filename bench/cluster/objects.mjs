// SettingsTargets in a namespace of their own on a real API server, and a watch that counts what is written of them.
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { nameOf } from '../fleet/lay-out.mjs';

const DEFINITIONS = join(import.meta.dirname, '../../examples/kubernetes/crd.yml');

const AT_A_TIME = 16;
/** One object in this many declares a value that its service does not have. */
const DIFFERS = 100;

/** The API server that the variables of the tests name; null if they name none. */
export function apiServer({
  SETPOINT_KUBE_APISERVER: origin,
  SETPOINT_KUBE_TOKEN: token,
  SETPOINT_KUBE_CA: ca,
}) {
  if (origin === undefined || token === undefined || ca === undefined) return null;
  return { origin: new URL(origin).origin, token, ca: readFileSync(ca, 'utf8') };
}

/** Creates so many objects that name one origin, each with a path of its own. `remove` takes all of it away. */
export async function createObjects({ origin, token, ca }, count, port) {
  const namespace = `setpoint-bench-${process.pid}-${count}`;
  const pool = new Pool(origin, { connections: AT_A_TIME, connect: { ca } });
  const ask = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await pool.request({
      method,
      path,
      headers,
      body: body && JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
  await establish({ pool, ask, token });
  const core = `/api/v1/namespaces`;
  await ask('POST', core, { metadata: { name: namespace } });
  await ask('POST', `${core}/${namespace}/secrets`, {
    metadata: { name: 'agents' },
    stringData: { 'api-key': 'key-of-the-fleet-4711' },
  });
  const path = `/apis/setpoint.dev/v1alpha1/namespaces/${namespace}/settingstargets`;
  const names = Array.from({ length: count }, (_, index) => nameOf(index)).values();
  const creating = Array.from({ length: AT_A_TIME }, async () => {
    for (const name of names) await ask('POST', path, objectOf(name, port));
  });
  await Promise.all(creating);
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-service-account-'));
  for (const [file, text] of Object.entries({ token, 'ca.crt': ca, namespace }))
    writeFileSync(join(folder, file), text);
  return {
    namespace,
    path,
    folder,
    watch: (onObject) => watch({ pool, ask, token, path }, onObject),
    patches: () => patches({ pool, token }),
    async remove() {
      rmSync(folder, { recursive: true });
      await ask('DELETE', path);
      await ask('DELETE', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`);
      await ask('DELETE', `${core}/${namespace}`);
      await pool.destroy();
    },
  };
}

/** Applies the definitions, and waits until the API server offers what they define. */
async function establish({ pool, ask, token }) {
  for (const text of readFileSync(DEFINITIONS, 'utf8').split(/^---$/m)) {
    const name = /^  name: (.*)$/m.exec(text)?.[1];
    if (name === undefined) continue;
    const { statusCode, body } = await pool.request({
      method: 'PATCH',
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}?fieldManager=bench&force=true`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/apply-patch+yaml',
      },
      body: text,
    });
    if (statusCode >= 300) throw new Error(`${name}: ${statusCode} ${await body.text()}`);
    await body.dump();
  }
  const isThere = () =>
    ask('GET', '/apis/setpoint.dev/v1alpha1').then(
      () => true,
      () => false,
    );
  while (!(await isThere())) await sleep(500);
}

/** How many statuses were patched, as the API server has counted; null if it does not. */
async function patches({ pool, token }) {
  const { body } = await pool.request({
    method: 'GET',
    path: '/metrics',
    headers: { authorization: `Bearer ${token}` },
  });
  const counted = (await body.text())
    .split('\n')
    .filter((line) =>
      /^apiserver_request_total\{.*resource="settingstargets".*verb="(APPLY|PATCH)"/.test(line),
    )
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return counted.reduce((sum, count) => sum + count, 0);
}

function objectOf(name, port) {
  const index = Number(name.slice(-5));
  return {
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsTarget',
    metadata: { name },
    spec: {
      server: {
        url: `http://127.0.0.1:${port}/${name}`,
        apiKeySecretRef: { name: 'agents', key: 'api-key' },
      },
      mode: 'Observe',
      settings: { language: index % DIFFERS === 0 ? 'de' : 'en' },
    },
  };
}

/** Hands on each object that is written from now on; returns what ends that. */
async function watch({ pool, ask, token, path }, onObject) {
  const { metadata } = await ask('GET', `${path}?limit=1`);
  const stop = new AbortController();
  let version = metadata.resourceVersion;
  // The API server ends a watch that does not keep up: then it goes on from there.
  const once = async () => {
    const { body } = await pool.request({
      method: 'GET',
      path: `${path}?watch=1&resourceVersion=${version}`,
      headers: { authorization: `Bearer ${token}` },
      bodyTimeout: 0,
      signal: stop.signal,
    });
    let rest = '';
    for await (const chunk of body) {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === 'ERROR') throw new Error(`The watch cannot go on: ${line}`);
        version = object.metadata.resourceVersion;
        onObject(object);
      }
    }
  };
  const reading = (async () => {
    while (!stop.signal.aborted) await once();
  })().catch((thrown) => {
    if (!stop.signal.aborted) throw thrown;
  });
  return async () => {
    stop.abort();
    await reading;
  };
}
