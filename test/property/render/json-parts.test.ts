import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  endOfJson,
  renderJson,
  partOfJson,
  startOfJson,
} from '../../../src/reconciler/render/json.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

const member = fc
  .string({ minLength: 1 })
  .filter((name) => name !== '__proto__' && name !== 'environments' && !/^\d/.test(name));
const members = (prefix: string) =>
  fc.dictionary(
    member.map((name) => `${prefix}${name}`),
    fc.jsonValue({ maxDepth: 3 }),
    { minKeys: 1, maxKeys: 4 },
  );

it('a document in parts is the document as a whole, character by character', () => {
  fc.assert(
    fc.property(
      members('a'),
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }),
      members('z'),
      (head, items, tail) => {
        const parts = items.map((item, index) => partOfJson(item, index === 0));
        const text =
          startOfJson(head, 'environments') + parts.join('') + endOfJson(tail, items.length === 0);
        expect(text).toBe(renderJson({ ...head, environments: items, ...tail }));
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});
