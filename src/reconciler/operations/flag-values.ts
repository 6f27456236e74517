import { parseDuration } from '../desired/blocks/watch.ts';
import { SetpointError, usageError } from '../model/error.ts';
import { hasTwoNames } from '../model/field.ts';
import { COLLECTION_FORMS } from '../model/collection-forms.ts';
import { itemNamed } from '../model/collection.ts';
import { RULES, type Rule } from '../model/guard.ts';
import {
  listRecordEntries,
  entryPaths,
  isUnmanagedEntry,
  MCP_LISTS,
  listPathSegments,
} from '../model/mcp.ts';
import {
  formatPath,
  isUnmanaged,
  isWithin,
  parsePath,
  samePath,
  type Path,
} from '../model/path.ts';
import type { DesiredState } from '../model/state.ts';
import { MOST_SHARDS, type Shard } from '../model/shard.ts';
import { choicesHint, didYouMean, namesListed } from '../model/wording.ts';
import { isRecord, collectSecrets, type ValueRecord } from '../model/value.ts';
import { isRotatedField, type Rotation } from '../plan/declared.ts';
import { formatReferences } from '../plan/decision.ts';
import { listEntryPaths } from '../plan/plan-mcp-list.ts';

/** An age such as 90m, 24h or 7d, in milliseconds. `named` is the flag or input, for the usage error. */
export function parseAge(named: string, text: string): number {
  const age = parseDuration(text);
  if (age !== null && age > 0) return age;
  throw new SetpointError('usage', `${named} takes an age such as 90m, 24h or 7d.`);
}

/** A shard such as 0/4. `named` is the flag or variable, for the usage error. */
export function parseShard(named: string, text: string): Shard {
  const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  if (index === undefined) {
    throw usageError(
      `${named}: a shard is its number, from 0, and how many there are.`,
      'Write it like 0/4.',
    );
  }
  const shard = { index: Number(index), count: Number(count) };
  checkShard(named, shard);
  return shard;
}

/** Throws a usage error if there is no such shard. */
export function checkShard(named: string, { index, count }: Shard): void {
  if (!Number.isInteger(count) || count < 1 || count > MOST_SHARDS)
    throw usageError(`${named}: there are 1 to ${MOST_SHARDS} shards.`, 'Write it like 0/4.');
  if (!Number.isInteger(index) || index < 0 || index >= count)
    throw usageError(
      `${named}: there is no shard ${index} of ${count}.`,
      count === 1 ? 'The only one is 0/1.' : `They are 0/${count} to ${count - 1}/${count}.`,
    );
}

/** The guards that `--allow` lifts for this run, several with commas between them. Throws a usage error if a name is not that of a rule. */
export function parseRules(names: readonly string[]): readonly Rule[] {
  const all = names.flatMap((text) => text.split(',')).map((text) => text.trim());
  return all.map((text) => {
    const rule = RULES.find((known) => known === text.replaceAll('_', '-'));
    if (rule !== undefined) return rule;
    throw usageError('--allow takes the name of a rule.', choicesHint(text, RULES));
  });
}

/** The declared secrets that `--rotate` names, as paths. Throws a usage error for any other path. */
export function parseRotation(
  rotate: 'all' | readonly string[],
  desired: Iterable<DesiredState>,
): Rotation {
  if (rotate === 'all' || rotate.includes('all')) return 'all';
  const states = [...desired];
  // A shard may have no environment: then there is nothing to rotate, and nothing to compare a path with.
  if (states.length === 0) return [];
  const declared = states.flatMap(listManagedItems);
  return rotate.flatMap((text) => {
    const path = parsePath(text) ?? [text];
    const named = declared.find((one) => one.holds !== null && isFlagTarget(path, one));
    if (named !== undefined) return pathsInPlans(path, named);
    if (states.some((state) => isOnRequest(path, state))) return [path];
    throw new SetpointError('usage', '--rotate takes the path of a declared secret, or all.', {
      hint: rotationHint(text, path, declared),
    });
  });
}

/** Reports whether a path is of a declared member that is changed back only on request. */
function isOnRequest([block, name = '', member, ...inner]: Path, desired: DesiredState): boolean {
  const form = COLLECTION_FORMS.find((one) => one.block === block && one.onRequest === member);
  const isMember = member !== undefined && inner.length === 0;
  return isMember && form !== undefined && itemNamed(desired, form, name) !== undefined;
}

/** Returns its paths in plans. The service may not know the name that the file gives to an entry; then its own path is unknown too. */
function pathsInPlans(path: Path, { path: own, others, isEntry }: DeclaredItem): Path[] {
  const called = [own, ...others].find((one) => isWithin(path, one));
  if (!isEntry || called === undefined) return [own];
  return [path, [...own, ...path.slice(called.length)]];
}

/** Returns a hint for a path that is not a secret. A name from the file is not mistaken for that of another item. */
function rotationHint(text: string, path: Path, declared: readonly DeclaredItem[]): string {
  const secrets = declared.filter(({ holds }) => holds !== null);
  const called = declared.find(({ path: own, others }) =>
    [own, ...others].some((one) => samePath(path, one) || path.at(-1) === one.at(-1)),
  );
  if (called !== undefined) {
    const name = formatPath(called.path);
    return called.holds === null ? `${name} contains no secret.` : `Did you mean ${name}?`;
  }
  const paths = [...new Set(secrets.map((one) => formatPath(one.path)))];
  if (paths.length === 0) return 'The file declares no secret.';
  return didYouMean(text, paths) || `Available: ${namesListed(paths)}.`;
}

/** A field, mcp entry or item of a collection that a file declares. */
export interface DeclaredItem {
  readonly path: Path;
  /** Other paths of the same. */
  readonly others: readonly Path[];
  readonly isEntry: boolean;
  /**
   * The secrets in it, and the path itself if it is one: an mcp entry is named by its own path, or by that of a secret in it. Null if it is
   * not a secret.
   */
  readonly holds: readonly Path[] | null;
  /** The references in it; null if there are none. */
  readonly ref: string | null;
}

export function isFlagTarget(path: Path, { path: own, others, holds }: DeclaredItem): boolean {
  return [own, ...others].some(
    (one) =>
      samePath(path, one) ||
      (isWithin(path, one) && holds?.some((inner) => samePath(path, [...one, ...inner])) === true),
  );
}

/** Lists the declared and managed items of a file. */
function listManagedItems(state: DesiredState): DeclaredItem[] {
  const items = [...state.items.values()].flatMap((declared) =>
    declared.flatMap(({ values = [] }) =>
      values.map(({ path, value, isText }): DeclaredItem => {
        const holds = isText === true || collectSecrets(value).length === 0 ? null : [];
        return { path, others: [], isEntry: false, holds, ref: null };
      }),
    ),
  );
  return [...listManagedSettings(state), ...items];
}

/** The settings among it. */
export function listManagedSettings(state: DesiredState): DeclaredItem[] {
  const all = state.fields.flatMap((declared): DeclaredItem[] => {
    const { field, value } = declared;
    if (field.name !== 'mcp_config') {
      const isRotatable = isRotatedField(field, value);
      const others = hasTwoNames(field) ? [field.place] : [];
      const holds = isRotatable ? [] : null;
      return [{ path: field.path, others, isEntry: false, holds, ref: formatReferences(value) }];
    }
    const config = isRecord(value) ? value : {};
    const pathOf = entryPaths(declared);
    return MCP_LISTS.flatMap((list) => {
      const entries = listRecordEntries(config[list]);
      const segments = listPathSegments(list, entries);
      return entries.flatMap((entry, index): DeclaredItem[] => {
        if (isUnmanagedEntry(state.unmanaged, list, entry)) return [];
        const path = pathOf(list, segments[index] ?? '', entry);
        const others = listEntryPaths(list, segments[index] ?? '', entry);
        const holds = collectSecrets(entry).length === 0 ? null : listSecretPaths(entry);
        return [{ path, others, isEntry: true, holds, ref: formatReferences(entry) }];
      });
    });
  });
  return all.filter(({ path }) => !isUnmanaged(state.unmanaged, path));
}

function listSecretPaths(entry: ValueRecord): Path[] {
  return Object.entries(entry).flatMap(([name, value]) => {
    if (collectSecrets(value).length === 0) return [];
    // The native map has a key in the entry's way to authenticate.
    if (name === 'api_key') return [[name], ['auth'], ['auth', 'value']];
    return [[name], ...(isRecord(value) ? Object.keys(value).map((key) => [name, key]) : [])];
  });
}
