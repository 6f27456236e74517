import { onceFor } from '../model/cache.ts';
import { ACTIVE_FORM, GIT_PROVIDERS_FORM } from '../model/collection-forms.ts';
import { itemsDeclared } from '../model/collection.ts';
import {
  ACTIVE_PROFILE,
  AGENT_KIND,
  AGENT_PART,
  fieldNamed,
  fields,
  isNamedWithin,
  MODEL_PART,
} from '../model/field.ts';
import { OF_ORGANIZATION } from '../model/organization.ts';
import { UNNAMED, unreadableItems } from '../model/mcp.ts';
import { maskFreeKeys } from '../model/path-facts.ts';
import { formatPath, formatPathKey, pathNamed, samePath, type Path } from '../model/path.ts';
import type { Change, SettingsPlan, Unknown, Unpreservable } from '../model/plan.ts';
import type { Warning } from '../model/error.ts';
import type { Fingerprints } from '../model/ports.ts';
import { type DesiredField, type DesiredState, type ObservedState } from '../model/state.ts';
import { isSkippedPath, toSkippedUnknowns } from '../model/uncompared.ts';
import { isEmpty, createRecord, type Value } from '../model/value.ts';
import { besideProfile, profileWarnings } from './profiles.ts';
import { listLosses, listStoredNames, resetReplacedAgent } from './consequences.ts';
import { withImpliedKinds, listUnmanagedServers, resolveNamedBlocks } from './field-here.ts';
import { isNullOfOthers } from './fit-schema.ts';
import { planMcp } from './plan-mcp.ts';
import { planValue } from './plan-value.ts';
import { declaresField, listManagedMcpLists, type FieldPlan, type Rotation } from './declared.ts';
import { warnUnkeptSecret, planSecretField } from './plan-secrets.ts';

export interface PlanOptions {
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
  /** Values that a corrective write carries: with them there is a write although nothing else differs. */
  readonly along?: ReadonlyMap<string, Value>;
}

/**
 * A comparison without rotation and without fingerprints: after a write, and when nothing will be written.
 */
export const NOTHING_KNOWN: PlanOptions = { rotation: [], fingerprints: { compare: () => 'none' } };

/**
 * The ordered changes that turn the observed into the desired state, and the write that makes them. Pure: the same two states
 * give the same plan, and a plan of a state against itself is empty.
 *
 * Removals come first, then the other changes in the order of the specification. A value whose reference is missing, or that
 * cannot be read back, is listed under `unknown` by its own path: it is neither claimed equal nor changed.
 */
export function planSettings(
  declared: DesiredState,
  observed: ObservedState,
  options: PlanOptions,
): SettingsPlan {
  const desired = withImpliedKinds(resolveNamedBlocks(declared, observed), observed);
  const start = resetReplacedAgent(desired, observed);
  const managed = listManagedFields(desired, start);
  const plans = managed.map((field) => {
    const from = samePath(field.field.path, AGENT_KIND) ? observed : start;
    return [field.field.name, planField(field, managed, desired, from, options)] as const;
  });
  const changes = plans.flatMap(([, plan]) => plan.changes ?? []);
  const removals = changes.filter((change) => change.action === 'remove');
  const sent = plans.filter(([, plan]) => isSent(plan, observed));
  const written = new Map<string, Value>();
  for (const [name, plan] of sent) if (plan.write !== undefined) written.set(name, plan.write);
  for (const [name, value] of options.along ?? []) written.set(name, value);
  for (const name of listFieldsToInfer(written, start))
    written.set(name, findManagedValue(name, managed) ?? createClearTest(name, start));
  const beside = besideProfile(written, managed, start);
  if (beside !== null) written.set(...beside);
  const writes = changes.length > 0 || options.along !== undefined;
  const write = writes ? { fields: createRecord(written), observed: start } : null;
  const unpreservable = listLosses(write, desired, start);
  return {
    changes: [...removals, ...changes.filter(({ action }) => action !== 'remove')],
    unknown: [
      ...plans.flatMap(([, plan]) => plan.unknown ?? []),
      ...listUnreadableLists(desired, observed),
      ...toSkippedUnknowns(desired),
    ],
    warnings: [
      ...plans.flatMap(([, plan]) => plan.warnings ?? []),
      ...unpreservable.flatMap(warnUnpreservable),
      ...cautionsFor(changes, observed),
      ...profileWarnings(written, managed, start),
    ],
    unmanaged: listUnmanagedValues(desired, observed),
    unpreservable,
    gone: plans.flatMap(([name, plan]) => (plan.gone === true ? [pathNamed(name)] : [])),
    write,
  };
}

/** The declared fields that the service has. One that it does not have is null, or was refused before. */
function listManagedFields(desired: DesiredState, observed: ObservedState) {
  const { dialect } = observed;
  return desired.fields.filter(
    (declared) =>
      (fieldNamed(declared.field.name) === undefined || dialect.fields.has(declared.field.name)) &&
      !(observed.organization !== undefined && OF_ORGANIZATION.has(declared.field.name)) &&
      !isNullOfOthers(declared, desired, observed),
  );
}

/** Reports whether a write contains a field. If unsent fields are preserved, only changed ones are sent. */
function isSent({ changes = [] }: FieldPlan, { dialect }: ObservedState): boolean {
  return dialect.writes === 'record' || changes.length > 0;
}

/** The fields that must be sent with the written ones, cleared if the file has no value, so that the service infers them again. */
function listFieldsToInfer(
  written: ReadonlyMap<string, Value>,
  { dialect, stored, values }: ObservedState,
): string[] {
  if (!stored) return [];
  return [...written.keys()]
    .flatMap((name) => dialect.fields.get(name)?.renews ?? [])
    .filter((name) => !written.has(name) && isEmpty(values[name]));
}

/** Returns the value that clears a field: null, or the substitute of these services. */
function createClearTest(name: string, { dialect }: ObservedState): Value {
  return dialect.fields.get(name)?.clearWith ?? null;
}

function findManagedValue(name: string, managed: readonly DesiredField[]): Value {
  return managed.find(({ field }) => field.name === name)?.value ?? null;
}

function planField(
  field: DesiredField,
  managed: readonly DesiredField[],
  { unmanaged }: DesiredState,
  observed: ObservedState,
  { rotation, fingerprints }: PlanOptions,
): FieldPlan {
  if (field.field.secret) {
    const plan = planSecretField(field, observed, rotation, fingerprints);
    return { ...plan, warnings: [...(plan.warnings ?? []), ...warnUnkeptSecret(field, observed)] };
  }
  if (field.field.name === 'mcp_config') return planMcp(field, observed, unmanaged, rotation);
  return planValue(field, observed, { fields: managed, rotation });
}

/** Returns the warnings of the answer itself that matter to these changes. */
function cautionsFor(changes: readonly Change[], { cautions = [] }: ObservedState): Warning[] {
  const isAbout = (name: string): boolean =>
    changes.some(
      ({ path }) => path[0] === name || isNamedWithin(formatPath(path), pathNamed(name)),
    );
  if (changes.length === 0) return [];
  return cautions
    .filter(({ about }) => about === null || about.some(isAbout))
    .map(({ warning }) => warning);
}

function warnUnpreservable({ path, remedy, neverWorks }: Unpreservable): Warning[] {
  if (neverWorks === true) return [];
  const message = `This write clears ${formatPath(path)}, which the service does not show. ${remedy}.`;
  return [{ code: 'lose-unreadable', message, path }];
}

const ORDER: ReadonlyMap<string, number> = new Map(
  fields().map((field, index) => [field.name, index]),
);

/** Items of a declared list that this version cannot read: they stay, and nothing is claimed of them. */
function listUnreadableLists(desired: DesiredState, { values }: ObservedState): Unknown[] {
  return listManagedMcpLists(desired)
    .filter((list) => unreadableItems(values['mcp_config'], list).length > 0)
    .map((list) => ({
      path: ['mcp_config', list, UNNAMED],
      reason: 'setpoint cannot read this entry; it is left unchanged',
      ref: null,
    }));
}

/** Lists the stored values that the file does not manage. */
function listUnmanagedValues(desired: DesiredState, observed: ObservedState): Path[] {
  const isDeclared = (name: string): boolean =>
    declaresField(desired, name) ||
    (name === 'secrets_store' && desired.items.has(GIT_PROVIDERS_FORM.block)) ||
    isBroughtActive(desired, name);
  const names = listOrderedNames(observed).filter(
    (name) => !isDeclared(name) && !isSkippedPath(desired, pathNamed(name)),
  );
  const shown = new Map(
    names
      .map(pathNamed)
      .map(maskFreeKeys)
      .map((path) => [formatPathKey(path), path]),
  );
  return [
    ...shown.values(),
    ...listUnmanagedServers(desired, observed)
      .filter((path) => !isSkippedPath(desired, path))
      .map(maskFreeKeys),
    ...desired.unmanaged.filter((path) => !isSkippedPath(desired, path)),
  ];
}

/** Reports whether a field comes with a profile that the file activates, or points to it. */
function isBroughtActive(desired: DesiredState, name: string): boolean {
  const active = itemsDeclared(desired, ACTIVE_FORM);
  return active.some(
    ({ name: kind, members }) =>
      members !== null && (BROUGHT[kind] ?? []).some((place) => isNamedWithin(name, place)),
  );
}

/** The settings that activation writes, by the kind of profile. */
const BROUGHT: Readonly<Record<string, readonly Path[]>> = {
  llm_profile: [ACTIVE_PROFILE, MODEL_PART],
  meta_profile: [
    ['active_meta_profile'],
    ...['meta_profile', 'active_meta_profile', 'enable_classify_and_switch_llm_tool'].map(
      (member) => [...AGENT_PART, member],
    ),
  ],
  agent_profile: [['active_agent_profile_id']],
};

/** Lists the values on the service that differ from its defaults, in the order of the specification. */
const listOrderedNames = onceFor((observed: ObservedState): readonly string[] => {
  const rank = (name: string) => ORDER.get(name) ?? ORDER.size;
  return listStoredNames(observed).toSorted((a, b) => rank(a) - rank(b));
});
