import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';

it('every string form of a secret is the mask, of the same length for every value', () => {
  for (const value of ['x', 'true', 'a-much-longer-secret-value'.repeat(100), 5, true]) {
    const secret = new Secret(value);
    const forms = [
      String(secret),
      `${secret}`,
      secret + '',
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ deep: [secret] }),
      secret.valueOf(),
      JSON.stringify([secret]),
    ];
    for (const form of forms) expect(form).toMatch(/\(sensitive\)/);
    expect(new Set(forms)).toEqual(
      new Set(
        [new Secret('other')].flatMap((other) => [
          String(other),
          `${other}`,
          other + '',
          JSON.stringify({ secret: other }),
          inspect(other),
          inspect({ deep: [other] }),
          other.valueOf(),
          JSON.stringify([other]),
        ]),
      ),
    );
    expect(Object.keys(secret)).not.toContain('value');
    expect(secret.reveal()).toBe(value);
  }
});

it('two secrets are compared by their values', () => {
  expect(new Secret('a').sameAs(new Secret('a', '${env:A}'))).toBe(true);
  expect(new Secret('a').sameAs('a')).toBe(true);
  expect(new Secret('5').sameAs(5)).toBe(false);
});
