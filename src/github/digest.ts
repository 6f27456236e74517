import { createHash } from 'node:crypto';

/** A fingerprint of a value: the same whenever the value is. What documents hold is masked, so that it tells no secret. */
export function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content, inOrder)).digest('hex').slice(0, 32);
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}
