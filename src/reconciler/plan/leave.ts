import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import { itemsDeclared, namesOf, secondName } from '../model/collection.ts';
import { SetpointError } from '../model/error.ts';
import { fieldNamed } from '../model/field.ts';
import { formatPath, isWithin, samePath, type Path } from '../model/path.ts';
import type { SettingsPlan } from '../model/plan.ts';
import type { DeclaredItem, DesiredState, Left, ObservedState } from '../model/state.ts';

/** The items of collections that a file declares, as what a run may leave as it is. */
export function leavableItems(desired: Pick<DesiredState, 'items'>): Omit<Left, 'given' | 'ref'>[] {
  return COLLECTION_FORMS.flatMap((form) =>
    itemsDeclared(desired, form).map((item) => {
      const names = namesOf([item]);
      return { path: [form.block, item.name], names: [...names, ...names.map(secondName)] };
    }),
  );
}

/**
 * What a file declares without what this run leaves as it is. Of the settings it is as if the file listed it under `unmanaged`; an item of a
 * collection is as if the file did not name it, and is not removed either. Pure.
 */
export function leaving(desired: DesiredState, left: readonly Left[]): DesiredState {
  if (left.length === 0) return desired;
  const isGone = (path: Path): boolean => left.some((one) => isWithin(path, one.path));
  const items = [...desired.items].map(([block, declared]): [string, readonly DeclaredItem[]] => [
    block,
    declared.filter((item) => !('name' in item) || !isGone([block, String(item.name)])),
  ]);
  return {
    ...desired,
    left,
    fields: desired.fields.filter(({ field }) => !isGone(field.path)),
    unmanaged: [...desired.unmanaged, ...left.flatMap(unmanagedBy)],
    missing: desired.missing.filter(({ path }) => !isGone(path)),
    items: new Map(items.filter(([, declared]) => declared.length > 0)),
  };
}

function unmanagedBy({ path, names }: Left): readonly Path[] {
  return names.length === 0 ? [path] : [];
}

/** Throws if a write would lose what this run is to leave as it is. */
export function requireLeft(
  { left = [] }: DesiredState,
  { dialect, stored, secrets }: ObservedState,
  { unpreservable }: SettingsPlan,
): void {
  const lost = left.find(({ path }) => {
    const [name = '', ...inner] = path;
    const isSecret = inner.length === 0 && fieldNamed(name)?.secret === true;
    const isHidden = stored && isSecret && !secrets.has(name) && dialect.fields.has(name);
    if (dialect.writes === 'record' && isHidden) return true;
    return unpreservable.some((one) => samePath(one.path, path) || isWithin(one.path, path));
  });
  if (lost === undefined) return;
  const path = formatPath(lost.path);
  throw new SetpointError(
    'unfit-for-service',
    `--without ${path}: this service does not show it, and clears it when a write leaves it out. Nothing was sent.`,
    { hint: `Give the value that ${path} needs, or declare null for it.` },
  );
}
