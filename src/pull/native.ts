import { nodeAt, textOf } from '../desired/node.ts';
import { holdsReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { formatPath, type Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { ObservedState } from '../model/state.ts';
import { isList, isRecord, secretsIn, type Json, type Value } from '../model/value.ts';
import { isNativeSecret, shownAt } from '../plan/native-fields.ts';
import type { Adopted } from './fields.ts';
import { NOTHING_PULLED, type Pulled, type PullRules } from './mcp.ts';
import { asWritten, isExpressible, isHidden, REASONS } from './writable.ts';

/** What the file gets for a native value that differs: what the service has in its place, and nothing that may be a secret. */
export function pulledNative(change: Change, target: Target, rules: PullRules): Pulled {
  const { path, before, ref } = change;
  const leave = (reason: string): Pulled => ({ ...NOTHING_PULLED, left: [{ path, reason, ref }] });
  if (rules.excluded.has(formatPath(path))) return leave(REASONS.unlike);
  if (change.action === 'rotate') return leave(REASONS.secret);
  const node = nodeAt(target.settings ?? target.root, path);
  const text = textOf(node) ?? '';
  if (ref !== null || holdsReference(text)) return leave(REASONS.reference);
  const written = writtenIn(path, before, rules);
  if (typeof written === 'string') return leave(written);
  const action = change.action === 'set' ? 'clear' : change.action === 'clear' ? 'set' : 'change';
  return {
    edits: [{ path: ['settings', ...path], value: written.value, placeholders: [] }],
    made: [[action, change]],
    left: [],
  };
}

/** Adopts a native value that nothing declares. */
export function adoptedNative(path: Path, observed: ObservedState, rules: PullRules): Adopted {
  const leave = (reason: string): Adopted => ({ edits: [], left: [{ path, reason, ref: null }] });
  if (rules.excluded.has(formatPath(path))) return leave(REASONS.unlike);
  if (isNativeSecret(path, observed)) return leave(REASONS.secret);
  const written = writtenIn(path, shownAt(observed, path) ?? null, rules);
  if (typeof written === 'string') return leave(written);
  return {
    edits: [{ path: ['settings', ...path], value: written.value, placeholders: [] }],
    left: [],
  };
}

/** A value as the file writes it, or why it cannot be written. */
function writtenIn(
  path: Path,
  value: Value,
  { hidden }: PullRules,
): { readonly value: Json } | string {
  if (secretsIn(value).length > 0) return REASONS.sensitive;
  if (textsIn(value).some((text) => isHidden(text, hidden))) return REASONS.tainted;
  const written = deeplyWritten(value);
  if (written === null) return REASONS.inexpressible;
  const settings = path.reduceRight<Json>((inner, key) => ({ [key]: inner }), written.value);
  return isExpressible(settings as Parameters<typeof isExpressible>[0])
    ? { value: written.value }
    : REASONS.inexpressible;
}

function deeplyWritten(value: Value): { readonly value: Json } | null {
  if (isList(value)) {
    const items = value.map(deeplyWritten);
    return items.includes(null)
      ? null
      : { value: items.flatMap((item) => (item === null ? [] : [item.value])) };
  }
  if (!isRecord(value)) {
    const scalar = asWritten(value);
    return scalar === null ? null : { value: scalar.written };
  }
  const members = Object.entries(value).map(
    ([key, member]) => [key, deeplyWritten(member)] as const,
  );
  if (members.some(([, member]) => member === null)) return null;
  return {
    value: Object.fromEntries(members.map(([key, member]) => [key, member?.value ?? null])),
  };
}

function textsIn(value: Value): string[] {
  if (typeof value === 'string') return [value];
  if (isList(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** The servers that a file declares by their names are left alone: which of its entries to edit is told in the lists alone. */
export function leftServers(changes: readonly Change[]): Pulled {
  const own = changes.filter(({ path }) => path[0] === 'mcp_config');
  return {
    ...NOTHING_PULLED,
    left: own.map(({ path, ref }) => ({ path, reason: REASONS.byName, ref })),
  };
}
