import { ACTIVE_FORM, GIT_PROVIDERS_FORM } from '../model/collection-forms.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import { readShownValue } from '../plan/field-here.ts';
import { member, type Node, readNodeText } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { isMcpList, listPathedEntries } from '../model/mcp.ts';
import { isWithin, parsePath, formatPathKey, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsPlan, Unknown } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { SetpointError } from '../model/error.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { DesiredState, ObservedState, ServerSettings } from '../model/state.ts';
import { isRecord, collectSecrets, type Value } from '../model/value.ts';
import { compareEntry, listEntryDefaults, PLAIN_ANSWER } from '../plan/mcp-entry.ts';
import { planValue } from '../plan/plan-value.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import { comparableState, listDeclaredValues, type ComparableState } from './comparison.ts';
import { adoptField, pullFields } from './fields.ts';
import { createCopyMatcher } from '../desired/active-profiles.ts';
import { pullItems, type PulledItems } from './items.ts';
import {
  type CompareEntry,
  type EntryPullResult,
  joinPulls,
  type PullRules,
  skipPull,
} from './rules.ts';
import {
  adoptMissingServers,
  isDeclaredByName,
  isOfNamed,
  pullNamedBlocks,
  splitNamed,
} from './pull-named.ts';
import type { PullEdit } from './place-edits.ts';
import { REASONS } from './writable.ts';
import { listSecretTexts } from './program-text.ts';
import type { ReadCollections } from './listed.ts';

/** The options for pulling one target. */
export interface PullOptions {
  /** The unmanaged values to adopt: everything that the file does not declare, or these paths. */
  readonly adopt: 'all' | readonly Path[];
  /** Paths that stay as the file has them, such as those found not to read back the same, each with the reason. */
  readonly excluded: ReadonlyMap<string, string>;
  /** Differences of items that show once others are pulled. */
  readonly later: readonly Change[];
  /** Resolved values of references outside the settings, keys of the service among them. */
  readonly hidden: readonly Secret[];
  /** True if everything goes to the target's own layer, which overwrites no reference. */
  readonly ownLayer: boolean;
}

/** The edits of a target's file, what is skipped, and what cannot be compared. */
export interface TargetPull extends EntryPullResult {
  readonly adopted: readonly { readonly path: Path; readonly value: Value }[];
  readonly unknown: readonly Unknown[];
}

/** The plan that would turn the service into what the file declares. */
export function planPulledSettings(desired: DesiredState, observed: ObservedState): SettingsPlan {
  return planSettings(desired, observed, NOTHING_KNOWN);
}

/** Lists the values of `adopt`: unmanaged paths of the plan, their mcp lists, and whole blocks of items. */
export function adoptable(
  target: Target,
  { observed, collections }: ObservedService,
  source: ReferenceSource,
): Path[] {
  const { desired } = comparableState(target, source);
  const named = collections.read.flatMap(({ form, plan }) => {
    const { unmanaged } = plan(desired);
    return unmanaged.length === 0 ? [] : [[form.block], ...unmanaged];
  });
  return [...adoptableSettings(target, observed, source), ...named];
}

function adoptableSettings(
  target: Target,
  observed: ObservedState,
  source: ReferenceSource,
): Path[] {
  const { desired, unknown } = comparableState(target, source);
  const { unmanaged } = planPulledSettings(desired, observed);
  const listed = new Set(desired.unmanaged.map(formatPathKey));
  const entries = unmanaged.filter((path) => isOfList(path) && !listed.has(formatPathKey(path)));
  const lists = uniquePaths(entries.map((path) => path.slice(0, 2)));
  const paths = [...unmanaged, ...lists];
  // Values that cannot be compared are declared all the same.
  return unknown.length === 0 ? paths : paths.filter(([name]) => name !== 'mcp_config');
}

/** The state of a service: its settings, and the items that it stores by name. */
export interface ObservedService {
  readonly observed: ObservedState;
  readonly collections: ReadCollections;
}

export function pullTarget(
  given: Target,
  { observed, collections }: ObservedService,
  options: PullOptions,
  source: ReferenceSource,
): TargetPull {
  const { target, edits: freed, paths: freedPaths } = adoptUnmanagedPaths(given, options.adopt);
  const state = comparableState(target, source);
  const { desired } = state;
  const { changes: planned, unknown } = planPulledSettings(desired, observed);
  const changes = [...planned, ...listImpliedChanges(desired, observed, planned)];
  const rules = createPullRules(state, changes, observed, options);
  const { own, named } = splitNamed(desired);
  const isNamed = ({ path }: Change): boolean => isOfNamed(path, named);
  const pulled = joinPulls([
    pullFields(target, own, observed, {
      ...rules,
      changes: changes.filter((one) => !isNamed(one)),
    }),
    observed.stored
      ? pullNamedBlocks(target, named, observed, rules)
      : joinPulls(changes.filter(isNamed).map((one) => skipPull(one, REASONS.empty))),
  ]);
  const { hidden } = rules;
  const items = pullItems({ target, desired, observed }, collections, { ...options, hidden });
  const paths = observed.stored
    ? toAdopt(target, observed, options.adopt, source).filter((path) => !isSetByItem(path, items))
    : [];
  const added = [
    ...paths
      .filter((path) => !isDeclaredByName(path, named))
      .map((path) => ({
        path,
        ...adoptField(path, observed, { ...rules, unmanaged: [], changes: [] }),
      })),
    ...adoptMissingServers(target, desired, observed, options.adopt, rules),
  ];
  return {
    edits: [...freed, ...pulled.edits, ...items.edits, ...added.flatMap(({ edits }) => edits)],
    made: [...pulled.made, ...items.made],
    left: [
      ...[...pulled.left, ...items.left].filter((one) => !isUnknown(one, state)),
      ...added.flatMap(({ left }) => left),
    ],
    unknown: [...unknown, ...state.unknown, ...items.unknown],
    adopted: [
      ...freedPaths.filter((path) => !pulled.made.some(([, made]) => samePath(made.path, path))),
      ...added.filter(({ edits }) => edits.length > 0).map(({ path }) => path),
    ]
      .map((path) => ({ path, value: readPulledValue(observed, path) }))
      .concat(items.adopted),
  };
}

function createPullRules(
  state: ReturnType<typeof comparableState>,
  changes: readonly Change[],
  { dialect, values }: ObservedState,
  { ownLayer, excluded, hidden }: PullOptions,
): PullRules {
  const hiding = { ...PLAIN_ANSWER, defaults: listEntryDefaults(dialect) };
  const compare: CompareEntry = (...entry) => compareEntry(...entry, hiding);
  return {
    unmanaged: state.desired.unmanaged,
    changes,
    entryMembers: dialect.entryMembers,
    compare: ownLayer ? comparingWhatIsSet(state, compare) : compare,
    excluded,
    overReferences: ownLayer,
    hidden: [...collectHiddenSecrets(state, hidden), ...listSecretTexts(values)],
  };
}

/** Reports whether an adopted item sets the value at a path of the settings. */
function isSetByItem(path: Path, { adopted, left }: PulledItems): boolean {
  const names = adopted.map(({ path: [block, name = ''] }) => ({ block, name }));
  const kinds = names.flatMap(({ block, name }) => (block === ACTIVE_FORM.block ? [name] : []));
  const leftKinds = left.flatMap(({ path: [block, kind = ''] }) =>
    block === ACTIVE_FORM.block ? kind : [],
  );
  const isTokens = path[0] === 'secrets_store';
  return (
    createCopyMatcher(kinds, leftKinds)(path) ||
    (isTokens && names.some(({ block }) => block === GIT_PROVIDERS_FORM.block))
  );
}

/**
 * Changes that follow once the file has the service's value of another field: the default address of the declared model's provider does not
 * apply to the service's model.
 */
function listImpliedChanges(
  desired: DesiredState,
  observed: ObservedState,
  planned: readonly Change[],
): Change[] {
  const differs = new Set(planned.map(({ path }) => path[0]));
  return desired.fields.flatMap((declared) => {
    const { name } = declared.field;
    const { shownAsNull } = observed.dialect.fields.get(name) ?? {};
    if (shownAsNull === undefined || differs.has(name) || !differs.has(shownAsNull.field))
      return [];
    return planValue(declared, observed).changes ?? [];
  });
}

/** The resolved values of a target's references, its keys among them: written nowhere, wherever else a service has them. */
export function secretsToHide({
  target,
  server,
  desired,
}: {
  readonly target: Target;
  readonly server: ServerSettings | SetpointError;
  readonly desired: DesiredState;
}): Secret[] {
  const declared = listDeclaredValues(desired).flatMap((value) => collectSecrets(value));
  const secrets = declared.filter((one) => one.ref !== null && !(one instanceof UnseenSecret));
  if (server instanceof SetpointError) return secrets;
  const key = server.apiKey === null ? [] : [server.apiKey];
  const written = readNodeText(member(target.server, 'url')) ?? '';
  const url = mayHoldReference(written) ? [new Secret(server.url, written)] : [];
  return [...secrets, ...key, ...url, ...server.headers.values()];
}

function isUnknown({ ref }: LeftAlone, state: ComparableState): boolean {
  return ref !== null && state.isUnset(ref);
}

/** A member that reads something without a value does not differ. */
function comparingWhatIsSet({ isUnset }: ComparableState, compare: CompareEntry): CompareEntry {
  return (list, declared, actual) => ({
    differing: compare(list, declared, actual).differing.filter((name) =>
      collectSecrets(declared[name]).every(({ ref }) => ref === null || !isUnset(ref)),
    ),
  });
}

function collectHiddenSecrets(
  { desired, isUnset }: ComparableState,
  others: readonly Secret[],
): Secret[] {
  const secrets = listDeclaredValues(desired).flatMap((value) => collectSecrets(value));
  return [...others, ...secrets.filter(({ ref }) => ref !== null && !isUnset(ref))];
}

/** The target without the unmanaged paths that are adopted, the edit that removes them from `unmanaged`, and those paths. */
function adoptUnmanagedPaths(
  target: Target,
  adopt: PullOptions['adopt'],
): {
  readonly target: Target;
  readonly edits: readonly PullEdit[];
  readonly paths: readonly Path[];
} {
  const list = target.unmanaged;
  const nothing = { target, edits: [], paths: [] };
  if (list?.kind !== 'list' || adopt === 'all') return nothing;
  const pathOf = (item: Node): Path => parsePath(readNodeText(item) ?? '') ?? [];
  const named = new Set(adopt.map(formatPathKey));
  const isNamed = (item: Node): boolean => named.has(formatPathKey(pathOf(item)));
  const items = list.items.filter((item) => !isNamed(item));
  if (items.length === list.items.length) return nothing;
  const value = items.map((item) => readNodeText(item) ?? '');
  return {
    target: { ...target, unmanaged: { ...list, items } },
    edits: [{ path: ['unmanaged'], value, placeholders: [] }],
    paths: list.items.filter(isNamed).map(pathOf),
  };
}

/** The fields and mcp lists to adopt: of those that nothing declares, the ones that `adopt` names. */
function toAdopt(
  target: Target,
  observed: ObservedState,
  adopt: PullOptions['adopt'],
  source: ReferenceSource,
): Path[] {
  const { desired } = comparableState(target, source);
  const unmanaged = new Set(desired.unmanaged.map(formatPathKey));
  const undeclared = adoptableSettings(target, observed, source).filter(
    (path) => !unmanaged.has(formatPathKey(path)),
  );
  const named =
    adopt === 'all'
      ? undeclared
      : undeclared.filter((path) =>
          adopt.some(
            (one) => path.every((segment, index) => segment === one[index]) || isWithin(path, one),
          ),
        );
  // A declared list names all its entries: one of them is adopted with the others.
  return uniquePaths(named.map((path) => (isOfList(path) ? path.slice(0, 2) : path)));
}

/** Reports whether a path is that of an entry of an mcp list. */
function isOfList([name, list, entry]: Path): boolean {
  return name === 'mcp_config' && isMcpList(list) && entry !== undefined;
}

function uniquePaths(paths: readonly Path[]): Path[] {
  return [...new Map(paths.map((path) => [formatPathKey(path), path])).values()];
}

/** The service's value of a field, an mcp list or a server by its name; null for an entry of a list. */
function readPulledValue(observed: ObservedState, path: Path): Value {
  const { values } = observed;
  const [name = '', list, entry] = path;
  if (name === 'mcp_servers')
    return (
      listPathedEntries(values['mcp_config']).find((one) => one.entry['name'] === list)?.entry ??
      null
    );
  if (NATIVE_PARTS.has(name)) return readShownValue(observed, path) ?? null;
  const value = values[name] ?? null;
  if (list === undefined) return value;
  return isRecord(value) && entry === undefined ? (value[list] ?? null) : null;
}
