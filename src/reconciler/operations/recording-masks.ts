import { isSensitiveName } from '../model/secret-words.ts';
import { isList, isRecord, WireNumber, type Json, type Value } from '../model/value.ts';

/** What stands in a recording for texts that were answered: the same id, name or email has the same number everywhere in it. */
export interface Stands {
  /** What an answer is recorded as. */
  readonly of: (value: Value) => Json;
  readonly ofId: (id: string) => string;
}

/** Members whose words are the service's own. Any other text is masked. */
const WORDS: ReadonlySet<string> = new Set([
  'role',
  'permissions',
  'global_permissions',
  'auth_type',
  'mode',
  'agent_kind',
  'sandbox_grouping_strategy',
  'security_analyzer',
  'reconciliation_state',
  'status',
  'scope',
  'detail',
  'error',
]);
const WORD = /^[A-Za-z][A-Za-z_]{0,39}$/;

/** Maps whose keys somebody has chosen. */
const FREE =
  /^(mcp_config|mcpservers|profiles|headers|extra_headers|env|metadata|secrets|custom_secrets|provider_tokens(_set)?|connections|litellm_extra_body|overrides)$/i;
const KEY = /^[a-z][a-z_]{0,63}$/;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function stands(): Stands {
  const known = new Map<string, string>();
  const numbered = (kind: 'id' | 'email' | 'name', text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const count = [...known.values()].filter((one) => one.startsWith(`${kind}-`)).length;
    known.set(text, `${kind}-${count + 1}`);
    return `${kind}-${count + 1}`;
  };
  const textOf = (text: string, name: string): string => {
    if (text === '') return '';
    if (WORDS.has(name) && WORD.test(text)) return text;
    if (isSensitiveName(name) || /key|token|secret|password/i.test(name)) return '(secret)';
    if (UUID.test(text) || /(^|_)id$/.test(name)) return numbered('id', text);
    if (text.includes('@')) return numbered('email', text);
    return name.endsWith('name') ? numbered('name', text) : '(text)';
  };
  const valueOf = (value: Value, name: string): Json => {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return textOf(value, name);
    if (typeof value === 'number' || value instanceof WireNumber)
      return /(^|_)id$/.test(name) || isSensitiveName(name)
        ? numbered('id', String(value instanceof WireNumber ? value.token : value))
        : Number(value instanceof WireNumber ? value.token : value);
    if (isList(value)) return value.map((item) => valueOf(item, name));
    if (!isRecord(value)) return '(secret)';
    const isFree = FREE.test(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        isFree || !KEY.test(key) ? numbered('name', key) : key,
        valueOf(inner, key),
      ]),
    );
  };
  return { of: (value) => valueOf(value, ''), ofId: (id) => numbered('id', id) };
}
