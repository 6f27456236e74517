import { findDeclaredField } from '../desired/native.ts';
import { member, findNode, readNodeText } from '../desired/node.ts';
import { hasValidReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import {
  type Field,
  fieldNamed,
  isNativePath,
  NATIVE_PARTS,
  NATIVE_SERVERS,
} from '../model/field.ts';
import {
  listRecordEntries,
  isMcpList,
  MCP_LISTS,
  type McpList,
  unreadableItems,
} from '../model/mcp.ts';
import { formatPath, type Path, isWithin, pathNamed } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import { Secret } from '../model/secret.ts';
import { type DesiredState, type ObservedState, findDeclaredServers } from '../model/state.ts';
import { isRecord, type Value, collectSecrets, type Json } from '../model/value.ts';
import { pullMcpConfig, pullMcpList, pullServers } from './pull-mcp.ts';
import type { PullEdit } from './place-edits.ts';
import { fieldPlaceholder, variableName, replaceMarkers } from './placeholder.ts';
import {
  type EntryPullResult,
  joinPulls,
  type PullRules,
  skipPull,
  NOTHING_PULLED,
} from './rules.ts';
import {
  toWritableScalar,
  isExpressible,
  hasHiddenSecret,
  REASONS,
  collectShownTexts,
} from './writable.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { isServiceSecret, findSchemaNodes, readShownValue } from '../plan/field-here.ts';
import { isFilledIn } from '../plan/side-effects.ts';
import { isObject } from '../yaml-edit/source.ts';
import { bareMarketplaces } from './pull-named.ts';
import type { WrittenValue } from './program.ts';
import { createSecretReference, writeDeepValue, type WrittenPlace } from './written-deep.ts';

/** Returns the edits of the file that make the plan empty, and what is skipped. */
export function pullFields(
  target: Target,
  desired: DesiredState,
  observed: ObservedState,
  rules: PullRules,
): EntryPullResult {
  if (!observed.stored)
    return joinPulls(rules.changes.map((change) => skipPull(change, REASONS.empty)));
  const parts = rules.changes
    .filter(({ path }) => path[0] !== 'mcp_config')
    .map((change) =>
      isNativePath(change.path)
        ? pullNativeValue(change, target, observed, rules)
        : pullField(change, target, observed, rules),
    );
  const mcp = findDeclaredServers(desired);
  const node = member(target.settings, 'mcp_config');
  const byName =
    target.settings === undefined ? undefined : findNode(target.settings, NATIVE_SERVERS);
  const config = observed.values['mcp_config'] ?? null;
  if (byName !== undefined) {
    const place = ['settings', ...NATIVE_SERVERS];
    parts.push(
      pullServers({ place, node: byName, declared: mcp ?? { value: null } }, config, rules),
    );
  }
  if (mcp !== undefined && node !== undefined)
    parts.push(pullMcpConfig(node, mcp.value, config, rules));
  return joinPulls(parts);
}

function pullField(
  change: Change,
  target: Target,
  observed: ObservedState,
  { excluded, overReferences, hidden }: PullRules,
): EntryPullResult {
  const [name = ''] = change.path;
  const field = fieldNamed(name);
  const leave = (reason: string): EntryPullResult => skipPull(change, reason);
  if (field === undefined) return leave(REASONS.unreadable);
  if (excluded.has(formatPath(change.path))) return leave(REASONS.unlike);
  const place = findDeclaredField(target.settings, field);
  const at = place?.path ?? [name];
  const write = (edit: Omit<PullEdit, 'path'>, action: PulledAction): EntryPullResult => ({
    edits: [{ path: ['settings', ...at], ...edit }],
    made: [[action, change]],
    left: [],
  });
  const refer = (secret: Secret, action: PulledAction): EntryPullResult => {
    const placeholder = fieldPlaceholder(name, secret);
    return write({ value: placeholder.written, placeholders: [placeholder] }, action);
  };
  if (field.secret) {
    if (!overReferences) return leave(change.ref === null ? REASONS.secret : REASONS.reference);
    return change.action === 'set'
      ? write({ value: null, placeholders: [] }, 'clear')
      : refer(new Secret(''), 'set');
  }
  const node = place?.node;
  const text = node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
  if (name === 'secrets_store' || (hasValidReference(text) && !overReferences))
    return leave(REASONS.reference);
  const actual = readServiceValue(field, observed);
  if (actual instanceof Secret)
    return overReferences ? refer(actual, 'change') : leave(REASONS.sensitive);
  if (hasHiddenSecret(actual, hidden)) return leave(REASONS.tainted);
  const value = toWritableScalar(actual);
  if (value === null || !isExpressible({ [name]: value.written }))
    return leave(REASONS.inexpressible);
  const action = change.action === 'set' ? 'clear' : change.action === 'clear' ? 'set' : 'change';
  return write({ value: value.written, placeholders: [] }, action);
}

/** Returns the value of the service, or the default if it omits the field. Null if empty text means the same. */
function readServiceValue({ name }: Field, { dialect, values }: ObservedState): Value {
  const field = dialect.fields.get(name);
  const actual = values[name] ?? field?.absent ?? null;
  return actual === '' && field?.onNull === 'keeps' && field.clearWith === '' ? null : actual;
}

/** Adopts a field, or one mcp list: secrets as references, empty mcp lists left out. */
export function adoptField(path: Path, observed: ObservedState, rules: PullRules): EntryPullResult {
  const [name = '', list] = path;
  const value = observed.values[name] ?? null;
  const leave = (reason: string): EntryPullResult => skipPull({ path, ref: null }, reason);
  const write = (edit: Omit<PullEdit, 'path'>): EntryPullResult => ({
    edits: [{ path: ['settings', name], ...edit }],
    made: [],
    left: [],
  });
  if (NATIVE_PARTS.has(name)) return adoptNativeValue(path, observed, rules);
  const field = fieldNamed(name);
  if (field === undefined) return leave(REASONS.unknown);
  if (rules.excluded.has(formatPath(path))) return leave(REASONS.unlike);
  if (name === 'secrets_store') return leave(REASONS.unreadable);
  if (name === 'mcp_config') {
    if (list === undefined) return adoptMcpLists(value, MCP_LISTS, rules);
    return isMcpList(list) ? adoptMcpLists(value, [list], rules) : leave(REASONS.inexpressible);
  }
  if (field.secret || value instanceof Secret || hasHiddenSecret(value, rules.hidden)) {
    if (field.type !== 'string') return leave(REASONS.tainted);
    const placeholder = fieldPlaceholder(name, value);
    return write({ value: placeholder.written, placeholders: [placeholder] });
  }
  const written = toWritableScalar(value);
  if (written === null || !isExpressible({ [name]: written.written }))
    return leave(REASONS.inexpressible);
  return write({ value: written.written, placeholders: [] });
}

/**
 * A declared list is exhaustive: one that cannot be adopted whole is not adopted. All three together are exhaustive: a file that declares
 * one declares the empty ones too, and a plan shows what is added to them.
 */
function adoptMcpLists(
  config: Value,
  lists: readonly McpList[],
  rules: PullRules,
): EntryPullResult {
  const pulls = lists.map((list) => {
    const entries = isRecord(config) ? listRecordEntries(config[list]) : [];
    const isReadable = unreadableItems(config, list).length === 0;
    const nothing = { node: undefined, declared: null };
    const { value, placeholders, left } = pullMcpList(list, nothing, config, rules);
    const isWhole = isReadable && value.length === entries.length;
    const path = ['mcp_config', list];
    const unread = isReadable ? [] : [{ path, reason: REASONS.inexpressible, ref: null }];
    const edit: PullEdit = { path: ['settings', ...path], value, placeholders };
    return { edit, isWhole, isEmpty: entries.length === 0, left: [...left, ...unread] };
  });
  const whole = pulls.filter(({ isWhole }) => isWhole);
  const isAny = whole.some(({ isEmpty }) => !isEmpty);
  return {
    edits: isAny ? whole.map(({ edit }) => edit) : [],
    made: [],
    left: pulls.flatMap(({ left }) => left),
  };
}

/** Returns the edits for a native value that differs: the service's value without possible secrets. */
export function pullNativeValue(
  change: Change,
  target: Target,
  observed: ObservedState,
  rules: PullRules,
): EntryPullResult {
  const { path, before, ref } = change;
  const { overReferences, hidden } = rules;
  const leave = (reason: string): EntryPullResult => skipPull(change, reason);
  const write = (written: WrittenValue, action: PulledAction): EntryPullResult => ({
    edits: [{ path: ['settings', ...path], ...written }],
    made: [[action, change]],
    left: [],
  });
  if (isNativeExcluded(path, rules)) return leave(REASONS.unlike);
  if (isServiceSecret(path, observed)) {
    if (!overReferences) return leave(ref === null ? REASONS.secret : REASONS.reference);
    return change.action === 'set'
      ? write({ value: null, placeholders: [] }, 'clear')
      : write(createSecretReference(new Secret(''), createNativePlace(path, rules)), 'set');
  }
  if (change.action === 'rotate') return leave(REASONS.secret);
  const node = findNode(target.settings ?? target.root, path);
  const text = readNodeText(node) ?? '';
  if ((ref !== null || hasValidReference(text)) && !overReferences) return leave(REASONS.reference);
  const found = before ?? (refusesNull(path, observed) ? [] : null);
  const written = writeNativeValue(path, found, rules, target.root.file.lock);
  if (written === null) return leave(unwritten(before));
  if (written.placeholders.length > 0 && !overReferences) {
    const isTainted = collectShownTexts(before).some((one) => hasHiddenSecret(one, hidden));
    return leave(isTainted ? REASONS.tainted : REASONS.sensitive);
  }
  const action = change.action === 'set' ? 'clear' : change.action === 'clear' ? 'set' : 'change';
  return write(written, action);
}

/** Adopts a native value that nothing declares, secrets as references. */
function adoptNativeValue(path: Path, observed: ObservedState, rules: PullRules): EntryPullResult {
  const leave = (reason: string): EntryPullResult => skipPull({ path, ref: null }, reason);
  if (findSchemaNodes(path, observed).length === 0) return leave(REASONS.unmanageable);
  if (isNativeExcluded(path, rules)) return leave(REASONS.unlike);
  if (isFilledIn(formatPath(path), observed)) return leave(REASONS.filled);
  const shown = readShownValue(observed, path) ?? null;
  // A map of secrets that reads empty may hold some: declared, it would take them out.
  const hides = isRecord(shown) && isServiceSecret([...path, 'any'], observed);
  if (hides && Object.keys(shown).length === 0) return NOTHING_PULLED;
  const written = isServiceSecret(path, observed)
    ? createSecretReference(new Secret(''), createNativePlace(path, rules))
    : writeNativeValue(path, shown, rules);
  if (written === null || !isDeclarable(path, written)) return leave(unwritten(shown));
  return { edits: [{ path: ['settings', ...path], ...written }], made: [], left: [] };
}

/** Reports whether a value, its parent or a member failed to read back. The file may have it in another nesting. */
function isNativeExcluded(path: Path, { excluded }: PullRules): boolean {
  return [...excluded.keys()].some((name) => {
    const one = pathNamed(name);
    return isWithin(one, path) || isWithin(path, one);
  });
}

function createNativePlace(path: Path, { hidden }: PullRules): WrittenPlace {
  const [, ...below] = path;
  const names = (inner: Path): string[] => [
    variableName(...(below.length === 0 ? path : below), ...inner),
    variableName(...path, ...inner),
  ];
  return { schema: path, path, at: path, names, hidden };
}

/** A value as the file writes it; null if it cannot be written. */
function writeNativeValue(
  path: Path,
  value: Value,
  rules: PullRules,
  lock?: SchemaLock,
): WrittenValue | null {
  const written = writeDeepValue(bareMarketplaces(path, value), createNativePlace(path, rules));
  return written !== null && isDeclarable(path, written, lock) ? written : null;
}

/** Reports whether a file may declare a value at a path, whatever names its variables get. */
function isDeclarable(path: Path, { value }: WrittenValue, lock?: SchemaLock): boolean {
  const named = replaceMarkers(value, () => 'X');
  const settings = path.reduceRight<Json>((inner, key) => ({ [key]: inner }), named);
  return isObject(settings) && isExpressible(settings, lock);
}

/** Reports whether null preserves the service's value. An empty list means that there is nothing. */
function refusesNull(path: Path, { dialect }: ObservedState): boolean {
  return dialect.native?.get(formatPath(path))?.onNull === 'refuses';
}

/** Explains why a value is not written: no reference can replace a masked number. */
function unwritten(value: Value): string {
  return collectSecrets(value).length > 0 ? REASONS.sensitive : REASONS.inexpressible;
}
