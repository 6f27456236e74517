import type { AgreedItems } from '../model/agreement.ts';
import type { Change, ChangeClass, PartPlan, Plan } from '../model/plan.ts';
import { onceFor } from '../model/once.ts';
import type { Items, Quick } from '../model/resource.ts';
import type { DesiredState } from '../model/state.ts';

/** What digests are made with: `quick` of literals, `digest` of forms of JSON. */
interface Digesting {
  readonly quick: Quick;
  readonly digest: (form: unknown) => string;
}

/** What is agreed on of the items of each resource: of those that are as declared what is declared now, of others what was. */
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
  const agreed = [...items.declared(desired, quick)].map(([item, form]) => {
    const key = digest(item);
    return [key, before !== null && differing.has(item) ? before[key] : digest(form)] as const;
  });
  return Object.fromEntries(
    agreed.flatMap(([key, one]) => (one === undefined ? [] : [[key, one]])),
  );
}

/** What has changed of the item of a change: what a file declares is found out once for each resource. */
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
    return agreed?.[change.resource]?.[digest(item)] === declared ? 'drift' : 'pending';
  };
}

/** The same since an earlier file. */
export function classSinceFile(desired: DesiredState, base: DesiredState): ItemClass {
  const declaredIn = (state: DesiredState) =>
    onceFor((items: Items) => items.declared(state, asWritten));
  const [now, then] = [declaredIn(desired), declaredIn(base)];
  return (items, change) => {
    const item = items.of(change);
    const isSame = JSON.stringify(now(items).get(item)) === JSON.stringify(then(items).get(item));
    return isSame ? 'drift' : 'pending';
  };
}

/** Two files are compared here and now: their literals need no digest. */
const asWritten = (text: string): string => text;
