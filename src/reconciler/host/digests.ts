import { createHmac, randomBytes, scrypt } from 'node:crypto';
import type { Digests } from '../model/ports.ts';

const SALT = 16;
/** About a tenth of a second per digest: addresses are easy to guess. */
const COST = { N: 2 ** 14, r: 8, p: 1 };
const LENGTH = 32;

/** Digests under 128 random bits, or under the salt of a saved document. */
export function digestsUnder(salt = randomBytes(SALT).toString('hex')): Digests {
  const slow = new Map<string, Promise<string>>();
  return {
    salt,
    quick: (text) => `hmac-sha256:${createHmac('sha256', salt).update(text).digest('hex')}`,
    slow: (text) => {
      const known = slow.get(text) ?? stretchText(text, salt);
      slow.set(text, known);
      return known;
    },
  };
}

function stretchText(text: string, salt: string): Promise<string> {
  return new Promise((resolve, reject) => {
    scrypt(text, salt, LENGTH, COST, (error, key) => {
      if (error === null) resolve(`scrypt:${key.toString('hex')}`);
      else reject(error);
    });
  });
}
