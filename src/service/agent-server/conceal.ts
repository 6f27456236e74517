import { isRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { concealMember, concealServers, mapRecord, open, sealed } from '../conceal.ts';
import { PLACES } from './dialect.ts';

/** Members that hold nothing but secrets, by name or because their values are anybody's; the server shows some of them in clear. */
const SECRETS = new Set(['secrets', 'extra_headers', 'api_key', 'critic_api_key']);

/** The places of fields: what they hold may be shown unless they are secrets. */
const KNOWN: ReadonlySet<string> = new Set([...PLACES.values()].map((path) => path.join('.')));

/** Records whose members are known one by one. */
const PARTS = new Set(
  [...PLACES.values()].flatMap((path) =>
    path.slice(1).map((_, at) => path.slice(0, at + 1).join('.')),
  ),
);

/**
 * Wraps what must not be seen of an answer: keys, headers, whatever has the name of a secret, urls with a secret in them, and all of
 * mcp_config but the members that are known to hold no secret.
 */
export function conceal(record: ValueRecord): ValueRecord {
  return concealed(record, '');
}

function concealed(record: ValueRecord, at: string): ValueRecord {
  return mapRecord(record, (value, name): Value => {
    const path = `${at}${name}`;
    if (SECRETS.has(name)) return value === null ? value : sealed(value);
    if (path === 'agent_settings.mcp_config') return concealServers(value);
    if ((PARTS.has(path) || path === 'agent_settings.agent_context') && isRecord(value))
      return concealed(value, `${path}.`);
    return KNOWN.has(path) ? open(value) : concealMember(value, name);
  });
}
