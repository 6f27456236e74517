import type { DefaultsBy } from '../model/dialect.ts';
import { endpointUrl, sameEndpoint } from '../model/endpoint.ts';
import type { Finding } from '../model/guard.ts';
import { holdsMask, looksLikeMask } from '../model/mask.ts';
import { credentialsOf, entriesOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { formatPath } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import { beginsWith } from './plan-plain.ts';
import { isSensitiveName } from '../model/secret-words.ts';
import type { ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  sameValue,
  secretsIn,
  type Value,
  type ValueRecord,
} from '../model/value.ts';

const URL_LISTS = ['sse_servers', 'shttp_servers'] as const;

/** Endpoints that move to another host and take their stored key with them. */
export function movedEndpoints(plan: SettingsPlan, observed: ObservedState): Finding[] {
  return plan.changes.flatMap((change) => {
    const [name, list = ''] = change.path;
    if (name === 'llm_base_url') return baseUrl(change, plan, observed);
    if (name === 'llm_model') return provider(change, plan, observed);
    return name === 'mcp_config' && URL_LISTS.some((one) => one === list)
      ? entry(change, observed)
      : [];
  });
}

/** The model's key is sent to the new address, unless the same plan writes another key. */
function baseUrl(
  { path, before, after }: Change,
  plan: SettingsPlan,
  observed: ObservedState,
): Finding[] {
  const stored = observed.secrets.get('llm_api_key') === 'stored';
  const rewritten = plan.changes.some((other) => other.path[0] === 'llm_api_key');
  if (!stored || rewritten || sameEndpoint(before, after)) return [];
  const message =
    'The plan moves llm_base_url to another host, and the stored llm_api_key would go there.';
  return [{ message, path }];
}

/**
 * Another model, whose provider the service addresses by itself: the stored key is sent there instead. Only services that show which
 * address they infer are judged; with an address of its own a model of any name goes to that.
 */
function provider(
  { path, before, after }: Change,
  plan: SettingsPlan,
  { dialect, secrets, values }: ObservedState,
): Finding[] {
  const inferred = dialect.fields.get('llm_base_url')?.shownAsNull;
  const stored = secrets.get('llm_api_key') === 'stored';
  const written = (name: string) => plan.changes.some((change) => change.path[0] === name);
  if (inferred === undefined || !stored || written('llm_api_key') || written('llm_base_url'))
    return [];
  if (!isEmpty(values['llm_base_url'] ?? null)) return [];
  const [from, to] = [providerOf(before, inferred), providerOf(after, inferred)];
  if (from === null || to === null || from === to) return [];
  const message =
    'The plan moves llm_model to another provider, and the stored llm_api_key would go there.';
  return [{ message, path }];
}

/** What names the provider of a model: the address that is inferred for it, or what is before its slash. Null if that is not known. */
function providerOf(model: Value, { values }: DefaultsBy): string | null {
  if (isEmpty(model) || model instanceof UnseenSecret) return null;
  const known = [...values].find(([start]) => start !== '' && beginsWith(model, start));
  if (known !== undefined) return known[1];
  return typeof model === 'string' ? (/^([^/]+)\//.exec(model)?.[1] ?? OTHER) : OTHER;
}

const OTHER = 'another provider';

/** An entry that is given a key which only entries of other hosts have, or that moves away from where its own key is sent. */
function entry({ action, path, after }: Change, { values }: ObservedState): Finding[] {
  if (action === 'remove' || !isRecord(after)) return [];
  const mcp = values['mcp_config'];
  const found = (lists: readonly McpList[]): readonly ValueRecord[] =>
    isRecord(mcp) ? lists.flatMap((list) => entriesOf(mcp[list])) : [];
  const holders = found(URL_LISTS).filter((other) => sharesKey(after, other));
  const url = after['url'] ?? null;
  const isHere = (other: ValueRecord): boolean => sameEndpoint(other['url'] ?? null, url);
  if (holders.length > 0 && !holders.some(isHere))
    return [
      { message: `The plan gives ${formatPath(path)} the key of an entry at another host.`, path },
    ];
  const was = found(MCP_LISTS).find((other) => hasName(other, after['name']));
  if (was === undefined || isHere(was) || url instanceof UnseenSecret) return [];
  const kept = credentialsOf(was).filter((name) => mayTravel(was[name], after[name]));
  if (kept.length === 0) return [];
  const message = `The plan moves ${formatPath(path)} to another host, and the service has ${kept.join(', ')} stored for it.`;
  return [{ message, path }];
}

function hasName({ name }: ValueRecord, other: Value | undefined): boolean {
  return name !== undefined && other !== undefined && !isEmpty(name) && sameValue(name, other);
}

/** Whether what is declared for a stored credential is not surely nothing, and not surely another one. */
function mayTravel(stored: Value | undefined, declared: Value | undefined): boolean {
  if (declared === undefined) return true;
  const secrets = secretsIn(declared).filter((secret) => !secret.isEmpty());
  return secrets.length > 0 && (holdsMask(stored) || sameValue(stored, declared));
}

/** A shorter key may be part of another text by chance; a shorter parameter of a url is hardly a key. */
const SHORTEST_PART = 6;
const SHORTEST_PARAMETER = 16;

/** Whether an entry holds a key of another one: as its own, or inside a header or its url. */
function sharesKey(entry: ValueRecord, other: ValueRecord): boolean {
  return someKey(other, (key) =>
    someText(entry, (text) => text === key || (key.length >= SHORTEST_PART && text.includes(key))),
  );
}

/** Whether some secret of an entry fits: its key and other secret members, and those in its url. */
function someKey(entry: ValueRecord, fits: (key: string) => boolean): boolean {
  const isKey = (text: string): boolean => text !== '' && !looksLikeMask(text) && fits(text);
  return Object.entries(entry).some(([name, value]) =>
    name === 'url'
      ? someText(value, (url) => secretParts(url).some(isKey))
      : someText(value, isKey, 'secrets'),
  );
}

/** Only the verdict leaves a secret, never its text. */
function someText(
  value: Value,
  fits: (text: string) => boolean,
  of: 'all' | 'secrets' = 'all',
): boolean {
  if (value instanceof Secret)
    return value.compareWith((text) => (fits(text) ? 'yes' : 'no')) === 'yes';
  if (isList(value)) return value.some((item) => someText(item, fits, of));
  if (isRecord(value)) return Object.values(value).some((member) => someText(member, fits, of));
  return of === 'all' && typeof value === 'string' && fits(value);
}

function secretParts(url: string): string[] {
  const parsed = endpointUrl(url);
  if (parsed === null) return [];
  const parameters = [...parsed.searchParams]
    .filter(([name, value]) => isSensitiveName(name) || value.length >= SHORTEST_PARAMETER)
    .map(([, value]) => value);
  return [percentDecoded(parsed.username), percentDecoded(parsed.password), ...parameters];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
