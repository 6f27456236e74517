import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SYSTEM_CLOCK } from '../../../src/reconciler/host/this-process.ts';
import { ClusterController } from '../../../src/controller/cluster/open.ts';
import { leaseLocks } from '../../../src/controller/watch/locks/lease-locks.ts';
import { fastClock } from '../../fixture/cluster-world.ts';
import { kubeServer } from '../../fixture/kube-server.ts';
import { limitingServer, tokenBucket } from '../../fixture/limiting-server.ts';
import { LONG } from '../../fixture/long.ts';
import { until } from '../../fixture/until.ts';

const EACH = 20;
const GROUP = '/apis/setpoint.dev/v1alpha1';
const NAMESPACES = ['agents', 'others'];
const COUNT = EACH * NAMESPACES.length;

it(
  'objects of one origin share one rate, whatever their namespaces are, and hold up none of another origin',
  LONG,
  async () => {
    const kube = await kubeServer();
    const clock = fastClock(1);
    const asked = { limited: [] as number[], other: [] as number[] };
    const bucket = tokenBucket(2, 4);
    const limited = await limitingServer((now) => {
      asked.limited.push(now);
      return bucket(now);
    }, clock);
    const other = await limitingServer((now) => {
      asked.other.push(now);
      return null;
    }, clock);
    for (const namespace of NAMESPACES) {
      kube.put(`/api/v1/namespaces/${namespace}/secrets/agents`, {
        metadata: { name: 'agents', namespace },
        data: { 'api-key': Buffer.from('a-session-key').toString('base64') },
      });
      for (let index = 0; index < EACH; index += 1)
        for (const [origin, { url }] of Object.entries({ limited, other })) {
          const name = `${origin}-${index}`;
          kube.put(`${GROUP}/namespaces/${namespace}/settingstargets/${name}`, {
            metadata: { name, namespace },
            spec: {
              server: {
                url: `${url}/${namespace}-${name}`,
                apiKeySecretRef: { name: 'agents', key: 'api-key' },
              },
              mode: 'Observe',
              settings: { language: 'en' },
              interval: '10m',
            },
          });
        }
    }
    const data = mkdtempSync(join(tmpdir(), 'setpoint-cluster-'));
    const stop = new AbortController();
    const watching = new ClusterController({
      cluster: kube.cluster,
      namespace: null,
      env: { SETPOINT_ALLOWED_ORIGINS: 'http://127.0.0.1:*' },
      data,
      clock,
      random: () => 0,
      signal: stop.signal,
      locks: leaseLocks(kube.cluster, SYSTEM_CLOCK),
    });
    await watching.begin();
    const running = watching.run();
    onTestFinished(async () => {
      stop.abort('SIGTERM');
      await running;
      rmSync(data, { recursive: true, force: true });
    });
    await until(() => watching.controller.health.ready);
    // Whoever had an object of its own refused would have more: eight are read at a time.
    expect(limited.refused.length).toBeLessThan(COUNT / 2);
    const [taken, others] = [limited.taken, other.taken].map((paths) => new Set(paths));
    expect([taken?.size, others?.size]).toEqual([COUNT, COUNT]);
    const doneAt = (times: readonly number[]) => times.toSorted((a, b) => a - b).at(COUNT - 1) ?? 0;
    // Those of the other one were not in the queue of the first.
    const meanwhile = asked.limited.filter((at) => at > doneAt(asked.other));
    expect(meanwhile.length).toBeGreaterThan(COUNT / 2);
  },
);
