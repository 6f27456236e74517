import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  mergePatch,
  objectAt,
} from '../json.ts';
import type { ServedOrganization } from '../options.ts';
import { emptyStore, type StoreContents } from '../store/store-document.ts';
import type { Store } from '../store/store.ts';
import { type AppServerKind, openRecord, sealedRecord } from './record.ts';

/** What belongs to the organisation: a save of a member's settings says so, and leaves it as it is. Source: behaviour 7. */
const OF_ORGANIZATION = [
  'llm_profiles',
  'enable_proactive_conversation_starters',
  'max_budget_per_task',
  'remote_runtime_resource_factor',
  'sandbox_base_container_image',
  'sandbox_runtime_container_image',
  'sandbox_grouping_strategy',
];

/** What a save of any member's settings writes for the organisation. Source: behaviour 7. */
const FOR_ALL = 'search_api_key';

const PARTS = ['agent_settings', 'conversation_settings'] as const;
const NOT_SHARED = 'mcp_config';

/** A member as the service keeps it. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Whether its key is of the organisation for good. */
  readonly bound: boolean;
  readonly organization: Organization;
  /** The settings of the service as this member reads and writes them. */
  readonly store: Store;
  /** What it has saved: the parts whole, so that defaults of the organisation reach it no more. */
  own: JsonObject;
  llmKey: string | null;
  /** Whether its key is its own, rather than one that the service gave it. */
  isCustom: boolean;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly members: Member[];
  /** Its defaults, and what belongs to it. */
  record: JsonObject;
  llmKey: string | null;
}

/** The organisation of a service, by the key of each member. A personal one has a workspace of its own. */
export function openOrganization(
  kind: AppServerKind,
  { name, auth = 'keycloak', members }: ServedOrganization,
): ReadonlyMap<string, Member> {
  const shared = organizationOf(idAt(0), name);
  return new Map(
    members.map(({ key, role, bound = true, personal = false }, index) => {
      const id = idAt(index + 1);
      const organization = personal ? organizationOf(id, `${id} workspace`) : shared;
      const member: Member = {
        id,
        name: `${role}-${index + 1}`,
        role: personal ? 'owner' : role,
        bound,
        organization,
        store: storeOf(kind, auth, () => member),
        own: {},
        llmKey: null,
        isCustom: false,
      };
      organization.members.push(member);
      return [key, member];
    }),
  );
}

function organizationOf(id: string, name: string): Organization {
  return { id, name, members: [], record: {}, llmKey: null };
}

function idAt(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
}

/** A change of the organisation's defaults that only its own row takes. */
export function withDefaults(organization: Organization, change: JsonObject): void {
  organization.record = mergePatch(organization.record, change);
}

/** The same, merged into what every member has saved as well; a key is every member's, and none is their own any more. */
export function reachingMembers(organization: Organization, change: JsonObject): void {
  withDefaults(organization, change);
  const parts = Object.fromEntries(
    PARTS.flatMap((part) => {
      const value = memberOf(change, part);
      return value === undefined ? [] : [[part, value]];
    }),
  );
  for (const member of organization.members) member.own = mergePatch(member.own, parts);
}

/** A key of the organisation for the model. */
export function withKey(organization: Organization, key: string): void {
  organization.llmKey = key === '' ? null : key;
  for (const member of organization.members) {
    if (key !== '') member.llmKey = key;
    member.isCustom = false;
  }
}

/** The store of one member: settings are composed when they are read, and taken apart when they are written. */
function storeOf(
  kind: AppServerKind,
  auth: 'keycloak' | 'native',
  memberOfStore: () => Member,
): Store {
  let others: StoreContents = emptyStore;
  const contents = (): StoreContents => ({
    ...others,
    settings: sealedRecord(kind, composed(memberOfStore())),
  });
  return {
    read: async () => contents(),
    update: async (change) => {
      const before = contents();
      const { contents: after, answer } = change(before);
      if (after === before) return answer;
      others = after;
      if (after.settings !== before.settings && after.settings !== undefined)
        takeApart(memberOfStore(), openRecord(kind, after.settings), auth);
      return answer;
    },
  };
}

function composed({ organization, own, llmKey, isCustom }: Member): JsonObject {
  const { record } = organization;
  const parts = PARTS.map((part) => {
    const { [NOT_SHARED]: _, ...defaults } = objectAt(record, part);
    return [part, mergePatch(defaults, objectAt(own, part))] as const;
  });
  const whole: JsonObject = {
    ...record,
    ...own,
    ...Object.fromEntries(parts),
  };
  const key = isCustom ? llmKey : (organization.llmKey ?? llmKey);
  const agent = objectAt(whole, 'agent_settings');
  return {
    ...whole,
    agent_settings: { ...agent, llm: { ...objectAt(agent, 'llm'), api_key: key } },
  };
}

function takeApart(member: Member, record: JsonObject, auth: 'keycloak' | 'native'): void {
  const { organization } = member;
  const searchKey = memberOf(record, FOR_ALL) ?? null;
  organization.record = { ...organization.record, [FOR_ALL]: searchKey };
  const llm = objectAt(objectAt(record, 'agent_settings'), 'llm');
  const key = memberOf(llm, 'api_key') ?? null;
  const isKept = ([name]: readonly [string, Json]): boolean =>
    ![...OF_ORGANIZATION, FOR_ALL].includes(name);
  member.own = withoutKey(Object.fromEntries(Object.entries(record).filter(isKept)));
  const isManaged = isManagedModel(llm);
  if (typeof key === 'string' && key !== '' && !isManaged) {
    const reached = auth === 'keycloak' ? organization.members : [member];
    for (const one of reached) one.llmKey = key;
    member.isCustom = true;
  } else if (isManaged || organization.llmKey !== null) {
    member.isCustom = false;
  }
}

/** Whether the service itself gives each member a key for a model. */
function isManagedModel(llm: JsonObject): boolean {
  const model = memberOf(llm, 'model') ?? null;
  const url = memberOf(llm, 'base_url') ?? null;
  return url === null && typeof model === 'string' && model.startsWith('openhands/');
}

function withoutKey(record: JsonObject): JsonObject {
  const agent = memberOf(record, 'agent_settings') ?? null;
  if (!isJsonObject(agent)) return record;
  const { api_key: _, ...llm } = objectAt(agent, 'llm');
  return { ...record, agent_settings: { ...agent, llm } };
}
