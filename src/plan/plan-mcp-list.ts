import { identityMember, identityOf, segmentsOf, type McpList } from '../model/mcp.ts';
import { isLetGo, type Path } from '../model/path.ts';
import type { Change, Unknown, Unpreservable } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredField } from '../model/state.ts';
import { isRecord, secretsIn, type Value, type ValueRecord } from '../model/value.ts';
import { holdsMask } from './holds-mask.ts';
import { compareEntry, mergedEntry, maskedSecrets, type EntryComparison } from './mcp-entry.ts';
import { concealed } from './plan-plain.ts';
import { isRotated, type Rotation } from './rotation.ts';
import { lost } from './unpreservable.ts';

/** What becomes of one list. `entries` is the list to send; `kept` are the entries that were let go of. */
export interface ListPlan {
  readonly name: McpList;
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly unpreservable: readonly Unpreservable[];
  readonly entries: readonly ValueRecord[];
  readonly kept: readonly ValueRecord[];
}

export interface ListContext {
  readonly desired: DesiredField;
  readonly unmanaged: readonly Path[];
  readonly rotation: Rotation;
  /** Whether the entries there are were read from a saved look, where secrets are masked. */
  readonly saved: boolean;
}

/**
 * One change for each entry that differs. Entries are matched by what they are known by, the first declared with the first
 * observed; order is no change, and what is kept stays where it was. Removals come first.
 */
export function planMcpList(
  list: McpList,
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  context: ListContext,
): ListPlan {
  const segments = segmentsOf(actual.map((entry) => identityOf(list, entry)));
  const letGo = (segment: string) => isLetGo(context.unmanaged, ['mcp_config', list, segment]);
  const wanted = declared.map((entry, index) => ({
    entry,
    index,
    segment: identityOf(list, entry).shown,
  }));
  const open = wanted.filter(({ segment }) => !letGo(segment));
  const givenUp = wanted
    .filter(({ segment }) => letGo(segment))
    .map(({ entry }) => identityOf(list, entry));
  const removals: Change[] = [];
  const changes: Change[] = [];
  const unknown: Unknown[] = [];
  const unpreservable: Unpreservable[] = [];
  const entries: ValueRecord[] = [];
  const kept: ValueRecord[] = [];
  for (const [index, entry] of actual.entries()) {
    const segment = segments[index] ?? '';
    const identity = identityOf(list, entry);
    if (letGo(segment) || givenUp.some((other) => other.sameAs(identity))) {
      kept.push(entry);
      entries.push(mergedEntry({}, entry));
      unpreservable.push(...lost(list, segment, maskedSecrets(list, entry)));
      continue;
    }
    const match = open.findIndex((candidate) => identityOf(list, candidate.entry).sameAs(identity));
    const [found] = match === -1 ? [] : open.splice(match, 1);
    if (found === undefined && holdsMask(entry[identityMember(list)])) {
      const reason = 'known by what is masked: it may be one that is declared';
      unknown.push({ path: ['mcp_config', list, segment], reason, ref: null });
      entries.push(mergedEntry({}, entry));
      continue;
    }
    if (found === undefined) {
      removals.push(removal(list, segment, entry));
      continue;
    }
    const path = ['mcp_config', list, found.segment];
    const comparison = compareEntry(list, found.entry, entry);
    const rotated =
      comparison.differing.length === 0 &&
      isRotated(context.rotation, path) &&
      secretsIn(found.entry).length > 0;
    if (comparison.differing.length > 0 || rotated) {
      changes.push(
        changed(path, found.entry, entry, comparison, rotated, placeOf(context, list, found.index)),
      );
    } else if (comparison.unreadable.length > 0) {
      const why = context.saved ? 'masked, cannot be compared' : 'cannot be read back';
      const reason = `${why}: ${comparison.unreadable.join(', ')}`;
      unknown.push({ path, reason, ref: refOf(found.entry) });
    }
    entries.push(mergedEntry(found.entry, entry));
    const unsaid = Object.keys(entry).filter(
      (name) => holdsMask(entry[name]) && found.entry[name] === undefined,
    );
    unpreservable.push(...lost(list, found.segment, unsaid));
  }
  for (const { entry, index, segment } of open) {
    changes.push(added(['mcp_config', list, segment], entry, placeOf(context, list, index)));
    entries.push(entry);
  }
  return { name: list, changes: [...removals, ...changes], unknown, unpreservable, entries, kept };
}

function removal(list: McpList, segment: string, entry: ValueRecord): Change {
  return {
    resource: 'settings',
    path: ['mcp_config', list, segment],
    action: 'remove',
    before: entry,
    after: null,
    sensitive: secretsIn(entry).length > 0,
    ref: null,
    reason: 'not declared',
    source: null,
  };
}

function added(path: Path, entry: ValueRecord, source: Change['source']): Change {
  const sensitive = secretsIn(entry).length > 0;
  return {
    resource: 'settings',
    path,
    action: 'set',
    before: null,
    after: entry,
    sensitive,
    ref: refOf(entry),
    reason: 'not set',
    source,
  };
}

function changed(
  path: Path,
  declared: ValueRecord,
  actual: ValueRecord,
  { differing }: EntryComparison,
  rotated: boolean,
  source: Change['source'],
): Change {
  const after = mergedEntry(declared, actual);
  return {
    resource: 'settings',
    path,
    action: rotated ? 'rotate' : 'change',
    before: concealedLike(actual, after),
    after,
    sensitive: secretsIn(after).length > 0,
    ref: refOf(declared),
    reason: rotated
      ? 'will be rotated'
      : `${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}`,
    source,
  };
}

/** What the service has, with every member masked that is sensitive in what the file asks for. */
function concealedLike(actual: Value, declared: Value | undefined): Value {
  if (declared instanceof Secret) return concealed(actual);
  if (!isRecord(actual) || !isRecord(declared)) return actual;
  return Object.fromEntries(
    Object.entries(actual).map(([key, value]) => [key, concealedLike(value, declared[key])]),
  );
}

function refOf(entry: ValueRecord): string | null {
  const refs = secretsIn(entry).flatMap((secret) => secret.ref ?? []);
  return refs.length === 0 ? null : [...new Set(refs)].join(', ');
}

function placeOf({ desired }: ListContext, list: McpList, index: number): Change['source'] {
  return desired.source([list, String(index)]);
}
