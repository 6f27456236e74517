import { expect, it } from 'vitest';
import type { KubeRequest } from '../../../src/controller/cluster/kube-api.ts';
import { notReadState } from '../../../src/controller/watch/environment-state.ts';
import { EventWriter, happened } from '../../../src/controller/cluster/events.ts';

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
  ['unauthorized', 'Forbidden'],
  ['bad-response', 'Invalid'],
])('says why a server cannot be read, as the conditions do: %s', (result, reason) => {
  const state = { ...notReadState('agents/production'), failures: 3 };
  expect(happened(state, { kind: 'read', seconds: 1, result })?.reason).toBe(reason);
});
