import { describe, expect, it } from 'vitest';
import { ObjectStream, type RawObject } from '../../../src/controller/cluster/object-stream.ts';

const TRICKY = {
  metadata: { name: 'a', annotations: { '{"items":[': '}],"\\"{', ü: '日本語' } },
  spec: { text: 'a "quoted" \\ text, with } and ]', list: [[], [{}], 'x'], none: null, 'k:,': 1 },
  status: {},
};

/** What is cut out of a text that arrives in parts of so many bytes. */
function cut(text: string, size: number, most = 10_000) {
  const objects: Record<string, unknown>[] = [];
  const sizes: number[] = [];
  const answers: unknown[] = [];
  const stream = new ObjectStream({
    depth: 2,
    most: () => most,
    onObject: (raw: RawObject) => {
      objects.push(
        Object.fromEntries(
          [...raw].map(([name, { text: member }]) => [name, member && JSON.parse(member)]),
        ),
      );
      sizes.push(raw.get('spec')?.bytes ?? 0);
    },
    onAnswer: (answer) => answers.push(JSON.parse(answer)),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) stream.push(bytes.subarray(at, at + size));
  return { objects, sizes, answers };
}

describe('objects of a list', () => {
  const list = { kind: 'List', metadata: { resourceVersion: '7' }, items: [TRICKY, {}, TRICKY] };

  it.each([1, 2, 3, 7, 64, 100_000])('are the same in parts of %i bytes', (size) => {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2)]) {
      const { objects, answers } = cut(text, size);
      expect(objects).toEqual(list.items);
      expect(answers).toEqual([{ ...list, items: [0, 0, 0] }]);
    }
  });

  it('have no text of a member that is too large, and its size', () => {
    const large = { ...TRICKY, spec: { text: 'x'.repeat(5_000) } };
    const text = JSON.stringify({ ...list, items: [large, TRICKY] });
    const { objects, sizes } = cut(text, 100, 1_000);
    expect(objects).toEqual([{ ...large, spec: null }, TRICKY]);
    expect(sizes[0]).toBe(JSON.stringify(large.spec).length);
  });

  it.each(['<html>{}</html>', '}', '[', '{"items":[{"metadata":}]}'])(
    'are none in what is no answer of an API server: %s',
    (text) => {
      let answers: unknown = null;
      try {
        ({ answers } = cut(text, 100));
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(SyntaxError);
        return;
      }
      expect(answers).not.toContainEqual(expect.objectContaining({ metadata: expect.anything() }));
    },
  );
});
