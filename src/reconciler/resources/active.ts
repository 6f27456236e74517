import { type Change, type Plan } from '../model/plan.ts';
import { isRename } from '../model/action.ts';
import { REASONS, type Reason } from '../model/reasons.ts';
import {
  ACTIVE_FORM,
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
  META_PROFILES_FORM,
} from '../model/collection-forms.ts';
import {
  itemNamed,
  listItemNames,
  type CollectionForm,
  type DesiredItem,
  type ListedItem,
} from '../model/collection.ts';
import { isWithin, type Path } from '../model/path.ts';
import { SetpointError } from '../model/error.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  readPath,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { findDeactivation } from '../plan/consequences.ts';
import { extractSettingsPlan } from '../plan/settings-part.ts';
import { isCopied, keyChanged, keyTaken } from './active-copy.ts';
import { changesInSettings, readStoredTarget } from './active-effects.ts';
import { readAgentMembers } from './agent-profiles.ts';
import { collection } from './collections/collection.ts';
import { readChangedItemName } from './collections/send.ts';
import { NONE, readRecord, type Stored, withPart } from '../effects/stored.ts';
import { AGENT_DEFAULT, AGENTS_PATH } from './holders.ts';
import {
  ABSENT,
  LACKING,
  createActivationRequest,
  type Asking,
  type Call,
  type Get,
  type ItemRequest,
  type ItemWork,
  type CollectionState,
  type UnsupportedItem,
  type Wires,
} from './collections/wire.ts';

const V1_PROFILES = '/api/v1/settings/profiles';
const SETTINGS = '/api/settings';

const WIRES: Wires = {
  'app-server': {
    list: activeInProfiles,
    replaces: () => 'in-place',
    describes: true,
    requests: (work) => [
      request(work, createActivationRequest(V1_PROFILES, readPointerName(work.item))),
    ],
    follows: findProfilesBlock,
    stored: readActiveProfiles,
    along: (cause, judged, earlier) => listActivationChanges(cause, judged, earlier),
    unfit: unfitInProfiles,
    again: (item, earlier, judged) =>
      item.name === 'llm_profile' ? explainLostActivation(item, earlier, judged) : null,
  },
  'agent-server': {
    list: activeInPointers,
    replaces: () => 'in-place',
    describes: true,
    requests: (work) => [
      { ...request(work, createActivationCall(work)), form: createActivationForm(work) },
    ],
    follows: findProfilesBlock,
    again: explainStaleCopy,
    outdated: keyChanged,
    takesAlong: keyTaken,
    stored: readStoredTargets,
    along: listMetaChanges,
    effective: agentInEffect,
  },
};

/** The active profile of each kind. Activation copies the profile into the settings, so it comes after all else. */
export const ACTIVE = collection(ACTIVE_FORM, WIRES);

interface Pointer {
  readonly form: CollectionForm;
  readonly pointer: string;
  readonly path: string;
}

/** The path of each kind of profile on an Agent Server, and the pointer to the active one. */
const POINTERS: Readonly<Record<string, Pointer>> = {
  llm_profile: { form: LLM_PROFILES_FORM, pointer: 'active_profile', path: '/api/profiles' },
  meta_profile: {
    form: META_PROFILES_FORM,
    pointer: 'active_meta_profile',
    path: '/api/meta-profiles',
  },
  agent_profile: {
    form: AGENT_PROFILES_FORM,
    pointer: 'active_agent_profile_id',
    path: AGENTS_PATH,
  },
};

/** The block of the profiles that a pointer leads to. */
function findProfilesBlock(pointer: string): string | undefined {
  return pointer === 'llm_profile'
    ? LLM_PROFILES_FORM.block
    : pointer === 'agent_profile'
      ? AGENT_PROFILES_FORM.block
      : undefined;
}

async function activeInProfiles({ get, unlike }: Asking): Promise<readonly ListedItem[] | null> {
  const json = await get(V1_PROFILES);
  if (json === LACKING) return null;
  if (json === ABSENT) return [];
  if (!isRecord(json)) throw unlike(V1_PROFILES);
  return activeItem('llm_profile', json['active_profile']);
}

function activeItem(name: string, active: Value | undefined): ListedItem[] {
  return typeof active === 'string' && active !== ''
    ? [{ name, members: createRecord({ [ACTIVE_FORM.main]: active }) }]
    : [];
}

/** The settings are read again: the active item may have changed since they were observed. */
async function activeInPointers({
  get,
  names,
  declared,
  desired,
  answer,
  isReferred,
  unlike,
}: Asking): Promise<readonly ListedItem[] | null> {
  const settings = isReferred ? answer : await get(SETTINGS);
  if (settings === LACKING || settings === ABSENT) return null;
  if (!isRecord(settings)) throw unlike(SETTINGS);
  const id = settings['active_agent_profile_id'];
  const wanted = declared.find(({ name, members }) => name === 'agent_profile' && members !== null);
  // Where one is active, reading the list of agent profiles writes nothing.
  const named =
    wanted !== undefined && typeof id === 'string' && id !== ''
      ? ((await nameOfId(get, id, listTargetNames(desired, wanted))) ??
        (await findListedAgent(get, 'id', id, 'name')))
      : null;
  const items = [
    ...activeItem('llm_profile', settings['active_profile']),
    ...activeItem('meta_profile', settings['active_meta_profile']),
    ...activeItem('agent_profile', named ?? id),
  ];
  const told: ListedItem[] = [];
  for (const item of items) {
    const own = declared.find(({ name }) => name === item.name);
    const isAsked =
      names === 'all' ||
      (own !== undefined && listTargetNames(desired, own).includes(readPointerName(item)));
    const path = `${POINTERS[item.name]?.path ?? ''}/${encodeURIComponent(readPointerName(item))}`;
    const isSame = !isAsked || (await isCopied(get, path, item.name, settings));
    told.push(isSame ? item : { ...item, outdated: REASONS.outdated });
  }
  return told;
}

/** The names under which the service may have the profile that a pointer names, the former one included. */
function listTargetNames(desired: Asking['desired'], pointer: DesiredItem): readonly string[] {
  const wanted = readPointerName(pointer);
  const form = POINTERS[pointer.name]?.form;
  const declared = form && itemNamed(desired, form, wanted);
  return declared === undefined ? [wanted] : listItemNames([declared]);
}

async function nameOfId(get: Get, id: string, names: readonly string[]): Promise<string | null> {
  for (const name of names) if ((await findAgentProfileId(get, name)) === id) return name;
  return null;
}

/** The profiles that the file makes active, as far as their activation is copied into the settings. */
async function readStoredTargets({ get, declared }: Asking): Promise<Stored> {
  let stored: Stored = createRecord({});
  for (const item of declared) {
    const part = COPIED[item.name];
    const name = readPointerName(item);
    if (item.name === 'agent_profile' && item.members !== null)
      stored = { ...stored, agent_profiles: await agentNamed(get, name) };
    if (part === undefined || item.members === null) continue;
    const path = `${POINTERS[item.name]?.path ?? ''}/${encodeURIComponent(name)}`;
    stored = { ...stored, ...(await readStoredTarget(get, part, path, name)) };
  }
  return stored;
}

/** An agent profile by its name, as the file would declare it; nothing if there is none. */
async function agentNamed(get: Get, name: string): Promise<ValueRecord> {
  const json = await get(`${AGENTS_PATH}/${encodeURIComponent(name)}`);
  const profile = typeof json === 'symbol' ? undefined : readPath(json, ['profile']);
  return isRecord(profile) ? createRecord({ [name]: readAgentMembers(profile) }) : createRecord({});
}

/** The members of an agent profile come into effect with its activation: guards judge them as if they were set. */
function agentInEffect(
  cause: Change,
  { items, listing: { stored } }: CollectionState,
  earlier: Plan,
): readonly Change[] {
  const item = items.find(({ name }) => name === readChangedItemName(cause));
  if (item?.name !== 'agent_profile' || item.members === null) return [];
  const name = readPointerName(item);
  const { block } = AGENT_PROFILES_FORM;
  const part = earlier.find(({ resource }) => resource.block === block);
  const declared = part?.leaves?.get(name);
  const isPlanned = (path: Path): boolean =>
    part?.changes.some((change) => isWithin(path, change.path)) === true;
  const found = readPath(stored, ['agent_profiles', name]);
  const members = declared ?? (isRecord(found) ? found : createRecord({}));
  return Object.entries(members).flatMap(([member, value]): Change[] => {
    const path = [block, name, member];
    const own = { path, action: 'set', before: null, after: value, sensitive: true } as const;
    return isPlanned(path) ? [] : [{ ...cause, ...own }];
  });
}

const COPIED: Readonly<Record<string, 'llm_profiles' | 'meta_profiles'>> = {
  llm_profile: 'llm_profiles',
  meta_profile: 'meta_profiles',
};

/** The profile that the file makes active on an app-server, and the one that it replaces, whose keys the settings do not show. */
async function readActiveProfiles({ get, declared, answer }: Asking): Promise<Stored> {
  const item = declared.find(({ name, members }) => name === 'llm_profile' && members !== null);
  if (item === undefined) return createRecord({});
  const active = readPath(answer, ['llm_profiles', 'active']);
  const names = new Set([readPointerName(item), ...(typeof active === 'string' ? [active] : [])]);
  let stored: Stored = createRecord({});
  for (const name of names) {
    const path = `${V1_PROFILES}/${encodeURIComponent(name)}`;
    const found = await readStoredTarget(get, 'llm_profiles', path, name);
    stored = withPart(stored, [LLM_PROFILES_FORM.block], readRecord(found, 'llm_profiles'));
  }
  return stored;
}

function listActivationChanges(
  cause: Change,
  { items, listing: { stored }, settings }: CollectionState,
  earlier: Plan,
): readonly Change[] {
  const item = items.find(({ name }) => name === readChangedItemName(cause));
  if (item === undefined || stored === undefined || item.members === null) return [];
  const request = {
    ...createActivationRequest(V1_PROFILES, readPointerName(item)),
    body: createRecord({}),
  };
  return changesInSettings(request, cause, { stored, settings, earlier });
}

/** What an activation changes in the settings. */
function listMetaChanges(
  cause: Change,
  { items, listing: { stored }, settings }: CollectionState,
  earlier: Plan,
): readonly Change[] {
  const item = items.find(({ name }) => name === readChangedItemName(cause));
  if (item === undefined || stored === undefined || COPIED[item.name] === undefined) return [];
  const { method, path, body } = createActivationForm({ item });
  return changesInSettings({ method, path, body: body ?? NONE }, cause, {
    stored,
    settings,
    earlier,
  });
}

/** A member of the agent profile whose other member has this value, from the list of all; null if none has it. */
async function findListedAgent(
  get: Get,
  by: 'id' | 'name',
  value: string,
  member: 'id' | 'name',
): Promise<string | null> {
  const json = await get(AGENTS_PATH);
  const profiles = typeof json === 'symbol' ? undefined : readPath(json, ['profiles']);
  const found = isList(profiles)
    ? profiles.find((one) => readPath(one, [by]) === value)
    : undefined;
  const other = found === undefined ? undefined : readPath(found, [member]);
  return typeof other === 'string' ? other : null;
}

/** The id of an agent profile; null if no profile has the name. The list of all of them writes, and is not requested. */
async function findAgentProfileId(get: Get, name: string): Promise<string | null> {
  const json = await get(`${AGENTS_PATH}/${encodeURIComponent(name)}`);
  const id = typeof json === 'symbol' ? undefined : readPath(json, ['profile', 'id']);
  return typeof id === 'string' ? id : null;
}

function readPointerName({ members }: Pick<DesiredItem, 'members'>): string {
  const name = members?.[ACTIVE_FORM.main];
  return typeof name === 'string' ? name : '';
}

/** The request of an activation; that of an agent profile has its name in the place of its id. */
function createActivationForm({ item }: Pick<ItemWork, 'item'>): Call {
  const { pointer, path } = POINTERS[item.name] ?? { pointer: '', path: '' };
  if (item.members === null)
    return { method: 'PATCH', path: SETTINGS, body: createRecord({ [pointer]: null }) };
  return createActivationRequest(path, readPointerName(item));
}

function createActivationCall({ item }: ItemWork): ItemRequest['call'] {
  if (item.members === null || item.name !== 'agent_profile') return createActivationForm({ item });
  const name = readPointerName(item);
  return async (get) => {
    const own = await findAgentProfileId(get, name);
    // The list makes the profile `default` where no agent profile is active.
    const id =
      own ?? (name === AGENT_DEFAULT ? await findListedAgent(get, 'name', name, 'id') : null);
    if (id !== null) return createActivationRequest(AGENTS_PATH, id);
    throw new SetpointError('unfit-for-service', `This service has no agent profile ${name}.`, {
      hint: 'Declare it under agent_profiles, or check the name.',
    });
  };
}

function request({ item }: ItemWork, call: ItemRequest['call']): ItemRequest {
  const { name, members } = item;
  return {
    kind: members === null ? 'remove' : 'store',
    name,
    shows: members ?? {},
    call,
  };
}

/** Only LLM profiles are active on an app-server, and it has no request that makes none active. */
function unfitInProfiles({ items, listing }: CollectionState): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    if (item.name !== 'llm_profile' && item.members !== null)
      return [
        {
          item,
          why: 'is of a kind that this service does not have.',
          hint: 'Remove it for this environment, or use an Agent Server.',
        },
      ];
    if (item.members !== null || !listing.items.some(({ name }) => name === item.name)) return [];
    return [
      {
        item,
        why: 'is null, and this service has no request that makes no profile active.',
        hint: 'Name the profile that is to be active, or remove the key.',
      },
    ];
  });
}

/** Explains why an app-server profile must be activated again: each store of it, and some stores of others, deactivate it. */
function explainLostActivation(
  item: DesiredItem,
  earlier: Plan,
  { desired, listing: { stored }, settings }: CollectionState,
): Reason | null {
  const name = item.members?.[ACTIVE_FORM.main];
  const profiles = listNewItemPaths(earlier, LLM_PROFILES_FORM.block);
  if (profiles.some((path) => path[1] === name)) return REASONS['stored-by-plan'];
  const { block } = LLM_PROFILES_FORM;
  const declared = itemNamed(desired, LLM_PROFILES_FORM, readPointerName(item))?.members;
  const members = declared ?? readPath(stored, [block, readPointerName(item)]);
  const isBare = isRecord(members) && isEmpty(members['base_url']);
  const stores = profiles.length > 0 || listNewItemPaths(earlier, 'settings').length > 0;
  if (isBare && stores) return REASONS['without-address'];
  const ending = findDeactivation(extractSettingsPlan(earlier).write, settings);
  return ending === null ? null : REASONS['ended-by-plan'];
}

/** Explains why an Agent Server profile must be activated again: the settings have a copy that its change does not reach. */
function explainStaleCopy(
  item: DesiredItem,
  earlier: Plan,
  { desired }: CollectionState,
): Reason | null {
  const name = item.members?.[ACTIVE_FORM.main];
  const block = item.name === 'meta_profile' ? META_PROFILES_FORM.block : LLM_PROFILES_FORM.block;
  if (item.name === 'agent_profile') return null;
  if (listNewItemPaths(earlier, block).some((path) => path[1] === name))
    return REASONS['changed-by-plan'];
  if (item.name !== 'llm_profile') return null;
  const declared = itemNamed(desired, LLM_PROFILES_FORM, readPointerName(item));
  const connection: Value = readMemberOrNull(declared?.members, 'connection');
  const isTouched = listNewItemPaths(earlier, CONNECTIONS_FORM.block).some(
    (path) => path[1] === connection,
  );
  return isTouched ? REASONS['connection-changes'] : null;
}

function readMemberOrNull(members: ValueRecord | null | undefined, name: string): Value {
  return members?.[name] ?? null;
}

/** A rename alone makes nothing inactive, and brings nothing new. */
function listNewItemPaths(plan: Plan, block: string): readonly (readonly string[])[] {
  const part = plan.find(({ resource }) => resource.block === block);
  return part?.changes.filter((change) => !isRename(change)).map(({ path }) => path) ?? [];
}
