import {
  isSecretHolder,
  itemsDeclared,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import type { Warning } from '../../model/error.ts';
import { formatPath, type Path } from '../../model/path.ts';
import { sameValue } from '../../model/value.ts';
import type { PlanInput } from '../../reconcile/contract.ts';
import type { CollectionState } from './wire.ts';

/**
 * That an item is new and another one left the file, or is like it and not named: its key may have been edited, and then the plan makes a second one.
 * Secrets are not compared, and an item of which only the name is known is like none.
 */
export function mayBeRenamed(
  form: CollectionForm,
  unmanaged: readonly Path[],
  { items, listing }: CollectionState,
  base: PlanInput['base'],
): Warning[] {
  const there = new Map(listing.items.map((one) => [one.name, one]));
  const unnamed = unmanaged.flatMap(([, name = '']) => there.get(name) ?? []);
  const created = items.filter(({ name, members }) => members !== null && !there.has(name));
  const before = base === null || 'classify' in base ? [] : itemsDeclared(base, form);
  const hasLeft = ({ name }: ListedItem): boolean =>
    before.some((one) => one.name === name && one.members !== null);
  const isCandidate = (item: DesiredItem, other: ListedItem): boolean =>
    hasLeft(other) || isLike(form, listing, item, other);
  return created.flatMap((item): Warning[] => {
    const [former, ...others] = unnamed.filter((one) => isCandidate(item, one));
    if (former === undefined || others.length > 0) return [];
    if (created.filter((one) => isCandidate(one, former)).length > 1) return [];
    const [from = '', to = ''] = [former.name, item.name].map((name) =>
      formatPath([form.block, name]),
    );
    const message = `${to} is new, and ${from} stays on the service. If you renamed it, declare that, and its keys go along: moved: [{ from: ${from}, to: ${to} }].`;
    return [{ code: 'may-be-renamed', message, path: [form.block, item.name] }];
  });
}

function isLike(
  form: CollectionForm,
  { whole = (_, value) => value }: Listing,
  { members }: DesiredItem,
  other: ListedItem,
): boolean {
  const names = Object.keys(members ?? {}).filter(
    (name) => !isSecretHolder(form, name, members?.[name] ?? null),
  );
  return (
    names.length > 0 &&
    Object.keys(other.members).length > 0 &&
    names.every((name) =>
      sameValue(whole(name, members?.[name] ?? null), whole(name, other.members[name] ?? null)),
    )
  );
}
