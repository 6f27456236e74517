import { isEmpty, isRecord, sameValue } from '../../model/value.ts';
import { matchPathName, type Obstacle, type RefusalRule } from '../effects.ts';
import { limitPart, requireFreeName, requireThing } from '../refusals.ts';
import { readRecord, type Request, type Stored, withPart } from '../stored.ts';
import { AGENTS } from './agents.ts';
import { CONNECTIONS, META, PROFILES, newName } from './profiles.ts';
import { CONNECTION_ID, SETTINGS, readConnectionId, readStoredName } from './settings.ts';

const MOST = 50;
const MOST_CONNECTIONS = 64;
const MCP = `${SETTINGS}/mcp/{}`;

const MISSING: Obstacle = { code: 'missing' };
const NOT_ACCEPTED: Obstacle = { code: 'not-accepted' };

const hasNamed =
  (part: string) =>
  (stored: Stored, name: string): boolean =>
    Object.hasOwn(readRecord(stored, part), readStoredName(name));

const hasServer = (stored: Stored, name: string): boolean =>
  Object.hasOwn(readRecord(stored, 'settings', 'agent_settings', 'mcp_config'), name);

/** The refusals of an Agent Server because of what it has stored. */
export const AGENT_REFUSALS: readonly RefusalRule[] = [
  {
    rule: 'settings: an agent of another maker takes no llm',
    on: [`PATCH ${SETTINGS}`],
    status: 422,
    refuses: (stored, { body }) => {
      const diff = readRecord(body, 'agent_settings_diff');
      const { agent_kind: kind } = {
        ...readRecord(stored, 'settings', 'agent_settings'),
        ...diff,
      };
      return kind === 'acp' && !isEmpty(diff['llm']) ? NOT_ACCEPTED : null;
    },
  },
  {
    rule: 'settings: active_profile names a profile that is there, unless an llm is sent beside it',
    on: [`PATCH ${SETTINGS}`],
    status: 404,
    refuses: (stored, { body }) => {
      const name = readCopiedProfile(body);
      return name === null || hasNamed('llm_profiles')(stored, name) ? null : MISSING;
    },
  },
  {
    rule: 'settings: active_profile names a profile whose connection is there',
    on: [`PATCH ${SETTINGS}`],
    status: 422,
    refuses: (stored, { body }) => findBrokenLink(stored, readCopiedProfile(body)),
  },
  limitPart('llm_profiles', `POST ${PROFILES}/{}`, MOST, readStoredName),
  limitPart('meta_profiles', `POST ${META}/{}`, MOST, readStoredName),
  limitPart('agent_profiles', `POST ${AGENTS}/{}`, MOST, readStoredName),
  limitPart('provider_connections', `POST ${CONNECTIONS}`, MOST_CONNECTIONS),
  requireThing(
    'llm_profiles',
    [`POST ${PROFILES}/{}/rename`, `POST ${PROFILES}/{}/activate`],
    hasNamed('llm_profiles'),
  ),
  requireThing('meta_profiles', [`POST ${META}/{}/activate`], hasNamed('meta_profiles')),
  requireThing('agent_profiles', [`POST ${AGENTS}/{}/rename`], hasNamed('agent_profiles')),
  {
    rule: 'agent_profiles: the id that is made active is there',
    on: [`POST ${AGENTS}/{}/activate`],
    status: 404,
    refuses: (stored, { name }) => (findAgentName(stored, 'id', name) === null ? MISSING : null),
  },
  requireThing('provider_connections', [`PATCH ${CONNECTIONS}/{}`, `DELETE ${CONNECTIONS}/{}`]),
  requireThing('mcp_servers', [`PATCH ${MCP}`, `DELETE ${MCP}`], hasServer),
  requireThing('secrets', [`DELETE ${SETTINGS}/secrets/{}`]),
  requireFreeName('llm_profiles', `POST ${PROFILES}/{}/rename`, 409, newName, readStoredName),
  requireFreeName('agent_profiles', `POST ${AGENTS}/{}/rename`, 409, newName, readStoredName),
  {
    rule: 'mcp_servers: one that is there is not stored anew',
    on: [`POST ${MCP}`],
    status: 409,
    refuses: (stored, { name }) => (hasServer(stored, name) ? { code: 'taken' } : null),
  },
  {
    rule: 'llm_profiles: one whose connection is gone is not made active',
    on: [`POST ${PROFILES}/{}/activate`],
    status: 422,
    refuses: (stored, { name }) => findBrokenLink(stored, name),
  },
  {
    rule: 'llm_profiles: one that an agent profile names stays',
    on: [`DELETE ${PROFILES}/{}`],
    status: 409,
    refuses: (stored, { name }) =>
      findUsers(
        listThings(stored, 'agent_profiles').filter(([, , { llm_profile_ref: ref }]) => {
          return typeof ref === 'string' && readStoredName(ref) === readStoredName(name);
        }),
      ),
  },
  {
    rule: 'provider_connections: one that a profile or the settings name stays',
    on: [`DELETE ${CONNECTIONS}/{}`],
    status: 409,
    refuses: (stored, { name }) => {
      const llm = readRecord(stored, 'settings', 'agent_settings', 'llm');
      const all = [...listThings(stored, 'llm_profiles'), ['settings', 'llm', llm] as const];
      return findUsers(all.filter(([, , one]) => sameValue(one[CONNECTION_ID] ?? null, name)));
    },
  },
];

type Thing = readonly [part: string, name: string, one: ReturnType<typeof readRecord>];

function listThings(stored: Stored, part: string): readonly Thing[] {
  return Object.entries(readRecord(stored, part)).map(([name, one]) => [
    part,
    name,
    readRecord(one),
  ]);
}

function findUsers(users: readonly Thing[]): Obstacle | null {
  return users.length === 0
    ? null
    : { code: 'in-use', by: users.map(([part, name]) => [part, name]) };
}

/** The profile that a PATCH copies into the settings; null if it copies none. */
function readCopiedProfile(body: Request['body']): string | null {
  const name = body['active_profile'];
  const isSent = Object.hasOwn(readRecord(body, 'agent_settings_diff'), 'llm');
  return typeof name === 'string' && !isSent ? name : null;
}

/** A profile that names a connection which is not there. */
function findBrokenLink(stored: Stored, name: string | null): Obstacle | null {
  const profile = readRecord(stored, 'llm_profiles')[readStoredName(name ?? '')];
  const id = isRecord(profile) ? readConnectionId(profile) : null;
  if (id === null) return null;
  const isThere = Object.hasOwn(readRecord(stored, 'provider_connections'), id);
  return isThere ? null : { code: 'broken' };
}

function findAgentName(stored: Stored, member: 'id' | 'name', value: string): Thing | null {
  const all = listThings(stored, 'agent_profiles');
  return all.find(([, name, one]) => (member === 'id' ? one['id'] : name) === value) ?? null;
}

/** A form names connections, and the agent profile that it makes active, by their names: a server knows them by ids that it makes. */
export function resolveIds(stored: Stored, request: Request): Request {
  const { method, path, body } = request;
  const agent = matchPathName([`POST ${AGENTS}/{}/activate`], method, path);
  const [, , one] = (agent === null ? null : findAgentName(stored, 'name', agent)) ?? [];
  if (typeof one?.['id'] === 'string')
    return { ...request, path: `${AGENTS}/${encodeURIComponent(one['id'])}/activate` };
  const link = readRecord(body, 'llm')[CONNECTION_ID];
  const found = listThings(stored, 'provider_connections').find(
    ([, , { display_name: name }]) => typeof link === 'string' && name === link,
  );
  if (found === undefined) return request;
  return { ...request, body: withPart(body, ['llm'], { [CONNECTION_ID]: found[1] }) };
}
