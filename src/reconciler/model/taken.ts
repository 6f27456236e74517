import type { NotTakenOver } from './documents.gen.ts';

/** The parts of one file that could not be adopted for one reason. */
export interface LeftGroup {
  readonly file: string;
  readonly reason: string;
  /** The places with their lines. */
  readonly places: string;
}

/** Places in one line. */
const MOST = 8;

/** All that could not be taken over, by file and reason, in the order in which it was found. */
export function groupSkipped(left: readonly NotTakenOver[]): readonly LeftGroup[] {
  const groups = new Map<string, { file: string; reason: string; all: string[] }>();
  for (const { file, place, line, reason } of left) {
    const key = JSON.stringify([file, reason]);
    const group = groups.get(key) ?? { file, reason, all: [] };
    group.all.push(line === null ? place : `${place} (line ${line})`);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ file, reason, all }) =>
    Array.from({ length: Math.ceil(all.length / MOST) }, (_, index) => ({
      file,
      reason,
      places: all.slice(index * MOST, (index + 1) * MOST).join(', '),
    })),
  );
}
