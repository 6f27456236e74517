import { formatPath } from './path.ts';
import type { Change } from './plan.ts';

/** The resources whose changes are about what the service names by an id. The changes of any other are paths of the settings file. */
const BY_ID: ReadonlySet<string> = new Set(['sandbox']);

export function isById({ resource }: Pick<Change, 'resource'>): boolean {
  return BY_ID.has(resource);
}

/** The name of a change: a path as flags take it, or `sandbox ID`; `new sandbox #1 (SPEC)` before it has one. */
export function changeName(change: Pick<Change, 'resource' | 'path'>): string {
  const { resource, path } = change;
  if (!isById(change)) return formatPath(path);
  const [first = '', number] = path;
  return number === undefined ? `${resource} ${first}` : `new ${resource} ${number} (${first})`;
}
