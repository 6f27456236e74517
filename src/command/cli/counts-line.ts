import { grouped } from '../../reconciler/model/wording.ts';
import type { EnvironmentsEnded } from '../../reconciler/operations/options.ts';

/** A run that takes less shows no counts. */
const SOON = 2000;

/**
 * `  4,210 of 10,000 environments, 1,950/s, 3 s left, 8 failed`, by the milliseconds that the run has taken. Null if the run is young.
 */
export function countsLine(
  { done, total, failed }: EnvironmentsEnded,
  milliseconds: number,
): string | null {
  if (milliseconds < SOON) return null;
  const perSecond = done / (milliseconds / 1000);
  const pace = done === 0 ? [] : [rateText(perSecond), leftText((total - done) / perSecond)];
  const failures = failed === 0 ? [] : [`${grouped(failed)} failed`];
  return `  ${[`${grouped(done)} of ${grouped(total)} environments`, ...pace, ...failures].join(', ')}`;
}

function rateText(perSecond: number): string {
  if (perSecond >= 10) return `${grouped(Math.round(perSecond))}/s`;
  return perSecond >= 1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
}

function leftText(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}
