const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/**
 * How long ago something was, in its largest unit: 40s, 5m, 3h, 12d; `between` parts number and unit. A clock that runs ahead
 * gives 0s.
 */
export function ageText(milliseconds: number, between = ''): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000)) || 0;
  const [size, letter] = UNITS.find(([size]) => seconds >= size) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${between}${letter}`;
}
