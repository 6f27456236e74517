import { randomBytes } from 'node:crypto';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const length = 22;

/** 128 random bits in base 62, always 22 characters. */
export function newSandboxId(): string {
  let left = BigInt(`0x${randomBytes(16).toString('hex')}`);
  let id = '';
  while (id.length < length) {
    id = `${digits[Number(left % 62n)] ?? ''}${id}`;
    left /= 62n;
  }
  return id;
}
