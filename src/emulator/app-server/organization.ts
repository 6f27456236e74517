import { type Answer, detail, json } from '../http/answer.ts';
import { decodeBody } from '../http/body.ts';
import type { Call, Methods, Routes } from '../call.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, objectAt } from '../json.ts';
import type { ServedOrganization } from '../options.ts';
import {
  type Member,
  openOrganization,
  reachingMembers,
  withDefaults,
  withKey,
} from './members.ts';
import type { AppServerKind } from './record.ts';

/**
 * The paths of an app server whose settings are those of the members of an organisation: who sends the key of a member reads and writes as
 * that member. Source: behaviour 7.
 */
export function organizationRoutes(
  kind: AppServerKind,
  routes: Routes,
  served: ServedOrganization,
): Routes {
  const members = openOrganization(kind, served);
  const asMember = (call: Call): Call => {
    const member = memberIn(call, members);
    const store = member?.store ?? call.service.store;
    return { ...call, authorized: member !== undefined, service: { ...call.service, store } };
  };
  const wrapped = routes.map(([pattern, methods]) => {
    const own = Object.entries(methods).map(
      ([name, handler]) => [name, (call: Call) => handler(asMember(call))] as const,
    );
    return [pattern, Object.fromEntries(own)] as const;
  });
  const told = (answer: (member: Member, call: Call) => Answer) => async (call: Call) => {
    const member = memberIn(call, members);
    return member === undefined ? NO_KEY : answer(member, call);
  };
  const getUser = wrapped.find(([pattern]) => pattern === USER_PATH)?.[1]['GET'];
  return [
    ['/saas', { GET: async () => json(200, { saas: true }) }],
    ['/api/keys/current', { GET: told(currentKey) }],
    [
      USER_PATH,
      { GET: async (call) => withMembership(await getUser?.(call), memberIn(call, members)) },
    ],
    ['/api/organizations/app', { GET: told(appSettings), POST: told(saveAppSettings) }],
    ['/api/organizations/{id}/me', { GET: told(ofOwn(membership)) }],
    ['/api/organizations/{id}/members/count', { GET: told(ofOwn(memberCount)) }],
    [
      '/api/organizations/{id}/settings',
      { GET: told(ofOwn(defaults)), PATCH: told(ofOwn(saveDefaults)) },
    ],
    ['/api/organizations', { GET: told(organizations) }],
    ...wrapped.filter(([pattern]) => pattern !== USER_PATH),
  ] satisfies readonly (readonly [string, Methods])[];
}

const USER_PATH = '/api/v1/users/me';
const NO_KEY = json(401, { error: 'NoCredentialsError' });

function memberIn({ headers }: Call, members: ReadonlyMap<string, Member>): Member | undefined {
  const [, key = ''] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
  return members.get(key);
}

function currentKey(member: Member): Answer {
  const { id, name, bound, organization } = member;
  return json(200, {
    id: BigInt(organization.members.indexOf(member) + 1),
    name: `key of ${name}`,
    org_id: organization.id,
    bound_org_id: bound ? organization.id : null,
    user_id: id,
    auth_type: 'bearer',
  });
}

const PERMISSIONS = ['view_llm_settings', 'view_org_settings'];
const EDIT = 'edit_org_settings';

function permissionsOf({ role }: Member): readonly string[] {
  return role === 'member' ? PERMISSIONS : [EDIT, ...PERMISSIONS];
}

/** What this service adds to what it answers of a user. */
function withMembership(answer: Answer | undefined, member: Member | undefined): Answer {
  if (answer?.kind !== 'json' || !isJsonObject(answer.body)) return answer ?? NO_KEY;
  if (member === undefined || answer.status !== 200) return answer;
  const { id, name, role, organization } = member;
  const body: JsonObject = {
    ...answer.body,
    id,
    email: `${name}@example.com`,
    org_id: organization.id,
    org_name: organization.name,
    role,
    permissions: permissionsOf(member),
  };
  return json(200, body);
}

/** Answers about the organisation of a member alone. */
function ofOwn(answer: (member: Member, call: Call) => Answer) {
  return (member: Member, call: Call): Answer =>
    call.id === member.organization.id
      ? answer(member, call)
      : detail(403, 'User is not a member of this organization');
}

function membership(member: Member): Answer {
  const { id, name, role, organization, own, isCustom, llmKey } = member;
  return json(200, {
    org_id: organization.id,
    user_id: id,
    email: `${name}@example.com`,
    role,
    permissions: permissionsOf(member),
    llm_api_key: isCustom && llmKey !== null ? `****${llmKey.slice(-4)}` : '',
    agent_settings_diff: objectAt(own, 'agent_settings'),
    conversation_settings_diff: objectAt(own, 'conversation_settings'),
    status: 'active',
  });
}

function memberCount({ organization }: Member): Answer {
  return json(200, BigInt(organization.members.length));
}

function organizations({ id, organization }: Member): Answer {
  const { name } = organization;
  const item = { id: organization.id, name, is_personal: organization.id === id };
  return json(200, { items: [item], next_page_id: null, current_org_id: organization.id });
}

function defaults({ organization }: Member): Answer {
  const { record, llmKey } = organization;
  const search = memberOf(record, 'search_api_key');
  return json(200, {
    agent_settings: objectAt(record, 'agent_settings'),
    conversation_settings: objectAt(record, 'conversation_settings'),
    llm_api_key_set: llmKey !== null,
    search_api_key: typeof search === 'string' ? `****${search.slice(-4)}` : null,
  });
}

const MEMBERS_OF_PATCH = [
  'agent_settings_diff',
  'conversation_settings_diff',
  'llm_api_key',
  'search_api_key',
];

/** What reaches every member; null at the top is as good as left out. */
function saveDefaults(member: Member, call: Call): Answer {
  const body = editedBy(member, call);
  if ('kind' in body) return body.answer;
  if (
    Object.entries(body.value).some(
      ([name, value]) => value !== null && !MEMBERS_OF_PATCH.includes(name),
    )
  )
    return detail(
      422,
      'Only organization default settings fields are supported on /api/organizations/{org_id}/settings',
    );
  const { organization } = member;
  const key = memberOf(body.value, 'llm_api_key');
  if (typeof key === 'string') withKey(organization, key);
  reachingMembers(organization, diffsIn(body.value, ['search_api_key']));
  return defaults(member);
}

const MEMBERS_OF_APP = ['enable_proactive_conversation_starters', 'max_budget_per_task'];

function appSettings({ organization: { record } }: Member): Answer {
  const named = MEMBERS_OF_APP.map((name) => [name, memberOf(record, name) ?? null] as const);
  return json(200, { ...Object.fromEntries(named), registered_marketplaces: [] });
}

/** What the organisation's own row takes, and no member's. */
function saveAppSettings(member: Member, call: Call): Answer {
  const body = editedBy(member, call);
  if ('kind' in body) return body.answer;
  withDefaults(member.organization, diffsIn(body.value, MEMBERS_OF_APP));
  return appSettings(member);
}

function editedBy(
  member: Member,
  call: Call,
): { readonly kind: 'refused'; readonly answer: Answer } | { readonly value: JsonObject } {
  if (!permissionsOf(member).includes(EDIT))
    return { kind: 'refused', answer: detail(403, `Requires ${EDIT} permission`) };
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return { kind: 'refused', answer: decoded.answer };
  if (!isJsonObject(decoded.value))
    return { kind: 'refused', answer: detail(422, 'Input should be a valid dictionary') };
  return { value: decoded.value };
}

/** The diffs of a body as changes of a record, and the members with these names. */
function diffsIn(body: JsonObject, names: readonly string[]): JsonObject {
  const diffs = ['agent_settings', 'conversation_settings'].map((part) => {
    const { mcp_config: _, ...diff } = objectAt(body, `${part}_diff`);
    return [part, diff] as const;
  });
  const set = names.flatMap((name): (readonly [string, Json])[] => {
    const value = memberOf(body, name) ?? null;
    return value === null ? [] : [[name, value]];
  });
  return Object.fromEntries([...diffs, ...set]);
}
