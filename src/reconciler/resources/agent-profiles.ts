import {
  activeDeclared,
  AGENT_PROFILES_FORM,
  LLM_PROFILES_FORM,
  resolveToolName,
} from '../model/collection-forms.ts';
import { listItemNames, type DesiredItem, type ListedItem } from '../model/collection.ts';
import { shapeStored } from '../effects/effects.ts';
import { AGENT_SERVER } from '../effects/agent-server/index.ts';
import { agentProfileNode, withoutCriticKey } from '../effects/agent-server/types.ts';
import { NONE, readRecord, withMembers, withPart } from '../effects/stored.ts';
import type { SchemaNode } from '../model/json-schema.ts';
import { nativeNodes } from '../model/native-schema.ts';
import { memberFacts } from '../model/path-facts.ts';
import type { Change, Plan } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../model/value.ts';
import { ACTIVE_AGENT, AGENT_DEFAULT, AGENTS_PATH } from './holders.ts';
import { changesInSettings } from './active-effects.ts';
import { collection } from './collections/collection.ts';
import { readChangedItemName } from './collections/send.ts';
import {
  selectCarriedMembers,
  itemsByName,
  renameOverPath,
  wholeRequests,
} from './collections/whole.ts';
import type { Asking, CollectionState, UnsupportedItem, Wires } from './collections/wire.ts';

/** The server's names of members that the file calls otherwise. */
const THEIRS: Readonly<Record<string, string>> = {
  llm_profile: 'llm_profile_ref',
  mcp_servers: 'mcp_server_refs',
  secrets: 'secret_refs',
  meta_profile: 'meta_profile_ref',
};

const WIRES: Wires = {
  'agent-server': {
    list: listAgentProfiles,
    replaces: () => 'in-place',
    describes: true,
    whole: wholeAgentMember,
    requests: (work) => wholeRequests(work, AGENTS_PATH, agentProfileBody),
    leaves: selectCarriedMembers,
    rename: (item, to) => renameOverPath(AGENTS_PATH, item, to),
    follows: (_, member) => (member === 'llm_profile' ? LLM_PROFILES_FORM.block : undefined),
    unfit: unfitProfiles,
    along: listRemovalChanges,
    membersHere: findMembersHere,
    placeOf: (name) => ['agent_settings', name],
    theirs: new Map(Object.entries(THEIRS).map(([own, name]) => [name, own])),
    keeps: isServersOwn,
    listWrites:
      'All agent profiles are looked up: an Agent Server makes the profile default, and makes it active, whenever none is.',
  },
};

/**
 * Agents by name. A server counts the revisions of each, also for a POST of equal content: only differences are posted. Its list creates a
 * profile and activates it if none is active, so only declared ones are read.
 */
export const AGENT_PROFILES = collection(AGENT_PROFILES_FORM, WIRES);

/** The members of a profile of either kind, as the server has them. What the server alone writes is none of them. */
function listNodes(): Readonly<Record<string, SchemaNode>> {
  if (nodes !== undefined) return nodes;
  const all = {
    ...agentProfileNode('openhands').properties,
    ...agentProfileNode('acp').properties,
  };
  nodes = Object.fromEntries(Object.entries(all).filter(([name]) => !SERVED.includes(name)));
  return nodes;
}

let nodes: Readonly<Record<string, SchemaNode>> | undefined;

/** The names of all members, as the file has them. */
function listAgentMembers(): readonly string[] {
  const own = new Map(Object.entries(THEIRS).map(([name, theirs]) => [theirs, name]));
  return Object.keys(listNodes()).map((name) => own.get(name) ?? name);
}

/** A member with what it leaves out. The order of names does not count, that of a program's arguments does. */
function wholeAgentMember(name: string, value: Value): Value {
  const theirs = THEIRS[name] ?? name;
  const node = { properties: { [theirs]: listNodes()[theirs] ?? {} } };
  const sent = createRecord(value === null ? [] : [[theirs, value]]);
  const whole = readRecord(shapeStored(AGENT_SERVER, node, sent, createRecord({})))[theirs] ?? null;
  if (name === 'verification') return withoutCriticKey(whole);
  if (name === 'tools') return isList(whole) ? whole.map(renameTool) : whole;
  return memberFacts('AgentProfile', name).shows === 'name' ? sortNames(whole) : whole;
}

/** A tool under the name that a server stores. */
function renameTool(tool: Value): Value {
  const { name } = readRecord(tool);
  return isRecord(tool) && typeof name === 'string'
    ? withMembers(tool, { name: resolveToolName(name) })
    : tool;
}

function sortNames(value: Value): Value {
  if (!isList(value)) return value;
  const textOf = (one: Value): string => {
    const text = one instanceof Secret ? one.reveal() : one;
    return typeof text === 'string' ? text : '';
  };
  return value.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

/** A profile as a server is sent it. */
export function agentProfileBody(members: ValueRecord): ValueRecord {
  return createRecord(
    Object.entries(members).flatMap(([name, value]) =>
      value === null ? [] : [[THEIRS[name] ?? name, value] as const],
    ),
  );
}

/** Returns the members of a profile that differ from their defaults, by the names of the file. */
export function readAgentMembers(profile: ValueRecord): ValueRecord {
  return createRecord(
    listAgentMembers().flatMap((name) => {
      const value = profile[THEIRS[name] ?? name] ?? null;
      const isDefault = sameValue(wholeAgentMember(name, value), wholeAgentMember(name, null));
      return isDefault ? [] : [[name, value] as const];
    }),
  );
}

/** What the server alone writes of a profile. */
const SERVED = ['schema_version', 'id', 'name', 'revision'];

/** The members that the file has no place for: those of other releases. */
function withoutKnown(profile: ValueRecord): ValueRecord {
  const known = [...listAgentMembers().map((name) => THEIRS[name] ?? name), ...SERVED];
  return createRecord(Object.entries(profile).filter(([name]) => !known.includes(name)));
}

/**
 * The members that a release has of a profile: those that it shows of it, and of a new one those of the agent of the settings. What only
 * profiles have is in every release that has them. An agent of another kind shows nothing of it.
 */
function findMembersHere(
  { members }: DesiredItem,
  there: ListedItem | undefined,
  { answer }: ObservedState,
): readonly string[] | null {
  const agent = answer['agent_settings'];
  const other = there?.members ?? (isRecord(agent) ? agent : {});
  const kinds = [members ?? {}, other].map((one) => one['agent_kind'] ?? 'openhands');
  if (!sameValue(kinds[0] ?? null, kinds[1] ?? null)) return null;
  if (there !== undefined) return there.shows ?? null;
  if (!isRecord(agent) || Object.keys(agent).length === 0) return null;
  const ofSettings = (name: string) => nativeNodes('agent-server', ['agent_settings', name]);
  return listAgentMembers().filter(
    (name) => ofSettings(name).length === 0 || Object.hasOwn(agent, name),
  );
}

/** The members that an answer has of a profile, also those that are null, by the names of the file. */
function selectShownMembers(profile: ValueRecord): readonly string[] {
  return listAgentMembers().filter((name) => Object.hasOwn(profile, THEIRS[name] ?? name));
}

async function listAgentProfiles(asking: Asking): Promise<readonly ListedItem[] | null> {
  return itemsByName(asking, AGENTS_PATH, await namesAsked(asking), (found) => {
    const profile = isRecord(found) ? found['profile'] : undefined;
    if (!isRecord(profile)) return null;
    const { id } = profile;
    return {
      members: readAgentMembers(profile),
      shows: selectShownMembers(profile),
      stored: withoutKnown(profile),
      ...(typeof id === 'string' ? { id } : {}),
    };
  });
}

/** All are known by their list alone. It is asked for where one is active, and writes nothing then, or where the file names all. */
async function namesAsked({
  names,
  declared,
  isExhaustive,
  answer,
  get,
  unlike,
}: Asking): Promise<readonly string[]> {
  const own = listItemNames(declared);
  const isLooked = names === 'all' && !isEmpty(answer[ACTIVE_AGENT]);
  if (!isLooked && !isExhaustive) return own;
  const json = await get(AGENTS_PATH);
  if (typeof json === 'symbol') return own;
  const entries = isRecord(json) ? json['profiles'] : undefined;
  if (!isList(entries)) throw unlike(AGENTS_PATH);
  const listed = entries.map((entry) => (isRecord(entry) ? entry['name'] : null));
  return listed.filter((name) => typeof name === 'string');
}

/** The profile that a server creates automatically comes back while none else is active, and when the active one is removed. */
function unfitProfiles(judged: CollectionState): readonly UnsupportedItem[] {
  const { items, listing, desired, settings } = judged;
  const item = items.find(({ name, members }) => name === AGENT_DEFAULT && members === null);
  const there = listing.items.find(({ name }) => name === AGENT_DEFAULT);
  if (item === undefined || isAnotherNext(desired)) return [];
  const gone = findRemovedActiveAgent(judged);
  const active = settings.answer[ACTIVE_AGENT] ?? null;
  const isOf = ({ id }: ListedItem): boolean => id !== undefined && sameValue(active, id);
  // The list, which shows all of them, makes it active where none was.
  const isListed = desired.exhaustive?.has(AGENT_PROFILES_FORM.block) === true;
  const isActive = there !== undefined && (isOf(there) || (isListed && !listing.items.some(isOf)));
  if (!isActive && (gone === null || gone === AGENT_DEFAULT)) return [];
  const why = isActive
    ? 'cannot be removed while it is active: the server would make it again at once.'
    : `cannot be removed together with ${gone}, which is active: the server would make it again at once.`;
  return [{ item, why, hint: 'Make another one active with active.agent_profile.' }];
}

/** The profile that is active and that the file removes; null if it removes another, or none. */
function findRemovedActiveAgent({
  items,
  listing,
  settings,
}: Pick<CollectionState, 'items' | 'listing' | 'settings'>): string | null {
  const id = settings.answer[ACTIVE_AGENT] ?? null;
  const active = listing.items.find((one) => one.id !== undefined && sameValue(one.id, id));
  const item = items.find(({ name }) => name === active?.name);
  return item !== undefined && item.members === null ? item.name : null;
}

/** Lists the changes that the removal of the active profile makes in the settings: those of an agent of another maker go with it. */
function listRemovalChanges(
  cause: Change,
  judged: CollectionState,
  planned: Plan,
): readonly Change[] {
  const { listing, desired, settings } = judged;
  const name = findRemovedActiveAgent(judged);
  const next = activeDeclared(desired, 'agent_profile') ?? name;
  if (name === null || next !== name || readChangedItemName(cause) !== name) return [];
  const { id = null } = listing.items.find((one) => one.name === name) ?? {};
  const path = `${AGENTS_PATH}/${encodeURIComponent(name)}`;
  const stored = withPart(NONE, ['agent_profiles', name], { id });
  const request = { method: 'DELETE', path, body: NONE };
  return changesInSettings(request, cause, { stored, settings, earlier: planned }).filter(
    // Which profile takes over is not known: not all are listed.
    (change) => change.path[0] !== ACTIVE_AGENT,
  );
}

function isAnotherNext(desired: DesiredState): boolean {
  const next = activeDeclared(desired, 'agent_profile');
  return next !== null && next !== AGENT_DEFAULT;
}

/**
 * Reading the list makes it active if none was: only another one that is active and stays shows that it is inactive. If others are removed,
 * the active one stays only if the file names it.
 */
function isServersOwn(
  { name, id }: ListedItem,
  { items, listing, desired, settings }: CollectionState,
): boolean {
  if (name !== AGENT_DEFAULT || isAnotherNext(desired)) return false;
  const active = settings.answer[ACTIVE_AGENT] ?? null;
  if (id === undefined || isEmpty(active) || sameValue(active, id)) return true;
  const other = listing.items.find((one) => one.id !== undefined && sameValue(one.id, active));
  return items.every(({ name: own, members }) => own !== other?.name || members === null);
}
