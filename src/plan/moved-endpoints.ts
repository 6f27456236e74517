import type { DefaultsBy } from '../model/dialect.ts';
import type { Finding } from '../model/guard.ts';
import { looksLikeMask } from '../model/mask.ts';
import { formatPath } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import { beginsWith } from './plan-plain.ts';
import { isSensitiveName } from '../model/secret-words.ts';
import type { ObservedState } from '../model/state.ts';
import { entriesOf } from '../model/mcp.ts';
import { isEmpty, isList, isRecord, type Value, type ValueRecord } from '../model/value.ts';

const URL_LISTS = ['sse_servers', 'shttp_servers'];

/** Endpoints that move to another host and take their stored key with them. */
export function movedEndpoints(plan: SettingsPlan, observed: ObservedState): Finding[] {
  return plan.changes.flatMap((change) => {
    const [name, list = ''] = change.path;
    if (name === 'llm_base_url') return baseUrl(change, plan, observed);
    if (name === 'llm_model') return provider(change, plan, observed);
    return name === 'mcp_config' && URL_LISTS.includes(list) ? entry(change, observed) : [];
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

/** An entry that is given a key which only entries of other hosts have. */
function entry({ action, path, after }: Change, { values }: ObservedState): Finding[] {
  if (action === 'remove' || !isRecord(after)) return [];
  const mcp = values['mcp_config'];
  const others = isRecord(mcp) ? URL_LISTS.flatMap((list) => entriesOf(mcp[list])) : [];
  const holders = others.filter((other) => sharesKey(after, other));
  const url = after['url'] ?? null;
  if (holders.length === 0 || holders.some((other) => sameEndpoint(other['url'] ?? null, url)))
    return [];
  return [
    { message: `The plan gives ${formatPath(path)} the key of an entry at another host.`, path },
  ];
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
  const parsed = parsedUrl(url);
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

/** Whether two addresses lead to one host and port, and the second is not less protected than the first. */
function sameEndpoint(before: Value, after: Value): boolean {
  return (
    compared(before, (earlier) =>
      compared(after, (later) => (isSameEndpoint(earlier, later) ? 'same' : 'other')),
    ) === 'same'
  );
}

function compared(value: Value, compare: (text: string) => 'same' | 'other'): 'same' | 'other' {
  if (value instanceof Secret) return value.compareWith(compare);
  return compare(typeof value === 'string' ? value : '');
}

function isSameEndpoint(before: string, after: string): boolean {
  if (before.trim() === after.trim()) return true;
  const [from, to] = [endpointOf(before), endpointOf(after)];
  if (from === null || to === null) return false;
  return (
    from.host === to.host && from.port === to.port && !(from.scheme === 's' && to.scheme === '')
  );
}

interface Endpoint {
  readonly host: string;
  /** Empty for the scheme's default port. */
  readonly port: string;
  /** `s` is encrypted, empty is not, null is not named. */
  readonly scheme: 's' | '' | null;
}

/** An empty address is the provider's own; null is an address that programs read in more than one way. */
function endpointOf(address: string): Endpoint | null {
  const text = address.trim();
  if (text === '') return { host: '', port: '', scheme: null };
  const url = parsedUrl(text);
  if (url === null) return null;
  const scheme = /^(https?|wss?):/i.exec(text)?.[1]?.toLowerCase();
  return {
    host: url.hostname.toLowerCase().replace(/\.$/, ''),
    port: url.port,
    scheme: scheme === undefined ? null : scheme === 'https' || scheme === 'wss' ? 's' : '',
  };
}

/** A url, its scheme left out or not. Backslashes, blanks and control characters make programs disagree on the host. */
function parsedUrl(text: string): URL | null {
  const address = text.trim();
  if (/[\\\s\p{C}]/u.test(address)) return null;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(address)
    ? address
    : `https://${address.replace(/^\/+/, '')}`;
  return URL.canParse(full) ? new URL(full) : null;
}
