import type { Json } from '../json/json.ts';
import { checkObject, type Member } from '../validation/object-rule.ts';
import { integerWhere, nullable, textRule } from '../validation/scalar-rules.ts';
import { badValue, crash, good, type Location, type Verdict } from '../validation/verdict.ts';

const maxTimeoutSeconds = 3600n;
const defaultTimeoutSeconds = 60n;

const timeoutRule = nullable(
  integerWhere(
    (seconds) => seconds > 0n && seconds <= maxTimeoutSeconds,
    `Timeout must be positive and at most ${maxTimeoutSeconds} seconds`,
  ),
);

const apiKey: Member = { name: 'api_key', rule: nullable(textRule), absent: null };

const sseMembers: readonly Member[] = [
  {
    name: 'url',
    rule: (value, at) => (typeof value === 'string' ? urlRule(value, at) : textRule(value, at)),
  },
  apiKey,
];

const shttpMembers: readonly Member[] = [
  { name: 'url', rule: (value, at) => (typeof value === 'string' ? urlRule(value, at) : crash) },
  apiKey,
  { name: 'timeout', rule: timeoutRule, absent: defaultTimeoutSeconds },
];

/** An entry of `sse_servers`: `{url, api_key}`. Source: specification 2.2; contract "mcp_config: a url alone is an entry". */
export function sseEntry(value: Json, at: Location): Verdict {
  return checkObject(sseMembers, 'ignored', urlAlone(value), at);
}

/**
 * An entry of `shttp_servers`: `{url, api_key, timeout}`, timeout in seconds, 60 where none is given.
 * Source: specification 2.2; contract "mcp_config: url with blanks around".
 */
export function shttpEntry(value: Json, at: Location): Verdict {
  return checkObject(shttpMembers, 'ignored', urlAlone(value), at);
}

function urlAlone(value: Json): Json {
  return typeof value === 'string' ? { url: value } : value;
}

function urlRule(value: string, at: Location): Verdict {
  const url = value.trim();
  if (url === '') return badValue('URL cannot be empty', at, value);
  const parts = /^([a-z][a-z\d+.-]*):(?:\/\/([^/?#]*))?/i.exec(url);
  if (parts === null) return badValue('URL must include a scheme', at, value);
  const host = parts[2] ?? '';
  if (host === '' || host.includes('[') !== host.includes(']')) {
    return badValue('URL must include a valid host', at, value);
  }
  if (/^(?:http|ws)s?$/i.test(parts[1] ?? '')) return good(url);
  return badValue('URL scheme must be http, https, ws or wss', at, value);
}
