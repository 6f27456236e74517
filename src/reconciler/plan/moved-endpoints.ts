import { endpointUrl, sameEndpoint } from '../model/endpoint.ts';
import type { Finding } from '../model/guard.ts';
import { holdsMask, looksLikeMask } from '../model/mask.ts';
import { credentialsOf, entriesOf, MCP_LISTS, type McpList } from '../model/mcp.ts';
import { formatPath } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { UnseenSecret } from '../model/secret.ts';
import { isSensitiveName } from '../model/secret-words.ts';
import type { ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  sameValue,
  secretsIn,
  textFits,
  type Value,
  type ValueRecord,
  valueAt,
} from '../model/value.ts';
import { movedAddress } from './moved-addresses.ts';
import { touchedBy } from './touched.ts';

const URL_LISTS = ['sse_servers', 'shttp_servers'] as const;

/** Endpoints that move to another host and take their stored key with them. */
export function movedEndpoints(plan: SettingsPlan, observed: ObservedState): Finding[] {
  return plan.changes.flatMap((change) => {
    const [name, list] = change.path;
    if (name === 'mcp_config' && URL_LISTS.some((one) => one === list))
      return entry(change, observed);
    return touchedBy(change, observed).flatMap((one) => movedAddress(one, plan, observed));
  });
}

/** An entry that is given a key which only entries of other hosts have, or that moves away from where its own key is sent. */
function entry({ action, path, after }: Change, { values }: ObservedState): Finding[] {
  if (action === 'remove' || !isRecord(after)) return [];
  const found = (lists: readonly McpList[]): readonly ValueRecord[] =>
    lists.flatMap((list) => entriesOf(valueAt(values, ['mcp_config', list])));
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
  return !isEmpty(name) && sameValue(name, other);
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
      : secretsIn(value).some((secret) => secret.fits(isKey)),
  );
}

/** Whether some text fits, in clear or in a secret. */
function someText(value: Value, fits: (text: string) => boolean): boolean {
  if (isList(value)) return value.some((item) => someText(item, fits));
  if (isRecord(value)) return Object.values(value).some((member) => someText(member, fits));
  return textFits(value, fits);
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
