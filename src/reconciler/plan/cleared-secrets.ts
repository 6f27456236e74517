import type { Finding } from '../model/guard.ts';
import { isSensitiveUrl } from '../model/address.ts';
import { holdsMask, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { isNativePath } from '../model/field.ts';
import { factsAt, normalPath } from '../model/path-facts.ts';
import { formatPath, isWithin, pathNamed, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import {
  isEmpty,
  isList,
  isRecord,
  sameValue,
  secretsIn,
  textFits,
  valueAt,
  type Value,
} from '../model/value.ts';
import { plannedPath } from './moved.ts';
import { pathedEntries } from '../model/mcp.ts';

/**
 * The secrets that the service holds now and would not hold after the write, whatever the change is called. A secret that
 * another takes the place of is not cleared. What a write cannot preserve is the matter of `lose-unreadable`.
 */
export function clearedSecrets(plan: SettingsPlan, observed: ObservedState): Finding[] {
  const removed = removedEntries(plan).filter(({ entry, path }) => holdsSecret(entry, path));
  const cleared = plan.changes.flatMap((change) => clearedBy(change, observed));
  const unpreservable = new Set(plan.unpreservable.map(({ path }) => JSON.stringify(path)));
  const lost = ({ path }: Finding) =>
    path[0] === 'mcp_config' &&
    path.some((_, index) => unpreservable.has(JSON.stringify(path.slice(0, index + 1))));
  return [
    ...removed.map(({ path }) => ({
      message: `The plan removes ${formatPath(path)}, which holds a secret.`,
      path,
    })),
    ...cleared
      .map((path) => ({ message: `The plan clears ${formatPath(path)}.`, path }))
      .filter((finding) => !lost(finding)),
  ];
}

/** The mcp entries that a plan removes, one by one or with the whole config. */
export function removedEntries({
  changes,
  write,
}: SettingsPlan): { readonly path: Path; readonly entry: Value }[] {
  return changes.flatMap(({ path, action, before }) => {
    if (action === 'remove') return [{ path, entry: before }];
    if (!samePath(path, ['mcp_config']) || action !== 'clear') return [];
    const kept = new Set(
      pathedEntries(write?.fields['mcp_config']).map((one) => formatPath(one.path)),
    );
    return pathedEntries(before).filter((one) => !kept.has(formatPath(one.path)));
  });
}

function clearedBy(change: Change, observed: ObservedState): Path[] {
  const { path, action, before, after } = change;
  if (action === 'remove' || samePath(path, ['mcp_config'])) return [];
  const isReported = observed.secrets.has(formatPath(path));
  if (isReported) return action === 'clear' ? [path] : [];
  const inner = [...clearedIn(before, after, path), ...clearedWithin(change, observed)];
  if (inner.length > 0) return distinctPaths(inner);
  return action === 'clear' && factsAt(path).secret ? [path] : [];
}

/** The stored secrets inside what a change writes that the service reports by themselves, and that are not written with it. */
function clearedWithin({ path, after }: Change, { secrets }: ObservedState): Path[] {
  const whole = normalPath(path);
  return [...secrets].flatMap(([name, state]) => {
    const place = normalPath(pathNamed(name));
    const stays = !isWithin(place, whole) || !isEmpty(valueAt(after, place.slice(whole.length)));
    return state !== 'stored' || stays ? [] : [plannedPath(place)];
  });
}

function distinctPaths(paths: readonly Path[]): Path[] {
  return [...new Map(paths.map((path) => [formatPath(path), path])).values()];
}

/** The places under which `before` has a secret and `after` has nothing. */
function clearedIn(before: Value, after: Value | undefined, path: Path): Path[] {
  if (isRecord(before))
    return Object.entries(before).flatMap(([key, value]) =>
      clearedIn(value, isRecord(after) ? after[key] : undefined, [...path, key]),
    );
  if (isList(before))
    return hasFewerSecrets(before, isList(after) ? after : [], path) ? [path] : [];
  if (!(before instanceof Secret) || before.isEmpty() || !mayBeSecret(path, before)) return [];
  const isUrl = before.identity?.shown.includes('://') === true;
  const gone = isUrl ? losesPart(before, after ?? null) : isEmpty(after);
  return gone ? [path] : [];
}

/** Whether what is masked counts as a secret: in the nesting of later servers every free value is masked. */
function mayBeSecret(path: Path, value: Secret): boolean {
  if (!isNativePath(path) || value.identity !== null || factsAt(path).secret) return true;
  if (path.some((key) => isSensitiveName(key) || /headers?$/i.test(key))) return true;
  return value.fits(isSecretText);
}

/** Whether more secrets leave a list than values come into it. */
function hasFewerSecrets(before: readonly Value[], after: readonly Value[], path: Path): boolean {
  const rest = [...after];
  const gone = before.filter((value) => {
    const at = rest.findIndex((other) => sameValue(value, other));
    if (at !== -1) rest.splice(at, 1);
    return at === -1 && holdsSecret(value, path);
  });
  return gone.length > rest.length;
}

/** Whether a url loses its userinfo or a parameter of its query. */
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

function holdsSecret(value: Value, path: Path): boolean {
  return secretsIn(value).some((secret) => !secret.isEmpty() && mayBeSecret(path, secret));
}
