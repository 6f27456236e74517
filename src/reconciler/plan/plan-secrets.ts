import type { WrittenSecret, Fingerprints } from '../model/ports.ts';
import { REASONS } from '../model/reasons.ts';
import { isCollectionBlock, LLM_PROFILES_FORM } from '../model/collection-forms.ts';
import { type Field, isNativePath, placeNamed } from '../model/field.ts';
import { LLM_KEY, organizationName, SEARCH_KEY } from '../model/organization.ts';
import { type Change, type Plan, type SettingsPlan } from '../model/plan.ts';
import { findActionEffect } from '../model/action.ts';
import type {
  SettingsWrite,
  DesiredField,
  DesiredState,
  ObservedState,
  SecretState,
} from '../model/state.ts';
import { type Warning } from '../model/error.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import {
  isRecord,
  sameValue,
  readPath,
  type Value,
  isEmpty,
  isList,
  collectSecrets,
  textFits,
} from '../model/value.ts';
import { resolveDialectField } from './field-here.ts';
import { canClear, notCleared, type FieldPlan, type Rotation, isRotated } from './declared.ts';
import type { GuardFinding } from '../model/guard.ts';
import { isSensitiveUrl } from '../model/address.ts';
import { holdsMask, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { findPathFacts, normalPath } from '../model/path-facts.ts';
import { formatPath, isWithin, pathNamed, samePath, type Path } from '../model/path.ts';
import {
  compareWithLastWrite,
  findUnseenReason,
  HIDDEN,
  planSecret,
  createSettingsSubject,
} from './decision.ts';
import { toPlannedPath } from './moved.ts';
import { isOfServers, listPathedEntries } from '../model/mcp.ts';

/**
 * Plans a password field, which cannot be compared unless the service shows it on request. A field without any report of the service is sent
 * with every write, because leaving it out may clear it.
 */
export function planSecretField(
  desired: DesiredField,
  observed: ObservedState,
  rotation: Rotation,
  fingerprints: Fingerprints,
): FieldPlan {
  const { field, value, source } = desired;
  const here = resolveDialectField(field, observed);
  const state = readSecretState(desired, observed);
  if (state === 'stored' && value === null && !canClear(here))
    return { warnings: [notCleared(here)] };
  const shown = observed.revealed?.get(field.name) ?? HIDDEN;
  const isMissing = value instanceof UnseenSecret && value.unseen.missing !== null;
  const last = compareWithLastWrite(fingerprints, field.path, value);
  const plan = planSecret(
    { ...createSettingsSubject(field.path, source()), isSensitive: true },
    {
      value,
      held: { stored: shown, 'not-stored': null, 'not-reported': undefined }[state],
      before: new Secret(''),
      last,
      isRotated: isRotated(rotation, field.path),
      words: { unset: REASONS.unset, differs: REASONS['stored-differs'] },
      isSilent: here.reads === 'nothing',
      ...(isMissing ? { unseen: findUnseenReason(field.path, value) } : {}),
    },
  );
  const isSent = plan.changes !== undefined || (state === 'not-reported' && !isMissing);
  return {
    ...plan,
    ...(isSent ? { write: value ?? here.clearWith } : {}),
    gone: state === 'not-stored' && last !== 'none',
  };
}

function readSecretState({ field }: DesiredField, observed: ObservedState): SecretState {
  const { stored, secrets } = observed;
  if (!stored) return 'not-stored';
  return (
    secrets.get(field.name) ?? (isListedAmong(field, observed) ? 'not-stored' : 'not-reported')
  );
}

/** Reports whether a secret is a key of a map whose keys the service shows. Then an absent key is not stored. */
function isListedAmong({ path }: Field, { answer }: ObservedState): boolean {
  const map = readPath(answer, path.slice(0, -1));
  if (path.length === 1 || map === undefined) return false;
  return map === null || (isRecord(map) && !Object.hasOwn(map, path.at(-1) ?? ''));
}

/** States that the service does not store a secret which the file declares, whether this plan sends it or not. */
export function warnUnkeptSecret(desired: DesiredField, observed: ObservedState): Warning[] {
  const { name, loses } = resolveDialectField(desired.field, observed);
  if (loses === undefined || desired.value === null) return [];
  return [{ code: 'not-kept', message: `${name} is lost: ${loses}.`, path: desired.field.path }];
}

/** The password fields of a write, each with the value that the file declares; null if it was cleared. */
export function listWrittenSecrets(desired: DesiredState, write: SettingsWrite): WrittenSecret[] {
  return desired.fields
    .filter(({ field }) => field.secret && field.name in write.fields)
    .map(({ field, value }) => ({
      path: field.path,
      value: value instanceof Secret ? value : null,
    }));
}

/**
 * The secrets that the service stores now and would not store after the write, whatever the change is called. A secret that another
 * replaces is not cleared. Secrets that a write cannot preserve are covered by `lose-unreadable`.
 */
export function findClearedSecrets(plan: SettingsPlan, observed: ObservedState): GuardFinding[] {
  const removed = listRemovedEntries(plan).filter(({ entry, path }) => hasInnerSecret(entry, path));
  const cleared = plan.changes.flatMap((change) => listClearedPaths(change, observed));
  const unpreservable = new Set(plan.unpreservable.map(({ path }) => JSON.stringify(path)));
  const lost = ({ path }: GuardFinding) =>
    isOfServers(path) &&
    path.some((_, index) => unpreservable.has(JSON.stringify(path.slice(0, index + 1))));
  return [
    ...removed.map(({ path }) => ({
      message: `The plan removes ${formatPath(path)}, which contains a secret.`,
      path,
    })),
    ...cleared
      .map((path) => ({ message: `The plan clears ${formatPath(path)}.`, path }))
      .filter((finding) => !lost(finding)),
  ];
}

/** The mcp entries that a plan removes, one by one or with the whole config. */
export function listRemovedEntries({
  changes,
  write,
}: SettingsPlan): { readonly path: Path; readonly entry: Value }[] {
  return changes.flatMap(({ path, action, before }) => {
    if (action === 'remove') return [{ path, entry: before }];
    if (!samePath(path, ['mcp_config']) || action !== 'clear') return [];
    const kept = new Set(
      listPathedEntries(write?.fields['mcp_config']).map((one) => formatPath(one.path)),
    );
    return listPathedEntries(before).filter((one) => !kept.has(formatPath(one.path)));
  });
}

function listClearedPaths(change: Change, observed: ObservedState): Path[] {
  const { path, action, before, after } = change;
  if (action === 'remove' || samePath(path, ['mcp_config'])) return [];
  const isReported = observed.secrets.has(formatPath(path));
  if (isReported) return action === 'clear' ? [path] : [];
  const inner = [
    ...listSecretsGone(before, after, path),
    ...listClearedInnerSecrets(change, observed),
  ];
  if (inner.length > 0) return distinctPaths(inner);
  return action === 'clear' && findPathFacts(path).secret ? [path] : [];
}

/** The stored secrets inside what a change writes that the service reports by themselves, and that are not written with it. */
function listClearedInnerSecrets({ path, after }: Change, { secrets }: ObservedState): Path[] {
  const whole = normalPath(path);
  return [...secrets].flatMap(([name, state]) => {
    const place = normalPath(pathNamed(name));
    const stays = !isWithin(place, whole) || !isEmpty(readPath(after, place.slice(whole.length)));
    return state !== 'stored' || stays ? [] : [toPlannedPath(place)];
  });
}

function distinctPaths(paths: readonly Path[]): Path[] {
  return [...new Map(paths.map((path) => [formatPath(path), path])).values()];
}

/** The places under which `before` has a secret and `after` has nothing. */
export function listSecretsGone(before: Value, after: Value | undefined, path: Path): Path[] {
  if (isRecord(before))
    return Object.entries(before).flatMap(([key, value]) =>
      listSecretsGone(value, isRecord(after) ? after[key] : undefined, [...path, key]),
    );
  if (isList(before))
    return hasFewerSecrets(before, isList(after) ? after : [], path) ? [path] : [];
  if (!(before instanceof Secret) || before.isEmpty() || !isPossibleSecret(path, before)) return [];
  const isUrl = before.identity?.shown.includes('://') === true;
  const gone = isUrl ? losesPart(before, after ?? null) : isEmpty(after);
  return gone ? [path] : [];
}

/** Reports whether a masked value counts as a secret. Free values are also masked. */
function isPossibleSecret(path: Path, value: Secret): boolean {
  const [block = ''] = path;
  const isFree = isNativePath(path) || isCollectionBlock(block);
  if (!isFree || value instanceof UnseenSecret || value.identity !== null) return true;
  if (findPathFacts(path).secret) return true;
  if (path.some((key) => isSensitiveName(key) || /headers?$/i.test(key))) return true;
  return value.fits(isSecretText);
}

/** Reports whether more secrets leave a list than values enter it. */
function hasFewerSecrets(before: readonly Value[], after: readonly Value[], path: Path): boolean {
  const rest = [...after];
  const gone = before.filter((value) => {
    const at = rest.findIndex((other) => sameValue(value, other));
    if (at !== -1) rest.splice(at, 1);
    return at === -1 && hasInnerSecret(value, path);
  });
  return gone.length > rest.length;
}

/** Reports whether a url loses its userinfo or a parameter of its query. */
function losesPart(before: Secret, after: Value): boolean {
  if (isEmpty(after)) return true;
  if (holdsMask(after)) return false;
  return !textFits(after, (url) => {
    if (holdsMask(before)) return isSensitiveUrl(url);
    const parts = secretPartNames(url);
    return before.fits((earlier) => secretPartNames(earlier).every((part) => parts.includes(part)));
  });
}

/** The names of what may be a secret in a url; never a value. */
function secretPartNames(url: string): string[] {
  const parts =
    /(?:[a-z][a-z0-9+.-]*:\/\/(?<userinfo>[^/?#]*@))?[^?#]*(?:\?(?<query>[^#]+)?)?(?:#(?<fragment>.+))?/is.exec(
      url.trim(),
    )?.groups ?? {};
  const names = Object.keys(parts).filter((name) => parts[name] !== undefined);
  return [...names, ...[...new URLSearchParams(parts['query']).keys()].map((name) => `?${name}`)];
}

function hasInnerSecret(value: Value, path: Path): boolean {
  return collectSecrets(value).some(
    (secret) => !secret.isEmpty() && isPossibleSecret(path, secret),
  );
}

/** The keys that a plan writes and every member of the organisation gets. */
export function findSharedKeys(
  { settings, others }: { readonly settings: SettingsPlan; readonly others: Plan },
  observed: ObservedState,
): GuardFinding[] {
  const { organization } = observed;
  if (organization === undefined || organization.personal) return [];
  const managed = isManaged(settings, observed);
  const written = settings.changes.filter(({ path, action }) => {
    const place = placeNamed(formatPath(path));
    // A cleared search key is gone for every member; of a cleared LLM key no other member hears.
    if (samePath(place, SEARCH_KEY)) return true;
    return samePath(place, LLM_KEY) && findActionEffect(action) !== 'drop' && !managed;
  });
  const ofProfiles = others
    .filter(({ resource }) => resource.block === LLM_PROFILES_FORM.block)
    .flatMap(({ changes }) => changes.flatMap(profileKey));
  return [...written, ...ofProfiles].map((change) => ({
    message: `The plan ${describeKeyChange(change)} ${formatPath(change.path)} for every member of ${organizationName(organization)}, not for this member alone.`,
    path: change.path,
  }));
}

/** The change of the key in a change of a profile; nothing if it leaves the key out, or takes it away. */
function profileKey(change: Change): Change[] {
  const { path, action, after } = change;
  if (findActionEffect(action) === 'drop') return [];
  if (path.at(-1) === 'api_key') return [change];
  const isWithKey = path.length === 2 && isRecord(after) && !isEmpty(after['api_key']);
  return isWithKey ? [{ ...change, path: [...path, 'api_key'] }] : [];
}

function describeKeyChange({ action }: Change): string {
  return findActionEffect(action) === 'drop' ? 'clears' : action === 'rotate' ? 'rotates' : 'sets';
}

/** Reports whether the service gives each member a key for the model after a write. Then a sent key goes nowhere else. */
function isManaged({ write }: SettingsPlan, { values }: ObservedState): boolean {
  const [model = null, url = null] = ['llm_model', 'llm_base_url'].map(
    (name) => write?.fields[name] ?? values[name],
  );
  return isEmpty(url) && textFits(model, (name) => name.startsWith('openhands/'));
}
