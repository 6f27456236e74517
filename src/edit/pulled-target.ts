import { textOf, type Node } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import { parsePath, pathKey, samePath, type Path } from '../model/path.ts';
import type { SettingsPlan, Unknown } from '../model/plan.ts';
import type { ReferenceSource } from '../model/ports.ts';
import type { LeftAlone } from '../model/pulled.ts';
import type { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isRecord, secretsIn, type Value } from '../model/value.ts';
import { adopted, undeclaredLists } from './adopted.ts';
import { lenientState, type LenientState } from './lenient-state.ts';
import { pulledFields } from './pulled-fields.ts';
import type { CompareEntry, ListRules } from './pulled-list.ts';
import type { Pulled, Slot } from './slot.ts';

/** What a pull is made with. */
export interface PullTools {
  readonly source: ReferenceSource;
  /** The plan that would turn the service into what the file says. */
  readonly plan: (desired: DesiredState, observed: ObservedState) => PlanPart;
  readonly compare: CompareEntry;
}

export type PlanPart = Pick<SettingsPlan, 'changes' | 'unknown' | 'unmanaged'>;

/** What is asked of one target. */
export interface PullWish {
  /** What is not managed and is to be taken in: everything the file says nothing of, or these. */
  readonly adopt: 'all' | readonly Path[];
  /** Paths that have been found not to read back the same. */
  readonly excluded: ReadonlySet<string>;
  /** What references stand for elsewhere, keys of the service among it. */
  readonly hidden: readonly Secret[];
  /** Whether all goes into a block of the target's own, so that no reference is written over. */
  readonly overlay: boolean;
}

/** What a target takes in, what it does not, and what cannot be compared. */
export interface TargetPull extends Pulled {
  readonly adopted: readonly { readonly path: Path; readonly value: Value }[];
  readonly unknown: readonly Unknown[];
}

/** What `adopt` may name: what the plan lists as not managed, and mcp lists that the file says nothing of. */
export function adoptable(target: Target, observed: ObservedState, tools: PullTools): Path[] {
  const { desired } = lenientState(target, tools.source);
  const declared = desired.fields.find(({ field }) => field.name === 'mcp_config')?.value;
  return [...tools.plan(desired, observed).unmanaged, ...undeclaredLists(declared, observed)];
}

export function pulledTarget(
  asked: Target,
  observed: ObservedState,
  wish: PullWish,
  tools: PullTools,
): TargetPull {
  const { target, slots: freed, paths: freedPaths } = takenBack(asked, wish.adopt);
  const state = lenientState(target, tools.source);
  const { desired } = state;
  const { changes, unknown } = tools.plan(desired, observed);
  const hidden = hiddenIn(state, wish.hidden);
  const compare = wish.overlay ? lenientCompare(tools.compare, state) : tools.compare;
  const { excluded, overlay } = wish;
  const pulled = pulledFields({
    target,
    desired,
    observed,
    changes,
    compare,
    excluded,
    hidden,
    overlay,
  });
  const rules: ListRules = {
    unmanaged: [],
    changes: [],
    compare,
    excluded,
    overReferences: overlay,
    hidden,
  };
  const paths = observed.stored ? toAdopt(target, observed, wish.adopt, tools) : [];
  const taken = paths.map((path) => ({ path, ...adopted(path, observed, rules) }));
  return {
    slots: [...freed, ...pulled.slots, ...taken.flatMap(({ slots }) => slots)],
    made: pulled.made,
    left: [
      ...pulled.left.filter((one) => !isUnknown(one, state)),
      ...taken.flatMap(({ left }) => left),
    ],
    unknown: [...unknown, ...state.unknown],
    adopted: [
      ...freedPaths.filter((path) => !pulled.made.some(([, made]) => samePath(made.path, path))),
      ...taken.filter(({ slots }) => slots.length > 0).map(({ path }) => path),
    ].map((path) => ({ path, value: valueAt(observed, path) })),
  };
}

function isUnknown({ ref }: LeftAlone, state: LenientState): boolean {
  return ref !== null && state.isUnset(ref);
}

/** A member that reads something without a value differs from nothing. */
function lenientCompare(compare: CompareEntry, { isUnset }: LenientState): CompareEntry {
  return (list, declared, actual) => ({
    differing: compare(list, declared, actual).differing.filter((name) =>
      secretsIn(declared[name]).every(({ ref }) => ref === null || !isUnset(ref)),
    ),
  });
}

function hiddenIn({ desired, isUnset }: LenientState, others: readonly Secret[]): Secret[] {
  const secrets = desired.fields.flatMap(({ value }) => secretsIn(value));
  return [...others, ...secrets.filter(({ ref }) => ref !== null && !isUnset(ref))];
}

/** The target without what it lets go of and is to take back, the list without it, and what was in it. */
function takenBack(
  target: Target,
  adopt: PullWish['adopt'],
): { readonly target: Target; readonly slots: readonly Slot[]; readonly paths: readonly Path[] } {
  const list = target.unmanaged;
  const nothing = { target, slots: [], paths: [] };
  if (list?.kind !== 'list' || adopt === 'all') return nothing;
  const pathOf = (item: Node): Path => parsePath(textOf(item) ?? '') ?? [];
  const named = new Set(adopt.map(pathKey));
  const isNamed = (item: Node): boolean => named.has(pathKey(pathOf(item)));
  const items = list.items.filter((item) => !isNamed(item));
  if (items.length === list.items.length) return nothing;
  const value = items.map((item) => textOf(item) ?? '');
  return {
    target: { ...target, unmanaged: { ...list, items } },
    slots: [{ path: ['unmanaged'], value, stubs: [] }],
    paths: list.items.filter(isNamed).map(pathOf),
  };
}

/** The fields and mcp lists to adopt: of the unmanaged ones, those that nothing declares. */
function toAdopt(
  target: Target,
  observed: ObservedState,
  adopt: PullWish['adopt'],
  tools: PullTools,
): Path[] {
  const { desired } = lenientState(target, tools.source);
  const letGo = new Set(desired.unmanaged.map(pathKey));
  const open = adoptable(target, observed, tools).filter((path) => !letGo.has(pathKey(path)));
  if (adopt === 'all') return open;
  return open.filter((path) =>
    adopt.some((wanted) => path.every((segment, index) => segment === wanted[index])),
  );
}

/** What the service has of a field or an mcp list; of an entry nothing is said. */
function valueAt({ values }: ObservedState, [name = '', list, entry]: Path): Value {
  const value = values[name] ?? null;
  if (list === undefined) return value;
  return isRecord(value) && entry === undefined ? (value[list] ?? null) : null;
}
