import { fieldNamed, fields, isFlag } from '../model/field.ts';
import { MCP_LISTS, UNNAMED } from '../model/mcp.ts';
import { formatPath, isUnmanaged, type Path } from '../model/path.ts';
import type { SettingsPlan, Unknown, Unpreservable, Warning } from '../model/plan.ts';
import type { Fingerprints } from '../model/ports.ts';
import type { DesiredField, DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, sameValue, type Value } from '../model/value.ts';
import type { FieldPlan } from './field-plan.ts';
import { managedLists } from './managed.ts';
import { hidingIn } from './mcp-entry.ts';
import { planMcp } from './plan-mcp.ts';
import { isEmpty, planPlain } from './plan-plain.ts';
import { planSecret } from './plan-secret.ts';
import { planSecretsStore } from './plan-secrets-store.ts';
import { hiddenFields, recordToStore, unreadableItems } from './record.ts';
import type { Rotation } from './rotation.ts';
import { unpreservableMcp } from './unpreservable.ts';

export interface PlanOptions {
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
  /** Values that a corrective write has to carry: with them there is a body though nothing else differs. */
  readonly along?: ReadonlyMap<string, Value>;
}

/**
 * A comparison that asks for no rotation and knows nothing of what was written before: after a write, where that is history,
 * and where nothing is to be written.
 */
export const NOTHING_KNOWN: PlanOptions = { rotation: [], fingerprints: { compare: () => 'none' } };

/**
 * The ordered changes that turn the observed into the desired state, and the body that makes them. Pure: the same two states
 * give the same plan, and a plan of a state against itself is empty.
 *
 * Removals come first, then the other changes in the order of the specification. A value whose reference is missing, or that
 * cannot be read back, is listed under `unknown` by its own path: it is neither claimed equal nor changed.
 */
export function planSettings(
  desired: DesiredState,
  observed: ObservedState,
  options: PlanOptions,
): SettingsPlan {
  const managed = desired.fields.filter(
    ({ field }) => !isUnmanaged(desired.unmanaged, [field.name]),
  );
  const plans = managed.map(
    (field) => [field.field.name, planField(field, desired, observed, options)] as const,
  );
  const changes = plans.flatMap(([, plan]) => plan.changes ?? []);
  const removals = changes.filter((change) => change.action === 'remove');
  const overlay = new Map<string, Value>();
  for (const [name, plan] of plans) if (plan.overlay !== undefined) overlay.set(name, plan.overlay);
  for (const [name, value] of options.along ?? []) overlay.set(name, value);
  const writes = changes.length > 0 || options.along !== undefined;
  const unpreservable = writes ? unpreservableIn(observed, plans) : [];
  return {
    changes: [...removals, ...changes.filter((change) => change.action !== 'remove')],
    unknown: [
      ...plans.flatMap(([, plan]) => plan.unknown ?? []),
      ...unreadableIn(desired, observed),
    ],
    warnings: [
      ...plans.flatMap(([, plan]) => plan.warnings ?? []),
      ...unpreservable.map(warningOf),
    ],
    unmanaged: unmanagedIn(desired, observed),
    unpreservable,
    record: writes ? recordToStore(observed, overlay) : null,
  };
}

function planField(
  field: DesiredField,
  { unmanaged }: DesiredState,
  observed: ObservedState,
  { rotation, fingerprints }: PlanOptions,
): FieldPlan {
  if (field.field.secret) return planSecret(field, observed, rotation, fingerprints);
  if (field.field.name === 'mcp_config') return planMcp(field, observed, unmanaged, rotation);
  if (field.field.name === 'secrets_store') return planSecretsStore(field, observed, rotation);
  return planPlain(field, observed);
}

/**
 * What the write would lose: secrets of mcp entries that do not come back, and a sandbox_api_key nobody can see. Where the
 * file declares mcp_config, its own plan has said the former.
 */
function unpreservableIn(
  observed: ObservedState,
  plans: readonly (readonly [string, FieldPlan])[],
): Unpreservable[] {
  const planned = new Set<string>(plans.map(([name]) => name));
  const mcp = observed.record['mcp_config'];
  const carried = planned.has('mcp_config')
    ? []
    : unpreservableMcp(mcp, MCP_LISTS, hidingIn(mcp, observed.saved === true));
  const hidden = hiddenFields(observed).map((name): Unpreservable => ({
    path: [name],
    stops: 'always',
    remedy: 'nothing declares this field; set it by other means',
  }));
  const unseen = observed.stored && !planned.has('sandbox_api_key');
  const remedy = 'declare it under settings: a reference to keep it, null to clear it';
  const blind: Unpreservable[] = unseen
    ? [{ path: ['sandbox_api_key'], stops: 'protected', remedy }]
    : [];
  const lost = plans.flatMap(([, plan]) => plan.unpreservable ?? []);
  if (observed.saved === true) {
    const unsaid = hidden.filter(({ path: [name = ''] }) => isEmpty(observed.record[name]));
    return [...lost.filter(({ path }) => path[0] !== 'mcp_config'), ...unsaid, ...blind];
  }
  return [...lost, ...carried, ...hidden, ...blind];
}

function warningOf({ path, remedy }: Unpreservable): Warning {
  const message = `This write clears ${formatPath(path)}, which the service does not show: ${remedy}.`;
  return { code: 'lose-unreadable', message, path };
}

const ORDER: ReadonlyMap<string, number> = new Map(
  fields().map((field, index) => [field.name, index]),
);

/** Items of a declared list that this version cannot read: they stay, and nothing is claimed of them. */
function unreadableIn(desired: DesiredState, { record }: ObservedState): Unknown[] {
  return managedLists(desired)
    .filter((list) => unreadableItems(record['mcp_config'], list).length > 0)
    .map((list) => ({
      path: ['mcp_config', list, UNNAMED],
      reason: 'not an entry that setpoint can read; it is kept as it is',
      ref: null,
    }));
}

/** What the service holds and the file does not manage: never touched, and said. */
function unmanagedIn(desired: DesiredState, observed: ObservedState): Path[] {
  const declared = new Set<string>(desired.fields.map(({ field }) => field.name));
  const hidden = new Set(hiddenFields(observed));
  const names = [...new Set([...Object.keys(observed.record), ...hidden])].filter((name) => {
    if (isFlag(name, observed.record[name]) || declared.has(name)) return false;
    if (hidden.has(name)) return true;
    const field = fieldNamed(name);
    if (typeof field?.setFlag === 'string') return observed.record[field.setFlag] === true;
    if (name === 'secrets_store') return !isEmptyRecord(observed.record['provider_tokens_set']);
    const value = observed.record[name];
    return !isEmpty(value) && !(field !== undefined && sameValue(value, field.default));
  });
  const rank = (name: string) => ORDER.get(name) ?? ORDER.size;
  return [
    ...names.toSorted((a, b) => rank(a) - rank(b)).map((name) => [name]),
    ...desired.unmanaged,
  ];
}

function isEmptyRecord(value: Value | undefined): boolean {
  return !isRecord(value) || Object.keys(value).length === 0;
}
