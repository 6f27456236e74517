import { sameEndpoint } from '../model/endpoint.ts';
import { REASONS } from '../model/reasons.ts';
import {
  callNames,
  listSecretMembers,
  identityMember,
  createKnownEntry,
  createMemberPath,
  type McpList,
  type PathOfEntry,
} from '../model/mcp.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import type { Path } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import { UnseenSecret } from '../model/secret.ts';
import type { DesiredField } from '../model/state.ts';
import { filterMembers, createRecord, collectSecrets, type ValueRecord } from '../model/value.ts';
import { matchManaged, type ManagedMatching } from './match-entries.ts';
import {
  compareEntry,
  mergeUnmaskedEntry,
  nameDifferences,
  withLogin,
  type Hiding,
  type NamedServers,
  removalReason,
  createEntryRemoval,
} from './mcp-entry.ts';
import { maskByDeclaration, isRotated, type Rotation } from './declared.ts';
import {
  createPartChange,
  createSettingsSubject,
  createChange,
  listMissingReferences,
} from './decision.ts';

/** The result of one list. `entries` is the list to send; `kept` are the entries that the file does not manage. */
export interface ListPlan {
  readonly name: McpList;
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly entries: readonly ValueRecord[];
  readonly kept: readonly ValueRecord[];
}

export interface ListContext {
  readonly list: McpList;
  readonly desired: DesiredField;
  readonly pathOf: PathOfEntry;
  /** The declared entries with their names, also for services that have no place for them. */
  readonly entries: readonly ValueRecord[];
  readonly unmanaged: readonly Path[];
  readonly rotation: Rotation;
  readonly hiding: Hiding;
  readonly named: NamedServers | null;
}

/**
 * One change for each entry that differs. Entries are matched by their identity; order does not count as a change, and unmanaged entries
 * stay where they were. Removals come first. Entries that cannot be compared are listed by their own path, and hide nothing else.
 */
export function planMcpList(
  declared: readonly ValueRecord[],
  actual: readonly ValueRecord[],
  context: ListContext,
): ListPlan {
  const { list, hiding, unmanaged } = context;
  const pathOf = (segment: string, entry: ValueRecord = {}): Path =>
    context.pathOf(list, segment, entry);
  const matched = matchManaged(
    list,
    declared,
    actual,
    unmanaged,
    (one, other) => compareEntry(list, one, other, hiding).differing.length,
  );
  const reasons = matched.removed.map(({ actual: index, certain }) =>
    removalReason(list, actual[index] ?? {}, certain, context.named),
  );
  const removals = matched.removed.flatMap(({ actual: index, segment }, at) => {
    const reason = reasons[at] ?? null;
    if (reason === null) return [];
    return [
      createEntryRemoval(
        pathOf(segment, actual[index]),
        actual[index] ?? {},
        reason,
        context.named,
      ),
    ];
  });
  const left = [...matched.unmanaged, ...matched.removed.filter((_, at) => reasons[at] === null)];
  // An entry that the file does not manage is sent back as it was read.
  const kept = left.map(({ actual: index }) => {
    return { entry: mergeUnmaskedEntry({}, actual[index] ?? {}), index };
  });
  const paired = matched.pairs.map((pair) =>
    planPairedEntry(pair, declared[pair.declared] ?? {}, actual[pair.actual] ?? {}, {
      ...context,
      path: pathOf(pair.segment, context.entries[pair.declared]),
    }),
  );
  const added = matched.added.map(({ declared: index, segment }) =>
    planAddedEntry(pathOf(segment, context.entries[index]), declared[index] ?? {}, index, context),
  );
  const stay = [...kept, ...paired].toSorted((one, other) => one.index - other.index);
  const parts = [...paired, ...added];
  return {
    name: list,
    changes: [...removals, ...parts.flatMap(({ changes }) => changes)],
    unknown: parts.flatMap(({ unknown }) => unknown),
    entries: [...stay, ...added].map(({ entry }) => entry),
    kept: left.map(({ actual: index }) => actual[index] ?? {}),
  };
}

/** Every path that calls a declared entry: by its address and its name in its list, by its native place, and by its name alone. */
export function listEntryPaths(
  list: McpList,
  segment: string,
  entry: ValueRecord,
): readonly Path[] {
  const { name } = createKnownEntry(list, entry);
  return [
    ...[segment, ...callNames(list, entry)].map((one) => ['mcp_config', list, one]),
    ...(name === null ? [] : [NATIVE_SERVERS, ['mcp_servers']].map((at) => [...at, name.shown])),
  ];
}

/** The contribution of one entry to the plan. `entry` is sent, and `index` is its position on the service. */
interface EntryPlan {
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  readonly entry: ValueRecord;
  readonly index: number;
}

function planPairedEntry(
  pair: ManagedMatching['pairs'][number],
  declared: ValueRecord,
  actual: ValueRecord,
  { list, hiding, rotation, desired, entries, pathOf, path }: ListContext & { readonly path: Path },
): EntryPlan {
  const compared = compareEntry(list, declared, actual, hiding);
  const differs = compared.differing.length > 0;
  const isNamed = (one: Path): boolean => isRotated(rotation, one);
  const calls = [path, ...listEntryPaths(list, pair.segment, entries[pair.declared] ?? declared)];
  const rotated = !differs && calls.some(isNamed) && collectSecrets(declared).length > 0;
  const source = desired.source([list, String(pair.declared)]);
  const stays = computePreservedEntry(list, declared, actual);
  const whole = withLogin(declared, stays, hiding);
  const left = hiding.kept ? stays : mergeUnmaskedEntry({}, stays);
  // A service that stores entries whole stores a null, although it means the default that is there.
  const sent = filterMembers(
    whole,
    (name, value) => hiding.kept || value !== null || compared.differing.includes(name),
  );
  const after = createRecord({ ...left, ...whole });
  const names = compared.differing.flatMap((name) =>
    nameDifferences(name, whole[name] ?? null, actual[name] ?? null, hiding),
  );
  return {
    changes:
      differs || rotated
        ? [
            createPartChange(
              createSettingsSubject(path, source),
              maskByDeclaration(actual, whole),
              after,
              names,
            ),
          ]
        : [],
    unknown: [
      ...compared.unknown.map((one) => ({ ...one, path: createMemberPath(path, one.path) })),
      ...(pair.certain
        ? []
        : [uncertain(list, path, declared, pathOf(list, pair.observed, actual))]),
    ],
    entry: mergeUnmaskedEntry(differs || rotated || !hiding.kept ? sent : {}, stays),
    index: pair.actual,
  };
}

/** Returns what remains of an observed entry under the declared one. No credential remains that would go to another host. */
export function computePreservedEntry(
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
): ValueRecord {
  const [was, is] = [actual['url'] ?? null, declared['url'] ?? null];
  const stays = list === 'stdio_servers' || is instanceof UnseenSecret || sameEndpoint(was, is);
  if (stays) return actual;
  const gone = new Set(listSecretMembers(actual));
  // The way to send a key is of no use without one.
  if (gone.has('api_key') && declared['api_key'] === undefined) gone.add('auth');
  return filterMembers(actual, (name) => !gone.has(name));
}

function planAddedEntry(
  path: Path,
  entry: ValueRecord,
  index: number,
  { list, desired }: ListContext,
): EntryPlan {
  const source = desired.source([list, String(index)]);
  const changes = [
    createChange(createSettingsSubject(path, source), 'set', null, entry, REASONS['not-set']),
  ];
  const unknown = listMissingReferences([], entry).map((one) => ({
    ...one,
    path: createMemberPath(path, one.path),
  }));
  return { changes, unknown, entry, index };
}

/** An observed entry that may be a declared one: a reference or a mask hides what one of the two is known by. */
function uncertain(list: McpList, path: Path, entry: ValueRecord, observed: Path): Unknown {
  const identity = entry[identityMember(list)];
  const ref = identity instanceof UnseenSecret ? identity.ref : null;
  return {
    path: observed,
    reason: `may be the declared ${path.at(-1) ?? ''}, and is compared with it`,
    ref,
  };
}
