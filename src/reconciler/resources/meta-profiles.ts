import { META_PROFILES_FORM } from '../model/collection-forms.ts';
import { sameMembers, type ListedItem } from '../model/collection.ts';
import { isList, isRecord, createRecord, type Value, type ValueRecord } from '../model/value.ts';
import { collection } from './collections/collection.ts';
import { NONE } from '../effects/stored.ts';
import { changesInSettings } from './active-effects.ts';
import { readChangedItemName } from './collections/send.ts';
import { selectCarriedMembers, itemsListed, wholeRequests } from './collections/whole.ts';
import type { Asking, Wires } from './collections/wire.ts';
import { needsHolders, withHolders } from './holders.ts';

const PATH = '/api/meta-profiles';

/** The server's name of each member of the file. */
const NAMES = [
  ['classifier', 'classifier_model'],
  ['classes', 'classes'],
  ['prompt_template', 'prompt_template'],
  ['model_table', 'model_table'],
] as const;

const WIRES: Wires = {
  'agent-server': {
    list: listMetaProfiles,
    replaces: () => 'in-place',
    describes: true,
    whole: fillMetaMember,
    theirs: new Map(NAMES.map(([own, name]) => [name, own])),
    requests: (work) => wholeRequests(work, PATH, toMetaConfig),
    leaves: selectCarriedMembers,
    along: (cause, { settings }, earlier) =>
      cause.action === 'remove'
        ? changesInSettings(
            {
              method: 'DELETE',
              path: `${PATH}/${encodeURIComponent(readChangedItemName(cause))}`,
              body: NONE,
            },
            cause,
            { stored: NONE, settings, earlier },
          )
        : [],
  },
};

/** Which model answers which kind of task. */
export const META_PROFILES = collection(META_PROFILES_FORM, WIRES);

/**
 * Reports whether the settings have an unchanged copy of a meta profile. They get it when it is made active, and a change of the profile
 * does not reach it.
 */
export function isActiveCopy(config: ValueRecord, copy: Value | undefined): boolean {
  return (
    isRecord(copy) && sameMembers(readMetaMembers(copy), readMetaMembers(config), fillMetaMember)
  );
}

/** Classes have an order; without any it is an empty list. */
function fillMetaMember(name: string, value: Value): Value {
  return name === 'classes' ? (value ?? []) : value;
}

function toMetaConfig(members: ValueRecord): ValueRecord {
  return createRecord(
    NAMES.flatMap(([own, theirs]) => {
      const value = members[own] ?? null;
      return value === null ? [] : [[theirs, value] as const];
    }),
  );
}

function readMetaMembers(config: ValueRecord): ValueRecord {
  return createRecord(
    NAMES.flatMap(([own, theirs]) => {
      const value = config[theirs] ?? null;
      return value === null || (isList(value) && value.length === 0) ? [] : [[own, value] as const];
    }),
  );
}

/** The members that the file has no place for: those of other releases. */
function withoutMetaMembers(config: ValueRecord): ValueRecord {
  const known: readonly string[] = NAMES.map(([, theirs]) => theirs);
  return createRecord(Object.entries(config).filter(([name]) => !known.includes(name)));
}

/** Neither listing nor reading one writes. For those that the file does not declare only the names are reported. */
async function listMetaProfiles(asking: Asking): Promise<readonly ListedItem[] | null> {
  const list = await asking.get(PATH);
  if (typeof list === 'symbol') return null;
  const items = await itemsListed(asking, PATH, { list, key: 'meta_profiles' }, (found) => {
    const config = isRecord(found) ? found['config'] : undefined;
    if (!isRecord(config)) return null;
    const shows = NAMES.flatMap(([own, theirs]) => (Object.hasOwn(config, theirs) ? [own] : []));
    return { members: readMetaMembers(config), stored: withoutMetaMembers(config), shows };
  });
  if (!needsHolders(asking, items)) return items;
  const active = asking.answer['active_meta_profile'];
  const held = await withHolders(asking, items, 'meta profiles');
  return held.map((item) => (item.name === active ? { ...item, isActive: true } : item));
}
