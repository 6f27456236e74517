import { inBlock } from '../desired/blocks/block.ts';
import { inOwnBlock } from '../desired/blocks.ts';
import { formatDiagnosticKey } from '../desired/report.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { SetpointError } from '../model/error.ts';
import { samePath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { TargetPull } from './target.ts';
import { REASONS } from './writable.ts';

/** The path at which an attempt failed, and the reason to skip it in the next one. */
export interface Unlike {
  readonly name: string;
  readonly path: Path;
  readonly reason: string;
  /** A difference of an item that the attempt did not know of. */
  readonly change: Change | null;
}

/** The items that the edited files are not valid with. Throws if it is something else that is wrong. */
export function itemsRefused(
  errors: readonly Diagnostic[],
  pulls: ReadonlyMap<string, TargetPull>,
): readonly Unlike[] {
  const refused = errors.flatMap(({ path: at }) => {
    const place = inOwnBlock(inBlock(at));
    const [block, item] = place;
    const ofSettings = [...pulls].flatMap(([name, { edits }]) =>
      edits.flatMap(({ path, about }) =>
        about !== undefined && path.every((key, index) => place[index] === formatDiagnosticKey(key))
          ? [{ name, path: about, isNew: false }]
          : [],
      ),
    );
    if (ofSettings.length > 0) return ofSettings;
    const ofBlock = [...pulls].flatMap(([name, { edits }]) =>
      edits
        .filter(({ path }) => path[0] === block && path[0] !== 'settings')
        .map(({ path, beside }) => ({ name, path, isNew: beside === true })),
    );
    const own = ofBlock.filter(({ path: [, name = ''] }) => formatDiagnosticKey(name) === item);
    const some = own.length > 0 ? own : ofBlock;
    // Existing parts fit: new ones go first.
    const added = some.filter(({ isNew }) => isNew);
    return added.length > 0 ? added : some;
  });
  if (refused.length === 0) throw notEditable();
  const unlike = refused.map(({ name, path, isNew }) => ({
    name,
    path: path[0] === 'mcp_config' ? path : path.slice(0, 2),
    isNew,
  }));
  // Several errors of one item are one reason to leave it alone.
  const items = unlike.filter(
    (one, index) =>
      unlike.findIndex(({ name, path }) => name === one.name && samePath(path, one.path)) === index,
  );
  // Of new items that exclude each other the first stays. If it does not fit alone either, the next attempt skips it.
  const refusedItems = items.filter((one) => {
    const clashing = items.filter(({ name, path }) => name === one.name && path[0] === one.path[0]);
    return !one.isNew || clashing.length === 1 || clashing[0] !== one;
  });
  return refusedItems.map(({ name, path, isNew }) => ({
    name,
    path,
    reason: isNew ? REASONS.clashing : REASONS.inexpressible,
    change: null,
  }));
}

export function notEditable(): SetpointError {
  return new SetpointError(
    'internal',
    'The file could not be edited to match the service. Nothing was written.',
    { hint: 'Edit it by hand, and please report how it is written.' },
  );
}
