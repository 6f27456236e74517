import { SetpointError } from '../model/error.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How old something may be, in milliseconds: 90m, 24h, 7d. `named` is the flag or input, for the error. */
export function parseAge(named: string, text: string): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const age = Number(number) * (UNITS[unit] ?? 0);
  if (age > 0) return age;
  throw new SetpointError('usage', `${named} takes an age such as 90m, 24h or 7d.`);
}
