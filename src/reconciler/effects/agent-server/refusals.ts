import { isEmpty, isRecord } from '../../model/value.ts';
import { matchPathName } from '../effects.ts';
import { readRecord, type Request, type Stored } from '../stored.ts';
import { AGENTS } from './agents.ts';
import { CONNECTIONS, META, PROFILES, newName } from './profiles.ts';
import { SETTINGS, readStoredName } from './settings.ts';

const MOST = 50;
const MOST_CONNECTIONS = 64;

/** The part of what is stored that a path is about. */
const PARTS: readonly (readonly [path: string, part: string])[] = [
  [PROFILES, 'llm_profiles'],
  [META, 'meta_profiles'],
  [AGENTS, 'agent_profiles'],
];

/** Why an Agent Server refuses a request because of what it has stored; null if it takes it. What a value alone is refused for is not here. */
export function findAgentRefusal(stored: Stored, request: Request): 404 | 409 | 422 | null {
  const { method, path, body } = request;
  const named = (pattern: string): string | null => matchPathName([pattern], method, path);
  if (named(`PATCH ${SETTINGS}`) !== null) return findPatchRefusal(stored, request);
  for (const [base, part] of PARTS) {
    const things = readRecord(stored, part);
    const has = (name: string): boolean => Object.hasOwn(things, readStoredName(name));
    const posted = named(`POST ${base}/{}`);
    if (posted !== null) return !has(posted) && Object.keys(things).length >= MOST ? 409 : null;
    const from = part === 'meta_profiles' ? null : named(`POST ${base}/{}/rename`);
    if (from !== null)
      return !has(from)
        ? 404
        : newName(body) !== readStoredName(from) && has(newName(body))
          ? 409
          : null;
    const activated = named(`POST ${base}/{}/activate`);
    if (activated !== null) return findActivationRefusal(stored, part, activated);
  }
  const removed = named(`DELETE ${PROFILES}/{}`);
  if (removed !== null) return isNamedByAgent(stored, readStoredName(removed)) ? 409 : null;
  return findConnectionRefusal(stored, request) ?? findServerRefusal(stored, request);
}

function findPatchRefusal(stored: Stored, { body }: Request): 404 | 422 | null {
  const diff = readRecord(body, 'agent_settings_diff');
  const kind = diff['agent_kind'] ?? readRecord(stored, 'settings', 'agent_settings')['agent_kind'];
  if (kind === 'acp' && !isEmpty(diff['llm'])) return 422;
  const name = body['active_profile'];
  if (typeof name !== 'string' || Object.hasOwn(diff, 'llm')) return null;
  return findProfileRefusal(stored, name);
}

function findActivationRefusal(stored: Stored, part: string, name: string): 404 | 422 | null {
  if (part === 'llm_profiles') return findProfileRefusal(stored, name);
  const things = readRecord(stored, part);
  const isThere =
    part === 'agent_profiles'
      ? Object.values(things).some((one) => readRecord(one)['id'] === name)
      : Object.hasOwn(things, readStoredName(name));
  return isThere ? null : 404;
}

/** A profile that is not there, or whose connection is not. */
function findProfileRefusal(stored: Stored, name: string): 404 | 422 | null {
  const profile = readRecord(stored, 'llm_profiles')[readStoredName(name)];
  if (!isRecord(profile)) return 404;
  const id = profile['provider_connection_id'];
  const connections = readRecord(stored, 'provider_connections');
  return typeof id === 'string' && !Object.hasOwn(connections, id) ? 422 : null;
}

function isNamedByAgent(stored: Stored, name: string): boolean {
  return Object.values(readRecord(stored, 'agent_profiles')).some((one) => {
    const ref = readRecord(one)['llm_profile_ref'];
    return typeof ref === 'string' && readStoredName(ref) === name;
  });
}

function findConnectionRefusal(
  stored: Stored,
  { method, path, body }: Request,
): 404 | 409 | 422 | null {
  const connections = readRecord(stored, 'provider_connections');
  if (matchPathName([`POST ${CONNECTIONS}`], method, path) !== null)
    return Object.keys(connections).length >= MOST_CONNECTIONS ? 409 : null;
  const id = matchPathName([`PATCH ${CONNECTIONS}/{}`, `DELETE ${CONNECTIONS}/{}`], method, path);
  if (id === null) return null;
  if (!Object.hasOwn(connections, id)) return 404;
  if (method === 'PATCH') return body['api_key'] === null ? 422 : null;
  const llm = readRecord(stored, 'settings', 'agent_settings', 'llm');
  const users = [llm, ...Object.values(readRecord(stored, 'llm_profiles'))];
  return users.some((one) => readRecord(one)['provider_connection_id'] === id) ? 409 : null;
}

function findServerRefusal(stored: Stored, { method, path }: Request): 404 | 409 | null {
  const base = `${SETTINGS}/mcp/{}`;
  const name = matchPathName([`POST ${base}`, `PATCH ${base}`, `DELETE ${base}`], method, path);
  const secret = matchPathName([`DELETE ${SETTINGS}/secrets/{}`], method, path);
  if (secret !== null) return Object.hasOwn(readRecord(stored, 'secrets'), secret) ? null : 404;
  if (name === null) return null;
  const isThere = Object.hasOwn(
    readRecord(stored, 'settings', 'agent_settings', 'mcp_config'),
    name,
  );
  if (method === 'POST') return isThere ? 409 : null;
  return isThere ? null : 404;
}
