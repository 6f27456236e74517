import type { Json } from '../json/json.ts';

/** The last millisecond of which there is a date. */
const last = 8_640_000_000_000_000n;

/** A stored time, in milliseconds since 1970, or undefined where the value is none. */
export function storedTime(value: Json | undefined): number | undefined {
  return typeof value === 'bigint' && value >= 0n && value <= last ? Number(value) : undefined;
}
