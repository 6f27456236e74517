import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGlobMatch } from '../../../src/reconciler/model/matcher.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

describe('a glob', () => {
  it('means what a pattern with every star as "anything but a slash" means', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 9 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 9 });
    fc.assert(
      fc.property(letters, texts, (glob, text) => {
        const pattern = glob.replace(/\/+$/, '').replaceAll('*', '[^/]*');
        expect(isGlobMatch(text, [glob])).toBe(new RegExp(`^${pattern}$`).test(text));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});
