import { findDeclaredField } from '../desired/native.ts';
import { member, findNode } from '../desired/node.ts';
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
import { formatPath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import { Secret } from '../model/secret.ts';
import { type DesiredState, type ObservedState, findDeclaredServers } from '../model/state.ts';
import { isRecord, type Value } from '../model/value.ts';
import { pullMcpConfig, pullMcpList, pullServers } from './mcp.ts';
import { adoptNativeValue, pullNativeValue } from './native.ts';
import type { PullEdit } from './place-edits.ts';
import { fieldPlaceholder } from './placeholder.ts';
import { type EntryPullResult, joinPulls, type PullRules, skipPull } from './rules.ts';
import { toWritableScalar, isExpressible, hasHiddenSecret, REASONS } from './writable.ts';

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
