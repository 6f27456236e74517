import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Redactor } from '../../../src/reconciler/model/redactor.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

function redactorOf(...values: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(value, null);
  return redactor;
}

it('what is masked once is not masked again, and no form of a value is left (property)', () => {
  const secret = fc
    .string({ minLength: 6, maxLength: 30 })
    .filter((text) => text.trim().length > 5);
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 4 }),
      fc.string(),
      (secrets, around) => {
        const open = secrets.filter((one) => !'(sensitive)'.includes(one.toLowerCase()));
        const redactor = redactorOf(...secrets);
        const shown = redactor.text(secrets.join(around));
        expect(redactor.text(shown)).toBe(shown);
        const rest = shown.split('(sensitive)');
        for (const one of open)
          for (const part of rest) expect(part.toLowerCase()).not.toContain(one.toLowerCase());
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});
