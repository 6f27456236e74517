import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import { parseSelector, selects } from '../../../src/reconciler/model/selector.ts';
import { growth, LINEAR } from '../../fixture/growth.ts';
import { itHolds } from '../../fixture/property-runs.ts';

const key = fc.constantFrom('a', 'b', 'in', 'notin', 'x.y/a');
const value = fc.constantFrom('', '0', '1', 'in', 'a.b');
const labels = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name });
const blank = fc.constantFrom('', ' ', '\t', ' \n');

type Labels = ReadonlyMap<string, string>;

/** A requirement as text, and what it means, said in another way than the code under test says it. */
const requirement = fc
  .tuple(
    key,
    value,
    fc.array(value, { minLength: 1, maxLength: 3 }),
    fc.array(blank, { minLength: 6, maxLength: 6 }),
  )
  .chain(([name, one, several, [a = '', b = '', c = '', d = '', e = '', f = '']]) => {
    const list = `(${several.join(`${c},${d}`)})`;
    const has = (of: Labels, values: readonly string[]) =>
      values.some((wanted) => of.get(name) === wanted);
    const forms: [text: string, holds: (of: Labels) => boolean][] = [
      [`${name}${a}=${b}${one}`, (of) => has(of, [one])],
      [`${name}${a}==${b}${one}`, (of) => has(of, [one])],
      [`${name}${a}!=${b}${one}`, (of) => !has(of, [one])],
      [`${name} ${a}in${b}${list}`, (of) => has(of, several)],
      [`${name} ${a}notin${b}${list}`, (of) => !has(of, several)],
      [name, (of) => [...of.keys()].includes(name)],
      [`!${a}${name}`, (of) => ![...of.keys()].includes(name)],
    ];
    return fc.constantFrom(...forms.map(([text, holds]) => ({ text: `${e}${text}${f}`, holds })));
  });

describe('a selector', () => {
  itHolds('holds exactly if each of its requirements holds', 3000, (numRuns) => {
    fc.assert(
      fc.property(
        fc.array(requirement, { minLength: 1, maxLength: 4 }),
        labels,
        (several, pairs) => {
          const of = new Map(pairs);
          const text = several.map((one) => one.text).join(',');
          expect(selects(parseSelector(text), of)).toBe(several.every(({ holds }) => holds(of)));
        },
      ),
      { numRuns },
    );
  });

  itHolds(
    'any text is parsed or a usage error, whose message stays short and inert',
    3000,
    (numRuns) => {
      const near = fc.string({
        unit: fc.constantFrom(
          'a',
          '0',
          '-',
          '.',
          '/',
          '=',
          '!',
          '(',
          ')',
          ',',
          '<',
          ' ',
          'in ',
          'notin',
          '\u001b',
          'é',
        ),
      });
      fc.assert(
        fc.property(fc.oneof(near, fc.string({ unit: 'binary', maxLength: 300 })), (text) => {
          try {
            expect(parseSelector(text).length).toBeGreaterThan(0);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(SetpointError);
            const { code, message } = thrown as SetpointError;
            expect(code).toBe('usage');
            expect(message.length).toBeLessThan(300);
            // oxlint-disable-next-line no-control-regex
            expect(message).not.toMatch(/[\u0000-\u001f]/);
          }
        }),
        { numRuns },
      );
    },
  );

  it('is read in time linear to its length', () => {
    for (const [first, part, last] of [
      ['a', ',a', ''],
      ['a in (', 'b,', ')'],
      ['', '(', ''],
      ['', ' ', 'a'],
      ['', '!', ''],
      ['', 'a-', ''],
      ['', 'a.', '/b'],
    ] as const) {
      const work = (text: string) => {
        try {
          return parseSelector(text);
        } catch (thrown) {
          return thrown;
        }
      };
      const ratio = growth((size) => first + part.repeat(size) + last, work, 30_000);
      expect({ part, linear: ratio < LINEAR }).toEqual({ part, linear: true });
    }
  });
});
