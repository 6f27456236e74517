import type { Change, ChangeClass, PartPlan, Plan } from '../model/plan.ts';
import type { Quick, Resource } from '../model/resource.ts';
import type { DesiredState } from '../model/state.ts';

/** The digests of what was declared when file and service were last the same: by resource, and by the digest of an item. */
export type AgreedItems = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What digests are made with: `quick` of literals, `digest` of forms of JSON. */
interface Digesting {
  readonly quick: Quick;
  readonly digest: (form: unknown) => string;
}

/** What is agreed on of the items of each resource: of those that are as declared what is declared now, of others what was. */
export function itemsAgreed(
  { parts }: Plan,
  desired: DesiredState,
  before: { readonly items?: AgreedItems } | null,
  digesting: Digesting,
): AgreedItems {
  const agreedIn = (part: PartPlan) => {
    const { name } = part.resource;
    return [name, partAgreed(part, desired, before && (before.items?.[name] ?? {}), digesting)];
  };
  return Object.fromEntries(parts.map(agreedIn)) as AgreedItems;
}

function partAgreed(
  { resource, changes, unknown }: PartPlan,
  desired: DesiredState,
  before: Readonly<Record<string, string>> | null,
  { quick, digest }: Digesting,
): Readonly<Record<string, string>> {
  const differing = new Set([...changes, ...unknown].map(resource.itemOf));
  const agreed = [...resource.declared(desired, quick)].map(([item, form]) => {
    const key = digest(item);
    return [key, before !== null && differing.has(item) ? before[key] : digest(form)] as const;
  });
  return Object.fromEntries(
    agreed.flatMap(([key, one]) => (one === undefined ? [] : [[key, one]])),
  );
}

/** What has changed of an item since an agreement: if the file declares it as it did then, the service. */
export function classSinceAgreed(
  agreed: AgreedItems | undefined,
  resource: Resource,
  change: Change,
  { desired, quick, digest }: Digesting & { readonly desired: DesiredState },
): ChangeClass {
  const item = resource.itemOf(change);
  const declared = digest(resource.declared(desired, quick).get(item) ?? null);
  return agreed?.[resource.name]?.[digest(item)] === declared ? 'drift' : 'pending';
}

/** The same since an earlier file. */
export function classSinceFile(
  resource: Resource,
  change: Change,
  desired: DesiredState,
  base: DesiredState,
): ChangeClass {
  const item = resource.itemOf(change);
  const [now, then] = [desired, base].map((state) =>
    JSON.stringify(resource.declared(state, asWritten).get(item)),
  );
  return now === then ? 'drift' : 'pending';
}

/** Two files are compared here and now: their literals need no digest. */
const asWritten = (text: string): string => text;
