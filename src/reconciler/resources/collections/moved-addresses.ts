import type { ListedItem } from '../../model/collection.ts';
import { sameEndpoint } from '../../model/endpoint.ts';
import { findPathFacts, placesWithin, type Address } from '../../model/path-facts.ts';
import { isWithin, samePath, type Path } from '../../model/path.ts';
import type { Change, MovedAddress } from '../../model/plan.ts';
import { isEmpty, isRecord, readPath, type Value, type ValueRecord } from '../../model/value.ts';
import { isOtherProvider } from '../../plan/moved.ts';
import { PROVIDER_DEFAULTS } from '../../model/provider-defaults.ts';
import type { Planning } from './plan-members.ts';

/**
 * The addresses in an item that the changes move to another host or provider although a stored credential goes there: one of the item
 * itself, or one of another item that it names. A credential that is written again is not the one that was stored for another host.
 */
export function findMovedAddresses(
  { form, item }: Pick<Planning, 'form' | 'item'>,
  there: ListedItem | undefined,
  changes: readonly Change[],
): readonly MovedAddress[] {
  const path = [form.block, item.name];
  const after = item.members ?? {};
  return changes.flatMap((change) =>
    [change.path, ...placesWithin(change.path)].flatMap((place): MovedAddress[] => {
      const { address } = findPathFacts(place);
      if (address === null || change.action === 'remove') return [];
      const [from, to] = readPlaceValues(change, place);
      const isMoved =
        address.by === 'url'
          ? !sameEndpoint(from, to)
          : isByModel(there?.members, after) && isOtherProvider(from, to, PROVIDER_DEFAULTS);
      if (!isMoved) return [];
      const sent = address.sends.flatMap((group) =>
        selectSentItemSecret(group, { path, there: there?.members ?? {}, after, changes, address }),
      );
      const by = sent.find((one) => !isWithin(one, path));
      if (sent.length === 0) return [];
      const where = address.by === 'url' ? 'another host' : 'another provider';
      return [{ path: place, where, ...(by === undefined ? {} : { by }) }];
    }),
  );
}

function readPlaceValues({ path, before, after }: Change, place: Path): readonly [Value, Value] {
  const inside = place.slice(path.length);
  const at = (value: Value): Value =>
    inside.length === 0 ? value : (readPath(value, inside) ?? null);
  return [at(before), at(after)];
}

/** Reports whether the service infers the address of a model itself. A profile with an address uses that, whatever the model. */
function isByModel(there: ValueRecord | undefined, after: ValueRecord): boolean {
  return [there, after].every((members) =>
    ['base_url', 'connection'].every((name) => isEmpty(members?.[name])),
  );
}

interface Sending {
  readonly path: Path;
  readonly there: ValueRecord;
  readonly after: ValueRecord;
  readonly changes: readonly Change[];
  readonly address: Address;
}

/** Returns the credential that is sent from a group of alternatives; for another item its path, whether it has one or not. */
function selectSentItemSecret(group: readonly Path[], sending: Sending): readonly Path[] {
  const { path, there, after, changes, address } = sending;
  for (const place of group) {
    const [name = '', ...inner] = place.slice(path.length);
    const { item } = findPathFacts([...path, name]);
    const named = after[name];
    if (item !== null && typeof named === 'string') return [[item, named, ...inner]];
    const touching = changes.filter((change) => samePath(change.path, place));
    const isReplaced = touching.some(({ action }) => action !== 'clear');
    if (isReplaced && !address.former) return [];
    const held = readPath(there, [name, ...inner]);
    const isCleared = touching.some(({ action }) => action === 'clear');
    if (!isCleared && isStored(held)) return [place];
  }
  return [];
}

function isStored(value: Value | undefined): boolean {
  return isRecord(value) ? Object.values(value).some(isStored) : !isEmpty(value);
}
