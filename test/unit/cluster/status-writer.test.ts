import { expect, it, onTestFinished } from 'vitest';
import type { WatchState } from '../../../src/reconciler/model/watch.ts';
import type { KubeRequest } from '../../../src/controller/cluster/kube-api.ts';
import {
  formatStateVersion,
  type TargetResource,
} from '../../../src/controller/cluster/target-resource.ts';
import { computeTargetStatus } from '../../../src/controller/cluster/status.ts';
import { StatusWriter } from '../../../src/controller/cluster/status-writer.ts';
import { notReadState } from '../../../src/controller/watch/environment-state.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const UID = '3e1f0a52-0000-4000-8000-000000000000';
const COUNT = 100;
const names = Array.from({ length: COUNT }, (_, index) => `agents/target-${index}`);

/** A writer over objects that are all found the same; time passes as a test says. */
async function writing(found: WatchState['found'], isKnownBefore: boolean) {
  let now = 0;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const clock = {
    now: () => START + now,
    monotonic: () => now,
    sleep: (milliseconds: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.push({ at: now + milliseconds, wake: resolve });
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const stateOf = (name: string): WatchState => ({
    ...notReadState(name, new Date(START).toISOString()),
    found,
    commit: formatStateVersion(1, UID),
    lastRead: new Date(clock.now()).toISOString(),
    digest: 'd',
  });
  const knownOf = (key: string, object: TargetResource) => ({
    object,
    state: stateOf(key),
    isRead: true,
    invalid: null,
    waiting: null,
    handled: null,
    notHealed: null,
    rivals: [],
    applied: [],
  });
  const objects = new Map<string, TargetResource>();
  for (const key of names) {
    const object: TargetResource = {
      metadata: {
        name: key.slice(7),
        namespace: 'agents',
        uid: UID,
        generation: 1,
        resourceVersion: '1',
      },
      spec: { server: { url: 'https://agents.example.com' }, mode: 'Observe' },
    };
    const status = computeTargetStatus(knownOf(key, object), new Date(START).toISOString());
    objects.set(key, isKnownBefore ? ({ ...object, status } as unknown as TargetResource) : object);
  }
  const written: { readonly key: string; readonly at: number }[] = [];
  let version = 1;
  const api = {
    ask: async ({ path, body }: KubeRequest) => {
      const key = `agents/${path.split('/').at(-2)}`;
      written.push({ key, at: now });
      version += 1;
      const object = objects.get(key) as TargetResource;
      const metadata = { ...object.metadata, resourceVersion: String(version) };
      const { status } = body as { readonly status: object };
      const value = { ...object, metadata, status: { ...object.status, ...status } };
      objects.set(key, value);
      return { kind: 'done', value } as const;
    },
  };
  const writer = new StatusWriter({
    api,
    objects: { objects },
    clock,
    known: knownOf,
    written: () => {},
    problem: (message) => {
      if (message !== null) throw new Error(message);
    },
  });
  const stop = new AbortController();
  const running = writer.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const quiet = async () => {
    for (let turns = 0; turns < 3; turns += 1)
      await new Promise((resolve) => setImmediate(resolve));
  };
  /** Lets time pass, in steps of so many milliseconds. */
  const pass = async (milliseconds: number, step: number) => {
    for (const until = now + milliseconds; now < until;) {
      now += step;
      for (const one of sleepers.splice(0))
        if (one.at <= now) one.wake();
        else sleepers.push(one);
      await quiet();
    }
  };
  return { writer, written, pass, quiet };
}

/** The most that were written in a second. */
function busiestSecond(written: readonly { readonly at: number }[]): number {
  return Math.max(
    0,
    ...written.map(
      ({ at: from }) => written.filter(({ at }) => at >= from && at < from + 1000).length,
    ),
  );
}

it('writes less than one status a second for its times, although those of all objects grow old at once', async () => {
  const { writer, written, pass } = await writing('in-sync', true);
  const old = 1_200 * COUNT;
  // Each is read once in ten seconds.
  for (let passed = 0; passed < 3 * old; passed += 100 * COUNT)
    for (const name of names) {
      writer.look(name);
      await pass(100, 100);
    }
  expect(busiestSecond(written)).toBe(1);
  expect(written[0]?.at).toBeGreaterThanOrEqual(old);
  expect(new Set(written.map(({ key }) => key)).size).toBe(COUNT);
});

it('writes the first statuses of many objects one after the other, and at once what was found', async () => {
  const { writer, written, pass, quiet } = await writing('in-sync', false);
  writer.lookAtAll();
  await pass(1000, 10);
  const first = written.length;
  expect(first).toBeGreaterThan(15);
  expect(busiestSecond(written)).toBeLessThanOrEqual(21);
  writer.look(names.at(-1) as string);
  await quiet();
  expect(written.at(-1)?.key).toBe(names.at(-1));
  await pass(10_000, 50);
  expect(written.map(({ key }) => key).toSorted()).toEqual(names.toSorted());
});
