import type { NotTakenOver } from './documents.gen.ts';

/** What of one file could not be taken over for one reason. */
export interface LeftGroup {
  readonly file: string;
  readonly reason: string;
  /** The places with their lines, the first of them if there are many. */
  readonly places: string;
}

const MOST = 8;

/** What could not be taken over, by file and reason, in the order in which it was found. */
export function leftGroups(left: readonly NotTakenOver[]): readonly LeftGroup[] {
  const groups = new Map<string, { file: string; reason: string; all: string[] }>();
  for (const { file, place, line, reason } of left) {
    const key = JSON.stringify([file, reason]);
    const group = groups.get(key) ?? { file, reason, all: [] };
    group.all.push(line === null ? place : `${place} (line ${line})`);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ file, reason, all }) => {
    const more = all.length - MOST;
    const places = all.slice(0, more > 1 ? MOST : all.length).join(', ');
    return { file, reason, places: more > 1 ? `${places} and ${more} more` : places };
  });
}
