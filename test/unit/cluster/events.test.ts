import { describe, expect, it } from 'vitest';
import type { KubeRequest } from '../../../src/controller/cluster/kube-api.ts';
import { notReadState } from '../../../src/controller/watch/environment-state.ts';
import { EVENT_LIMITS } from '../../../src/controller/cluster/limits.ts';
import { EventWriter, describeTransition } from '../../../src/controller/cluster/events.ts';

/** The body of the event that is written of an object. */
async function written(name: string, note: string) {
  const asked: KubeRequest[] = [];
  const writer = new EventWriter({
    api: {
      ask: async (request) => {
        asked.push(request);
        return { kind: 'done', value: {} };
      },
    },
    clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
    problem: () => {},
  });
  const spec = { server: { url: 'https://agents.example.com' }, mode: 'Observe' } as const;
  writer.write({ metadata: { name }, spec }, { type: 'Normal', reason: 'Drifted', note });
  await writer.end();
  return asked[0]?.body as { readonly note: string; readonly metadata: { readonly name: string } };
}

it.each(['日本語', '😀', 'é', 'plain'])(
  'has a note of whole characters, in as many bytes as the API takes: %s',
  async (text) => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const { note } = await written('production', before + text.repeat(700));
      expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
      expect(Buffer.byteLength(note)).toBeGreaterThan(1_020);
      expect((before + text.repeat(700)).startsWith(note)).toBe(true);
    }
  },
);

it('has a name that the API takes, wherever that of its object is cut', async () => {
  const { metadata } = await written(`${'a'.repeat(198)}.-.b`, 'note');
  expect(metadata.name).toMatch(/^a{198}\.[0-9a-f-]{36}$/);
});

it.each([
  ['unreachable', 'Unreachable'],
  ['rate-limited', 'Unreachable'],
  ['unauthorized', undefined],
  ['bad-response', undefined],
])(
  'says of a server that it cannot be reached, and leaves the rest to the status: %s',
  (result, reason) => {
    const state = { ...notReadState('agents/production'), failures: 3 };
    expect(describeTransition(state, { kind: 'read', seconds: 1, result })?.reason).toBe(reason);
  },
);

describe('events of one object', () => {
  const spec = { server: { url: 'https://agents.example.com' }, mode: 'Observe' } as const;
  const objectOf = (uid: string) => ({ metadata: { name: uid, namespace: 'agents', uid }, spec });
  const counting = () => {
    const events = new Map<string, number>();
    let now = 0;
    const writer = new EventWriter({
      api: {
        ask: async ({ method, path, body }) => {
          const { series, metadata } = body as {
            series?: { count: number };
            metadata?: { name: string };
          };
          events.set(method === 'POST' ? `${path}/${metadata?.name}` : path, series?.count ?? 1);
          return { kind: 'done', value: {} };
        },
      },
      clock: { now: () => now, monotonic: () => now, sleep: async () => {} },
      problem: () => {},
    });
    const pass = (milliseconds: number): void => {
      now += milliseconds;
    };
    return { events, writer, pass };
  };

  it('that happen again count up the one before', async () => {
    const { events, writer } = counting();
    for (let times = 0; times < 6; times += 1) {
      writer.write(objectOf('a'), { type: 'Normal', reason: 'InSync', note: 'in sync' });
      writer.write(objectOf('a'), { type: 'Normal', reason: 'Drifted', note: '1 change' });
      await writer.end();
    }
    expect([...events.values()]).toEqual([6, 6]);
  });

  it('are written 25 times at once, then once in five minutes, and keep no other object from its own', async () => {
    const { events, writer, pass } = counting();
    for (let times = 0; times < 200; times += 1)
      writer.write(objectOf('a'), { type: 'Normal', reason: 'Drifted', note: `value ${times}` });
    await writer.end();
    expect(events.size).toBe(25);
    writer.write(objectOf('b'), { type: 'Normal', reason: 'Drifted', note: 'its own' });
    await writer.end();
    expect(events.size).toBe(26);
    for (let minutes = 0; minutes < 20; minutes += 1) {
      pass(60_000);
      writer.write(objectOf('a'), { type: 'Normal', reason: 'Drifted', note: `then ${minutes}` });
    }
    await writer.end();
    expect(events.size).toBe(30);
  });

  it('of a namespace that has thousands are dropped, and those of the others are written in turn', async () => {
    const order: string[] = [];
    const writer = new EventWriter({
      api: {
        ask: async ({ path }) => {
          order.push(path.split('/')[5] ?? '');
          return { kind: 'done', value: {} };
        },
      },
      clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
      problem: () => {},
    });
    const write = (namespace: string, name: string, note: string): void => {
      const metadata = { name, namespace, uid: `${namespace}/${name}` };
      writer.write({ metadata, spec }, { type: 'Normal', reason: 'Drifted', note });
    };
    for (let index = 0; index < 2_000; index += 1) write('hostile', `o${index}`, 'drift');
    for (let index = 0; index < 20; index += 1) write('quiet', `o${index}`, 'drift');
    await writer.end();
    expect(order.filter((namespace) => namespace === 'quiet')).toHaveLength(20);
    expect(order.length).toBeLessThanOrEqual(EVENT_LIMITS.waiting + 1);
    expect(order.slice(0, 45).filter((namespace) => namespace === 'quiet')).toHaveLength(20);
  });
});
