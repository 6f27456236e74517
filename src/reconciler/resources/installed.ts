import { CANVAS_EXTENSIONS_FORM, PLUGINS_FORM, SKILLS_FORM } from '../model/collection-forms.ts';
import { sameMembers, type CollectionForm, type ListedItem } from '../model/collection.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { collection } from './collections/collection.ts';
import { itemsByName } from './collections/whole.ts';
import {
  createRemovals,
  type Asking,
  type Call,
  type ItemRequest,
  type ItemWork,
  type CollectionState,
  type UnsupportedItem,
  type CollectionCodec,
  type Wires,
} from './collections/wire.ts';

/*
 * Skills, plugins and canvas extensions, which a server fetches from where their code is and calls by the name that they have there. Its list writes: it
 * stores what it found in the folder, with no lock. Of two lists at once one may find a file that is half written, and then each one is
 * stored as of no source, and on. So those that are declared are read one by one.
 */

export const SKILLS = collection(SKILLS_FORM, wires(SKILLS_FORM));
export const PLUGINS = collection(PLUGINS_FORM, wires(PLUGINS_FORM));

/** A server installs one turned off, and does not replace any while a backend of one runs. */
export const CANVAS_EXTENSIONS = collection(
  CANVAS_EXTENSIONS_FORM,
  wires(CANVAS_EXTENSIONS_FORM, {
    path: '/api/canvas-extensions',
    isOnAtFirst: false,
    busy: 'the backend of a canvas extension runs: stop it in Agent Canvas',
  }),
);

function wires(form: CollectionForm, own: Partial<InstalledPlace> = {}): Wires {
  const { block, resource } = form;
  const place = { path: `/api/${block}`, block, resource, isOnAtFirst: true, ...own };
  return { 'agent-server': wire(form, place) };
}

function wire({ noun, resource }: CollectionForm, place: InstalledPlace): CollectionCodec {
  return {
    list: (asking) => readInstalledItems(asking, place),
    replaces: () => 'in-place',
    describes: true,
    whole: fillInstalledMember,
    unfit: (judged) => findInstalledTwice(judged, resource),
    listWrites: `All ${noun} are looked up: an Agent Server rewrites its own record of what is installed whenever it lists that.`,
    requests: (work) => createInstallRequests(work, place),
  };
}

/** Reads the declared items one by one. A missing one does not justify a list request that makes the service write. */
async function readInstalledItems(
  asking: Asking,
  place: InstalledPlace,
): Promise<readonly ListedItem[] | null> {
  const { names } = asking;
  if (names === 'all') return listInstalled(asking, place);
  return itemsByName(asking, `${place.path}/installed`, names, readInstalledItem, 1);
}

async function listInstalled(
  { get, unlike }: Asking,
  { path: root, block }: InstalledPlace,
): Promise<ListedItem[] | null> {
  const path = `${root}/installed`;
  const json = await get(path);
  if (typeof json === 'symbol') return null;
  const entries = isRecord(json) ? json[block] : undefined;
  if (!isList(entries)) throw unlike(path);
  const items = entries.map(readInstalledItem).filter((item) => item !== null);
  if (items.length < entries.length) throw unlike(path);
  return items;
}

/** The commit replaces the ref: the original branch or tag is not stored. */
function readInstalledItem(entry: Value): ListedItem | null {
  if (!isRecord(entry)) return null;
  const { name, source, enabled, repo_path: folder, resolved_ref: commit } = entry;
  if (typeof name !== 'string' || typeof source !== 'string') return null;
  const members: Readonly<Record<string, Value>> = {
    source,
    ...(typeof commit === 'string' ? { ref: commit } : {}),
    ...(isEmpty(folder) ? {} : { repo_path: folder }),
    enabled: enabled ?? true,
  };
  return { name, members: createRecord(members) };
}

function fillInstalledMember(name: string, value: Value): Value {
  if (name === 'enabled') return value ?? true;
  return isEmpty(value) ? null : value;
}

/** Reports whether two items are installed from the same place. */
function isSamePlace(one: ValueRecord, other: ValueRecord): boolean {
  return sameMembers(readInstallSource(one), readInstallSource(other), fillInstalledMember);
}

function readInstallSource({ source = null, repo_path: folder = null }: ValueRecord): ValueRecord {
  return createRecord({ source, repo_path: folder });
}

/** Finds items whose source is installed under another name: the service would reinstall that one. Only a full listing shows it. */
function findInstalledTwice(
  { items, listing }: CollectionState,
  resource: string,
): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    const { name, members } = item;
    const isThere = listing.items.some((one) => one.name === name);
    if (members === null || isThere) return [];
    const other = listing.items.find((one) => isSamePlace(one.members, members));
    if (other === undefined) return [];
    const why = `cannot be installed under this name: its source is named ${other.name}, and is already installed.`;
    return [{ item, why, hint: describeGivenName(resource, other.name) }];
  });
}

function describeGivenName(resource: string, name: string): string {
  return `A ${resource} has the name that its source gives it: declare it as ${name}.`;
}

interface InstalledPlace {
  readonly path: string;
  readonly block: string;
  readonly resource: string;
  /** Whether the server installs one turned on. */
  readonly isOnAtFirst: boolean;
  /** Why the server does not replace one that is there; absent if it always does. */
  readonly busy?: string;
}

/** Reinstalls an item without turning it on or off. */
function createInstallRequests(work: ItemWork, place: InstalledPlace): readonly ItemRequest[] {
  const { item, changes, there } = work;
  const { name, members } = item;
  if (members === null) return createRemovals(work, () => `${place.path}/installed/${name}`);
  const isOn = members['enabled'] ?? true;
  const changed = changes.map(({ path: [, , member = ''] }) => member);
  const installs = there === undefined || changed.some((member) => member !== 'enabled');
  const switches = there === undefined ? isOn !== place.isOnAtFirst : changed.includes('enabled');
  return [
    ...(installs ? [installation(work, members, place)] : []),
    ...(switches ? [switching(name, members, isOn, place)] : []),
  ];
}

function installation(
  { item: { name }, there }: ItemWork,
  members: ValueRecord,
  { path, resource, busy }: InstalledPlace,
): ItemRequest {
  const { source = null, ref = null, repo_path: folder = null } = members;
  const body: Readonly<Record<string, Value>> = {
    source,
    ...(isEmpty(ref) ? {} : { ref }),
    ...(isEmpty(folder) ? {} : { repo_path: folder }),
    force: there !== undefined,
  };
  const astray: Call['astray'] = ({ name: other }) =>
    other === name || typeof other !== 'string' || !NAME.test(other)
      ? null
      : {
          why: `The source of the ${resource} ${name} contains one named ${other}. The service installed it under that name. It was not removed.`,
          hint: `${describeGivenName(resource, other)} To have it removed, declare it as null.`,
        };
  return {
    kind: 'store',
    name,
    shows: members,
    call: {
      method: 'POST',
      path: `${path}/install`,
      body: createRecord(body),
      headersTimeout: FETCHING,
      astray,
      refusals: {
        400: 'it could not fetch the source',
        409:
          there !== undefined && busy !== undefined
            ? busy
            : `it has a ${resource} of the name that the source gives, from elsewhere or declared here under another name`,
        422: `the source contains no valid ${resource}`,
      },
    },
    isShown: ({ items }) =>
      items.some((one) => one.name === name && isSamePlace(one.members, members)),
  };
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The service itself fetches what it installs. */
const FETCHING = 120_000;

function switching(
  name: string,
  members: ValueRecord,
  isOn: Value,
  { path }: InstalledPlace,
): ItemRequest {
  return {
    kind: 'describe',
    name,
    shows: members,
    call: {
      method: 'PATCH',
      path: `${path}/installed/${name}`,
      body: createRecord({ enabled: isOn }),
    },
  };
}
