import { findNode, readNodeText } from '../desired/node.ts';
import { hasValidReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { formatPath, isWithin, pathNamed, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { PulledAction } from '../model/documents.gen.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import { isRecord, collectSecrets, type Json, type Value } from '../model/value.ts';
import { isServiceSecret, findSchemaNodes, readShownValue } from '../plan/field-here.ts';
import { isFilledIn } from '../plan/side-effects.ts';
import { isObject } from '../yaml-edit/source.ts';
import { bareMarketplaces } from './named-settings.ts';
import { type EntryPullResult, NOTHING_PULLED, type PullRules, skipPull } from './rules.ts';
import { variableName, replaceMarkers } from './placeholder.ts';
import type { WrittenValue } from './program.ts';
import { isExpressible, hasHiddenSecret, REASONS, collectShownTexts } from './writable.ts';
import { createSecretReference, writeDeepValue, type WrittenPlace } from './written-deep.ts';

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
export function adoptNativeValue(
  path: Path,
  observed: ObservedState,
  rules: PullRules,
): EntryPullResult {
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
