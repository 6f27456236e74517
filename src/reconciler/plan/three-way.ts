import { onceFor } from '../model/cache.ts';
import {
  removesOther,
  type Change,
  type ChangeClass,
  type Plan,
  type PartPlan,
  type Resource,
  type Items,
  type Quick,
} from '../model/plan.ts';
import { isRename } from '../model/action.ts';
import { isEntryPath } from '../model/mcp.ts';
import { findFieldPath } from '../model/field.ts';
import { isUnmanaged, formatPathKey, samePath, type Path, firstAlike } from '../model/path.ts';
import { type DesiredState, type ObservedState, findDeclaredServers } from '../model/state.ts';
import { UnseenSecret } from '../model/secret.ts';
import { byCall, listCalledEntries } from './match-entries.ts';
import { pathsOfField } from './field-here.ts';
import { planSettings, type PlanOptions } from './plan-settings.ts';
import type { AgreedItems } from '../model/agreement.ts';
import { isList, isRecord, sameValue, type Value } from '../model/value.ts';

/**
 * Classifies every change by what has changed since the file was last applied: the file (pending), the service (drift) or both
 * (conflict). `base` is that earlier file. A rotated secret has changed at its source, which counts as the file.
 */
export function classifyChanges(
  plan: Plan,
  desired: DesiredState,
  base: DesiredState,
  observed: ObservedState,
  options: PlanOptions,
): Plan {
  const sinceBase = planSettings(base, observed, { ...options, rotation: [] });
  const changed = new Set(sinceBase.changes.map(({ path }) => formatPathKey(path)));
  const [now, then] = [declarations(desired), declarations(base)];
  const itemClass = classSinceFile(desired, base);
  const classOf = (change: Change, { items }: Resource): ChangeClass => {
    if (items !== null) return itemClass(items, change);
    // An unmanaged part is managed now: the file has changed.
    if (isUnmanaged(base.unmanaged, change.path)) return 'pending';
    if (removesOther(change))
      return base.exhaustive?.has('mcp_servers') === true ? 'drift' : 'pending';
    const isRemovedNow = change.code === 'null-in-file' && !changed.has(formatPathKey(change.path));
    if (isRemovedNow) return 'pending';
    if (sameDeclared(now(change.path), then(change.path))) return 'drift';
    // If the earlier file would change it now, the service has changed.
    return isDeclared(base, change.path) && changed.has(formatPathKey(change.path))
      ? 'conflict'
      : 'pending';
  };
  return assignChangeClasses(plan, classOf);
}

/** Classifies every change by what has changed since some time before. */
export interface Since {
  readonly classify: (plan: Plan, desired: DesiredState, observed: ObservedState) => Plan;
}

/** A plan whose changes have these classes; null if it is not known who made one. */
export function assignChangeClasses(
  plan: Plan,
  classOf: (change: Change, resource: Resource) => ChangeClass | null,
): Plan {
  const classed = (change: Change, resource: Resource): Change => {
    if (change.consequence === true) return change;
    const found = change.action === 'rotate' ? 'pending' : classOf(change, resource);
    return found === null ? change : { ...change, class: found };
  };
  return plan.map((part) => ({
    ...part,
    changes: part.changes.map((change) => classed(change, part.resource)),
  }));
}

function isDeclared({ fields, unmanaged }: DesiredState, path: Path): boolean {
  return declares(fields, path) !== undefined && !isUnmanaged(unmanaged, path);
}

/** The declared field that a path of a plan is of: an mcp entry's is the field, a native one is the path itself. */
function declares(fields: DesiredState['fields'], path: Path) {
  const own = findFieldPath(path);
  return fields.find((one) => pathsOfField(one).some((path) => samePath(path, own)));
}

/** Returns what a state declares under a path: a field's value, or an mcp entry; undefined if nothing. */
export function declarations({
  fields,
  unmanaged,
}: DesiredState): (path: Path) => Value | undefined {
  const entries = byCall(listCalledEntries(findDeclaredServers({ fields })?.value));
  return (path) => {
    const value = declares(fields, path)?.value;
    if (value === undefined || isUnmanaged(unmanaged, path)) return undefined;
    if (!isEntryPath(path)) return value;
    const first = firstAlike(path);
    const [entry] = [path, first].flatMap((one) => entries.get(formatPathKey(one)) ?? []);
    return entry?.value;
  };
}

/** Reports whether two files declare the same value. References without a value are compared as text. */
function sameDeclared(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a instanceof UnseenSecret && b instanceof UnseenSecret) return a.ref === b.ref;
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => sameDeclared(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return sameValue(a, b);
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => sameDeclared(a[name], b[name]))
  );
}

/** The functions that create digests: `quick` of literals, `digest` of forms of JSON. */
interface Digesting {
  readonly quick: Quick;
  readonly digest: (form: unknown) => string;
}

/** Updates the agreed items of each resource: items that match the file take the current declaration, others keep the earlier one. */
export function itemsAgreed(
  plan: Plan,
  desired: DesiredState,
  before: { readonly items?: AgreedItems } | null,
  digesting: Digesting,
): AgreedItems {
  const agreed = plan.flatMap((part) => {
    const { name, items } = part.resource;
    if (items === null) return [];
    const earlier = before && (before.items?.[name] ?? {});
    return [[name, partAgreed(part, items, desired, earlier, digesting)] as const];
  });
  return Object.fromEntries(agreed);
}

function partAgreed(
  { changes, unknown }: PartPlan,
  items: Items,
  desired: DesiredState,
  before: Readonly<Record<string, string>> | null,
  { quick, digest }: Digesting,
): Readonly<Record<string, string>> {
  const differing = new Set([...changes, ...unknown].map(items.of));
  const former = items.former?.(desired);
  const agreed = [...items.declared(desired, quick)].map(([item, form]) => {
    const key = digest(item);
    const known = before?.[key] ?? before?.[digest(former?.get(item) ?? item)];
    return [key, before !== null && differing.has(item) ? known : digest(form)] as const;
  });
  return Object.fromEntries(
    agreed.flatMap(([key, one]) => (one === undefined ? [] : [[key, one]])),
  );
}

/** Classifies what changed of an item. The declarations are compared once per resource. */
type ItemClass = (items: Items, change: Change) => ChangeClass;

/** Since an agreement: if the file declares an item as it did then, the service has changed. */
export function classSinceAgreed(
  agreed: AgreedItems | undefined,
  desired: DesiredState,
  { quick, digest }: Digesting,
): ItemClass {
  const declaredOf = onceFor((items: Items) => items.declared(desired, quick));
  return (items, change) => {
    const item = items.of(change);
    const declared = digest(declaredOf(items).get(item) ?? null);
    const known = agreed?.[change.resource];
    const then = [item, ...formerNames(items, desired, change)].map(
      (name) => known?.[digest(name)],
    );
    return then.includes(declared) ? 'drift' : 'pending';
  };
}

/** Classifies changes since an earlier file. */
export function classSinceFile(desired: DesiredState, base: DesiredState): ItemClass {
  const declaredIn = (state: DesiredState) =>
    onceFor((items: Items) => items.declared(state, asWritten));
  const [now, then] = [declaredIn(desired), declaredIn(base)];
  return (items, change) => {
    const item = items.of(change);
    const [earlier = item] = [item, ...formerNames(items, desired, change)].filter((name) =>
      then(items).has(name),
    );
    const isSame =
      JSON.stringify(now(items).get(item)) === JSON.stringify(then(items).get(earlier));
    return isSame ? 'drift' : 'pending';
  };
}

/** Lists the earlier names of the item of a change. A rename itself does not change what the item was. */
function formerNames(items: Items, desired: DesiredState, change: Change): readonly string[] {
  const former = isRename(change) ? undefined : items.former?.(desired);
  const name = former?.get(items.of(change));
  return name === undefined ? [] : [name];
}

/** Two files are compared here and now: their literals need no digest. */
const asWritten = (text: string): string => text;
