import { isRecord, type ValueRecord } from '../../model/value.ts';
import { concealMember, concealServers, mapRecord, open, sealed } from '../conceal.ts';
import { PLACES, TOKEN_NAMES } from './dialect.ts';

/** Members of a record or of its llm that hold nothing but a secret, by name or because they are shown in clear. */
const SECRETS = new Set(['search_api_key', 'sandbox_api_key', 'secrets_store', 'extra_headers']);

/** Names of the fields of the specification: what they hold may be shown unless they are secrets. */
const KNOWN: ReadonlySet<string> = new Set([...PLACES.values()].map((path) => path.join('.')));

/**
 * Wraps what must not be seen of an answer: keys, headers, whatever has the name of a secret, urls with a secret in them, and all of
 * mcp_config but the members that are known to hold no secret.
 */
export function conceal(record: ValueRecord): ValueRecord {
  return concealed(record, '');
}

function concealed(record: ValueRecord, at: string): ValueRecord {
  return mapRecord(record, (value, name) => {
    const path = `${at}${name}`;
    if (name === TOKEN_NAMES) return value;
    if (SECRETS.has(name) || (at === '' && typeof record[`${name}_set`] === 'boolean'))
      return value === null ? value : sealed(value);
    if (path === 'agent_settings.mcp_config') return concealServers(value);
    if (PARTS.has(path) && isRecord(value)) return concealed(value, `${path}.`);
    return KNOWN.has(path) && !name.endsWith('api_key') ? open(value) : concealMember(value, name);
  });
}

const PARTS = new Set([
  'agent_settings',
  'agent_settings.llm',
  'agent_settings.condenser',
  'conversation_settings',
]);
