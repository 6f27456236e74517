const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The milliseconds of a time such as 500ms, 1.5s, 30m, 24h or 7d; null for any other text. `bare` is the unit of a number without
 * one; if it is left out, a number needs its unit.
 */
export function parseDuration(text: string, bare?: keyof typeof UNITS): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  const unit = (match?.[2] as keyof typeof UNITS | undefined) ?? bare;
  if (match === null || unit === undefined) return null;
  const time = Number(match[1]) * UNITS[unit];
  return time <= Number.MAX_SAFE_INTEGER ? time : null;
}
