import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, sameValue, WireNumber } from '../../../src/reconciler/model/value.ts';

describe('equality by meaning', () => {
  it.each([
    [4, new WireNumber('4.0'), true],
    [2.5, new WireNumber('2.50'), true],
    [9007199254740992, new WireNumber('9007199254740993'), false],
    [new WireNumber('9007199254740993'), new WireNumber('9007199254740993'), true],
    [new Secret(60), new WireNumber('60.0'), true],
    ['4', 4, false],
    [null, '', false],
    [[1, 2], [2, 1], false],
  ])('%o and %o: %s', (a, b, same) => {
    expect(sameValue(a, b)).toBe(same);
    expect(sameValue(b, a)).toBe(same);
  });

  it('the order of keys does not count', () => {
    expect(
      sameValue(
        createRecord([
          ['a', 1],
          ['b', 2],
        ]),
        createRecord([
          ['b', 2],
          ['a', 1],
        ]),
      ),
    ).toBe(true);
    expect(
      sameValue(
        createRecord([['a', 1]]),
        createRecord([
          ['a', 1],
          ['b', null],
        ]),
      ),
    ).toBe(false);
  });
});
