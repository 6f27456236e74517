import { isRename } from '../../model/action.ts';
import {
  ACTIVE_FORM,
  activeDeclared,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
} from '../../model/collection-forms.ts';
import { itemNamed, type Listing } from '../../model/collection.ts';
import { fields, MODEL_PART } from '../../model/field.ts';
import { isWithin } from '../../model/path.ts';
import type { Change, Plan } from '../../model/plan.ts';
import type { Warning } from '../../model/error.ts';
import type { DesiredState, ObservedState } from '../../model/state.ts';
import { createRecord, isEmpty, isRecord, readPath } from '../../model/value.ts';
import { withPart } from '../../effects/stored.ts';
import { findDeactivation } from '../../plan/consequences.ts';
import { extractSettingsPlan } from '../../plan/settings-part.ts';
import { changesInSettings } from '../active-effects.ts';
import { collection } from '../collections/collection.ts';
import { renameOverPath } from '../collections/whole.ts';
import {
  createActivationRequest,
  type ItemRequest,
  type ItemWork,
  type CollectionState,
  type UnsupportedItem,
  type CollectionCodec,
  type Wires,
} from '../collections/wire.ts';
import { CONNECTION_ID } from '../../effects/agent-server/settings.ts';
import { readChangedItemName } from '../collections/send.ts';
import { listLlmProfiles, listedWithHolders } from './read.ts';
import { defaultsOf, fillMember, IN_FILE, IN_SETTINGS, type ProfileStore } from './store.ts';
import { inFile, inSettings, predictProfile, createProfileRequests } from './write.ts';

const { path: V1 } = IN_SETTINGS;

const WIRES: Wires = {
  'app-server': {
    ...createLlmProfileCodec(IN_SETTINGS),
    requests: (work) => activeAgain(work, createProfileRequests(work, V1, inSettings)),
    list: (asking) => listLlmProfiles(asking, IN_SETTINGS, 'with the active one'),
    unfit: (judged) => [...unfitActive(judged, ACTIVE_IN_V1), ...unfitInSettings(judged)],
    warned: warnStoreDeactivation,
    along: listReactivationChanges,
  },
  'agent-server': {
    ...createLlmProfileCodec(IN_FILE),
    list: (asking) => listedWithHolders(asking, IN_FILE),
    theirs: new Map([[CONNECTION_ID, 'connection']]),
    requests: (work) => createProfileRequests(work, IN_FILE.path, inFile),
    unfit: (judged) => unfitActive(judged, ACTIVE_IN_AGENT),
  },
};

/** Models by name. A profile is stored whole, and its key stays if nothing else is sent, or taken along from what is stored. */
export const LLM_PROFILES = collection(LLM_PROFILES_FORM, WIRES);

/**
 * The profile that an app-server makes inactive by a store of one: the active one at each store of it, and one without an address at the
 * store of others. Null if it makes none, or the file itself declares the active one.
 */
function findDeactivatedProfile(
  name: string,
  { items }: Listing,
  desired: DesiredState,
): string | null {
  if (itemNamed(desired, ACTIVE_FORM, 'llm_profile') !== undefined) return null;
  const active = items.find(({ isActive = false }) => isActive);
  if (active === undefined) return null;
  return active.name === name || isEmpty(active.members['base_url']) ? active.name : null;
}

/** Reports whether the plan makes the active profile inactive with the settings, which are written first. */
function isDeactivatedBefore(plan: Plan, settings: ObservedState): boolean {
  return findDeactivation(extractSettingsPlan(plan).write, settings)?.again === false;
}

/** States that a store makes the active profile inactive, and the consequences. */
function warnStoreDeactivation(
  changes: readonly Change[],
  { listing, desired, settings }: CollectionState,
  earlier: Plan,
): Warning[] {
  if (isDeactivatedBefore(earlier, settings)) return [];
  const stored = changes.filter(storesProfile).map(readChangedItemName);
  const ended = stored
    .map((name) => findDeactivatedProfile(name, listing, desired))
    .find((name) => name !== null);
  if (ended === undefined) return [];
  const why = stored.includes(ended)
    ? `Storing the active LLM profile ${ended} makes it inactive`
    : `Storing an LLM profile makes the active one, ${ended}, inactive, because it has no base_url`;
  const message = `${why} on this service. setpoint activates it again after the write. To choose the active profile in the file, declare active.llm_profile.`;
  return [{ code: 'active-profile', message, path: [LLM_PROFILES_FORM.block, ended] }];
}

/** Reports whether a change stores its profile: neither a removal nor a rename makes one inactive. */
function storesProfile(change: Change): boolean {
  return change.action !== 'remove' && !isRename(change);
}

/** Reactivates a deactivated profile unless the file names another. */
function activeAgain(work: ItemWork, requests: readonly ItemRequest[]): readonly ItemRequest[] {
  const { item, listing, desired } = work;
  const ended = item.members === null ? null : findDeactivatedProfile(item.name, listing, desired);
  return ended === null ? requests : [...requests, activation(ended, listing)];
}

/** Lists what a reactivation changes in the settings, where it follows from a change: with the first change that leads to it. */
function listReactivationChanges(
  cause: Change,
  { listing, desired, settings }: CollectionState,
  planned: Plan,
): readonly Change[] {
  if (isDeactivatedBefore(planned, settings)) return [];
  const changes = planned.at(-1)?.changes ?? [];
  const deactivates = (change: Change): string | null =>
    storesProfile(change)
      ? findDeactivatedProfile(readChangedItemName(change), listing, desired)
      : null;
  const ended = deactivates(cause);
  if (ended === null || changes.find((one) => deactivates(one) !== null) !== cause) return [];
  const { stored = createRecord({}) } = listing.items.find(({ name }) => name === ended) ?? {};
  const request = { ...createActivationRequest(V1, ended), body: createRecord({}) };
  return changesInSettings(request, cause, {
    stored: withPart(createRecord({}), [LLM_PROFILES_FORM.block], { [ended]: stored }),
    settings,
    earlier: planned,
  });
}

function activation(name: string, { items }: Listing): ItemRequest {
  return {
    kind: 'store',
    name,
    shows: items.find((one) => one.name === name)?.members ?? {},
    call: createActivationRequest(V1, name),
    isShown: (shown) => shown.items.some((one) => one.name === name && one.isActive === true),
  };
}

const ACTIVE_IN_V1 = ['llm_profiles', 'active'];
const ACTIVE_IN_AGENT = ['active_profile'];

function createLlmProfileCodec(store: ProfileStore): Omit<CollectionCodec, 'requests'> {
  return {
    list: (asking) => listLlmProfiles(asking, store),
    leaves: (storing) => predictProfile(store, storing),
    fills: (name, members) => fillMember(store, members, name),
    // A profile has the members that the llm of the settings has.
    membersHere: (_, there, { answer }) => {
      const llm = readPath(answer, MODEL_PART);
      if (!isRecord(llm) || Object.keys(llm).length === 0) return null;
      const own = fields().filter(({ place }) => isWithin(place, MODEL_PART));
      const named = own.map(({ place }) => place.at(-1) ?? '');
      return ['connection', ...named, ...Object.keys(llm), ...Object.keys(there?.stored ?? {})];
    },
    placeOf: (name) => [...MODEL_PART, name],
    replaces: () => 'in-place',
    describes: true,
    ...(store.resends === undefined ? {} : { resends: store.resends }),
    whole: (name, value) => value ?? defaultsOf(store)[name] ?? null,
    rename: (item, to) => renameOverPath(store.path, item, to),
    // A profile knows its connection by the id.
    follows: (_, member) => (member === 'connection' ? CONNECTIONS_FORM.block : undefined),
  };
}

/** The active profile is removed only where another one replaces it: else an agent would continue with an undeclared key. */
function unfitActive(
  { items, desired, settings }: CollectionState,
  place: readonly string[],
): readonly UnsupportedItem[] {
  const active = readPath(settings.answer, place);
  const item = items.find(({ name, members }) => members === null && name === active);
  const next = activeDeclared(desired, 'llm_profile');
  if (item === undefined || (next !== null && next !== item.name)) return [];
  return [
    {
      item,
      why: 'cannot be removed while it is active: the agent would go on with its model and key, or with those of another profile.',
      hint: 'Make another one active with active.llm_profile.',
    },
  ];
}

const AWS_KEYS = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'];

/** Lists what an app-server does not accept, or would lose. */
function unfitInSettings({ items, listing }: CollectionState): readonly UnsupportedItem[] {
  return items.flatMap((item): UnsupportedItem[] => {
    if (item.members === null) return [];
    if (!isEmpty(item.members['connection']))
      return [
        {
          item,
          why: 'names a connection, and this service has no provider connections.',
          hint: 'Declare base_url and api_key in the profile.',
        },
      ];
    const there = listing.items.find(({ name }) => name === item.name);
    const lost = AWS_KEYS.filter(
      (name) => !isEmpty(there?.members[name]) && !Object.hasOwn(item.members ?? {}, name),
    );
    if (lost.length === 0) return [];
    return [
      {
        item,
        why: `has ${lost.join(', ')} on the service, which a write would lose: it does not show them.`,
        hint: 'Declare them as references, or null to clear them.',
      },
    ];
  });
}
