import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  argumentLine,
  envPairs,
  splitShellLine,
  variableLine,
} from '../../../src/reconciler/desired/lines.ts';
import { isHarmlessValue, openPart } from '../../../src/reconciler/pull/program-text.ts';

describe('what a file may hold of an argument', () => {
  it('a random text of letters, digits and signs never counts as harmless as a whole', () => {
    const random = fc.string({
      unit: fc.constantFrom('a', 'Z', '0', '9', '+', '/', '=', '_', '-', '.', 'x', 'Q', '7'),
      minLength: 13,
      maxLength: 60,
    });
    fc.assert(
      fc.property(random, (text) => {
        fc.pre(/[A-Z]/.test(text) && /\d/.test(text));
        expect(openPart(text, null)).not.toBeNull();
        expect(isHarmlessValue('ANY', text)).toBe(false);
      }),
    );
  });
});

describe('a line', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom('', 'a b', `it's "x"`, '\\', '${env:X}'),
  );

  it('of arguments is split into them again', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const line = argumentLine(words);
        if (line !== null) expect(splitShellLine(line)).toEqual(words);
      }),
    );
    expect(argumentLine(['-y', 'a b', `it's`])).toBe(`-y 'a b' "it's"`);
  });

  it('of variables is split into them again, or is none', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('A', 'B'), word), { maxLength: 3 }),
        (pairs) => {
          const line = variableLine(pairs);
          if (line !== null)
            expect(envPairs(line)).toEqual(pairs.map(([name, text]) => ({ name, text })));
        },
      ),
    );
    expect(
      variableLine([
        ['A', '1'],
        ['B', '${env:X,Y}'],
      ]),
    ).toBe('A=1,B=${env:X,Y}');
    expect(variableLine([['A', '1,2']])).toBeNull();
  });
});
