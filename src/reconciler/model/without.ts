import { isCollectionBlock } from './collection-forms.ts';
import { fieldNamed } from './field.ts';
import { entryOf, isOfServers } from './mcp.ts';
import { isWithin, type Path } from './path.ts';
import type { Unknown } from './plan.ts';
import type { DesiredState } from './state.ts';

/**
 * What `--without` takes for a path of a plan: the field itself, or all of the mcp entry or item that it is in, which services store as one.
 */
export function leftWhole(path: Path): Path {
  if (isOfServers(path)) return entryOf(path);
  return isCollectionBlock(path[0] ?? '') ? path.slice(0, 2) : path;
}

/** Whether a field that no service reports: a write that leaves it out may clear it. */
export function isNeverReported([name = '', ...inner]: Path): boolean {
  const field = inner.length === 0 ? fieldNamed(name) : undefined;
  return field?.secret === true && field.setFlag === null;
}

/** What a run leaves as it is, as what is not compared. */
export function leftUnknown({ left = [] }: Pick<DesiredState, 'left'>): Unknown[] {
  return left.map(({ path, ref }) => ({
    path,
    reason: 'left as it is (--without)',
    ref,
    kind: 'left',
  }));
}

export function isLeft({ left = [] }: Pick<DesiredState, 'left'>, path: Path): boolean {
  return left.some((one) => [one.path, ...(one.calls ?? [])].some((own) => isWithin(path, own)));
}

/** The names in a collection that a run leaves as they are. */
export function leftNames(
  { left = [] }: Pick<DesiredState, 'left'>,
  block: string,
): ReadonlySet<string> {
  return new Set(left.flatMap(({ path, names }) => (path[0] === block ? names : [])));
}
