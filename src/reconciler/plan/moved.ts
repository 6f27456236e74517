import { endpointUrl, sameEndpoint } from '../model/endpoint.ts';
import type { GuardFinding } from '../model/guard.ts';
import { holdsMask, looksLikeMask, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import {
  listSecretMembers,
  listRecordEntries,
  isEntryPath,
  MCP_LISTS,
  type McpList,
} from '../model/mcp.ts';
import { formatPath, isWithin, type Path, pathNamed, samePath } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { ObservedState, SecretState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  sameValue,
  collectSecrets,
  textFits,
  type Value,
  readPath,
  type ValueRecord,
} from '../model/value.ts';
import type { PrefixDefaults } from '../model/dialect.ts';
import { fieldAtNative, fieldNamed } from '../model/field.ts';
import { type Facts, findPathFacts, normalPath, placesWithin } from '../model/path-facts.ts';
import { isActivation } from './consequences.ts';

const URL_LISTS = ['sse_servers', 'shttp_servers'] as const;

/** Endpoints that move to another host and take their stored key with them. */
export function findMovedEndpoints(plan: SettingsPlan, observed: ObservedState): GuardFinding[] {
  return plan.changes.flatMap((change) => {
    const place = toListedPath(change);
    if (isEntryPath(place) && URL_LISTS.some((one) => one === place[1]))
      return entry(change, observed);
    return listChangedFacts(change, observed).flatMap((one) =>
      findMovedAddress(one, plan, observed),
    );
  });
}

/** An entry that is given a key which only entries of other hosts have, or that moves away from where its own key is sent. */
function entry({ action, path, after }: Change, { values }: ObservedState): GuardFinding[] {
  if (action === 'remove' || !isRecord(after)) return [];
  const found = (lists: readonly McpList[]): readonly ValueRecord[] =>
    lists.flatMap((list) => listRecordEntries(readPath(values, ['mcp_config', list])));
  const holders = found(URL_LISTS).filter((other) => sharesKey(after, other));
  const url = after['url'] ?? null;
  const isHere = (other: ValueRecord): boolean => sameEndpoint(other['url'] ?? null, url);
  if (holders.length > 0 && !holders.some(isHere))
    return [
      { message: `The plan gives ${formatPath(path)} the key of an entry at another host.`, path },
    ];
  const was = found(MCP_LISTS).find((other) => hasName(other, after['name']));
  if (was === undefined || isHere(was) || url instanceof UnseenSecret) return [];
  const kept = listSecretMembers(was).filter((name) => mayTravel(was[name], after[name]));
  if (kept.length === 0) return [];
  const message = `The plan moves ${formatPath(path)} to another host, and the service has ${kept.join(', ')} stored for it.`;
  return [{ message, path }];
}

function hasName({ name }: ValueRecord, other: Value | undefined): boolean {
  return !isEmpty(name) && sameValue(name, other);
}

/** Reports whether the declared value may contain the stored credential: it is not certainly empty or different. */
function mayTravel(stored: Value | undefined, declared: Value | undefined): boolean {
  if (declared === undefined) return true;
  const secrets = collectSecrets(declared).filter((secret) => !secret.isEmpty());
  return secrets.length > 0 && (holdsMask(stored) || sameValue(stored, declared));
}

/** A shorter key may be part of another text by chance; a shorter parameter of a url is hardly a key. */
const SHORTEST_PART = 6;
const SHORTEST_PARAMETER = 16;

/** Reports whether an entry contains a key of another one: as its own, or inside a header or its url. */
function sharesKey(entry: ValueRecord, other: ValueRecord): boolean {
  return someKey(other, (key) =>
    someText(entry, (text) => text === key || (key.length >= SHORTEST_PART && text.includes(key))),
  );
}

/** Reports whether a secret of an entry matches: its key, another secret member, or one in its url. */
function someKey(entry: ValueRecord, fits: (key: string) => boolean): boolean {
  const isKey = (text: string): boolean => text !== '' && !looksLikeMask(text) && fits(text);
  return Object.entries(entry).some(([name, value]) =>
    name === 'url'
      ? someText(value, (url) => secretParts(url).some(isKey))
      : collectSecrets(value).some((secret) => secret.fits(isKey)),
  );
}

/** Reports whether any text matches, in clear or in a secret. */
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

/** Finds the stored credentials that an address change sends to the new address, unless the same plan replaces them. */
export function findMovedAddress(
  { path, facts: { address }, before, after }: AffectedPlace,
  plan: SettingsPlan,
  observed: ObservedState,
): GuardFinding[] {
  if (address === null) return [];
  const isMoved =
    address.by === 'url'
      ? !sameEndpoint(before, after)
      : isOtherModel(before, after, plan, observed);
  if (!isMoved) return [];
  const where = address.by === 'url' ? 'another host' : 'another provider';
  if (isKeyless(path, plan)) {
    const message = `The plan moves ${formatPath(path)} to ${where} by active_profile, which has no key. The service would send a key from elsewhere there.`;
    return [{ message, path }];
  }
  const sent = address.sends.flatMap((group) => selectSentCredential(group, plan, observed));
  if (sent.length === 0) return [];
  const names = sent.map(formatPath);
  const isCertain = names.every((one) => observed.secrets.get(one) !== 'not-reported');
  const what = `${isCertain ? 'the' : 'any'} stored ${names.join(', ')}`;
  const message = `The plan moves ${formatPath(path)} to ${where}, and ${what} would go there.`;
  return [{ message, path }];
}

/** Reports whether an address comes with a profile that removes the stored key and has none. */
function isKeyless(path: Path, { changes }: SettingsPlan): boolean {
  const brought = changes.filter(
    ({ cause }) => cause !== undefined && isActivation({ path: cause }),
  );
  return (
    brought.some((change) => samePath(change.path, path)) &&
    brought.some((change) => change.action === 'clear' && samePath(change.path, ['llm_api_key']))
  );
}

/** Returns the credential that is sent from a group of alternatives: all that is stored of the first, unless it is rewritten. */
function selectSentCredential(
  group: readonly Path[],
  plan: SettingsPlan,
  observed: ObservedState,
): Path[] {
  for (const place of group) {
    const isReplaced = plan.changes.some(
      ({ path, action }) => action !== 'clear' && samePath(normalPath(path), place),
    );
    if (isReplaced) return [];
    const kept = listStoredCredentials(place, observed).filter(
      (path) => !plan.changes.some((change) => isWithin(normalPath(path), normalPath(change.path))),
    );
    if (kept.length > 0) return kept;
  }
  return [];
}

/** The credentials that are stored at a place, or inside it, or that may be: of some nothing shows it. */
function listStoredCredentials(place: Path, { secrets, values }: ObservedState): Path[] {
  const isHere = (name: string): boolean => isWithin(normalPath(pathNamed(name)), place);
  const reported = [...secrets].filter(([name, state]) => isHere(name) && mayBeStored(name, state));
  const shown = Object.entries(values).filter(
    ([name, value]) => isHere(name) && isCredential(pathNamed(name), value),
  );
  return [...reported, ...shown].map(([name]) => pathNamed(name));
}

/** A field that has a flag, and no flag in the answer, is not stored. */
function mayBeStored(name: string, state: SecretState): boolean {
  return state === 'stored' || (state === 'not-reported' && fieldNamed(name) === undefined);
}

/** Reports whether a value that the service shows, such as a header, grants access. */
function isCredential(path: Path, value: Value): boolean {
  if (isEmpty(value)) return false;
  return path.slice(-1).some(isSensitiveName) || textFits(value, isSecretText);
}

/**
 * Another model, whose provider the service addresses by default. Only services that show which address they infer are judged; with an
 * address of its own a model of any name goes to that.
 */
function isOtherModel(
  before: Value,
  after: Value,
  plan: SettingsPlan,
  { dialect, values }: ObservedState,
): boolean {
  const inferred = dialect.fields.get('llm_base_url')?.shownAsNull;
  const isWritten = plan.changes.some(({ path }) => path[0] === 'llm_base_url');
  if (inferred === undefined || isWritten || !isEmpty(values['llm_base_url'] ?? null)) return false;
  return isOtherProvider(before, after, inferred);
}

/** Reports whether two models certainly have different providers. */
export function isOtherProvider(before: Value, after: Value, inferred: PrefixDefaults): boolean {
  const [from, to] = [inferProvider(before, inferred), inferProvider(after, inferred)];
  return from !== null && to !== null && from !== to;
}

/** Returns the provider of a model: its inferred address, or the part before its slash. Null if unknown. */
function inferProvider(model: Value, { values }: PrefixDefaults): string | null {
  if (isEmpty(model) || model instanceof UnseenSecret) return null;
  const named = (text: string): string => {
    const known = [...values].find(([start]) => start !== '' && text.startsWith(start));
    return known?.[1] ?? /^([^/]+)\//.exec(text)?.[1] ?? OTHER;
  };
  if (model instanceof Secret) return model.compareWith(named);
  return typeof model === 'string' ? named(model) : null;
}

const OTHER = 'another provider';

/** A place that a change touches, as plans call it, and what is there before the write and after it. */
export interface AffectedPlace {
  readonly path: Path;
  readonly facts: Facts;
  readonly before: Value;
  readonly after: Value;
}

/** Lists the known facts that a change affects: of its own place and, if it is a part, of the places inside. */
export function listChangedFacts(change: Change, { values }: ObservedState): AffectedPlace[] {
  const { path, before, after } = change;
  const depth = normalPath(path).length;
  const inner = placesWithin(path).map((place): AffectedPlace => {
    const named = toPlannedPath(place);
    return {
      path: named,
      facts: findPathFacts(place),
      before: values[formatPath(named)] ?? null,
      after: readPath(after, place.slice(depth)) ?? null,
    };
  });
  return [{ path, facts: findPathFacts(toListedPath(change)), before, after }, ...inner];
}

/** Lists the known facts that a change of an item affects. An item that is code is one place. */
export function listChangedItemFacts({ path, before, after }: Change): AffectedPlace[] {
  const facts = findPathFacts(path);
  const inside = facts.runs === null ? placesWithin(path) : [];
  return [
    { path, facts, before, after },
    ...inside.flatMap((place): AffectedPlace[] => {
      const [was, is] = [before, after].map((value) => readPath(value, place.slice(path.length)));
      if (was === undefined && is === undefined) return [];
      return [{ path: place, facts: findPathFacts(place), before: was ?? null, after: is ?? null }];
    }),
  ];
}

/** The path of a change; that of a server by name in a list, which shows how it is reached. */
function toListedPath({ path, before, after }: Change): Path {
  const entry = after ?? before;
  if (path[0] !== 'mcp_servers' || !isEntryPath(path) || !isRecord(entry)) return path;
  const list = isEmpty(entry['command']) ? 'shttp_servers' : 'stdio_servers';
  return ['mcp_config', list, ...path.slice(1)];
}

/** The path that plans have for a place: the name of the field that is there, if there is one. */
export function toPlannedPath(place: Path): Path {
  return fieldAtNative(place)?.path ?? place;
}
