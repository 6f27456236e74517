import {
  ownNames,
  waitingFor,
  type DesiredItem,
  type ListedItem,
  type Listing,
} from '../../model/collection.ts';
import type { Path } from '../../model/path.ts';
import type { Change, Unknown } from '../../model/plan.ts';
import type { Fingerprints } from '../../model/ports.ts';
import { Secret, UnseenSecret } from '../../model/secret.ts';
import { isRotated, type Rotation } from '../../plan/field-plan.ts';

/** What a collection is called: by its changes, and as a block of the file. */
export interface CollectionNames {
  readonly resource: string;
  readonly block: string;
}

/** What turns a collection into what is declared of it, and what of it could not be compared. */
export interface CollectionPlan {
  readonly changes: readonly Change[];
  readonly unknown: readonly Unknown[];
  /** Items that were stored from here, if the service lists none at all. */
  readonly gone: readonly Path[];
  /** What the service has and the file does not name. */
  readonly unmanaged: readonly Path[];
}

/** What is known of the values besides what a service lists. */
interface Known {
  readonly rotation: Rotation;
  readonly fingerprints: Fingerprints;
}

/**
 * Plans a collection by name: what is declared is stored, described, or removed; what is not named is left alone. A value is never read, so
 * that one that is stored is the declared one only if a fingerprint says so. Pure.
 */
export function planCollection(
  { resource, block }: CollectionNames,
  desired: readonly DesiredItem[],
  listing: Listing,
  known: Known,
): CollectionPlan {
  const { items } = listing;
  const listed = new Map(items.map((item) => [item.name, item]));
  const plans = desired.map((item) => {
    const own = { resource, path: [block, item.name], source: item.source };
    return planItem(own, item, { listed, listing }, known);
  });
  const own = ownNames(desired, listing);
  return {
    changes: plans.flatMap(({ changes = [] }) => changes),
    unknown: plans.flatMap(({ unknown = [] }) => unknown),
    gone: items.length > 0 ? [] : plans.flatMap(({ gone = [] }) => gone),
    unmanaged: items.flatMap(({ name }) => (own.has(name) ? [] : [[block, name]])),
  };
}

type ItemPlan = Partial<Pick<CollectionPlan, 'changes' | 'unknown' | 'gone'>>;

/** What a service lists, also by name. */
interface Found {
  readonly listed: ReadonlyMap<string, ListedItem>;
  readonly listing: Listing;
}

function planItem(
  own: Pick<Change, 'resource' | 'path' | 'source'>,
  { name, value, description }: DesiredItem,
  { listed, listing }: Found,
  { rotation, fingerprints }: Known,
): ItemPlan {
  const there = listed.get(name);
  const interrupted = waitingFor(name, listing) !== undefined;
  const change = (action: Change['action'], reason: string): Change => ({
    ...own,
    action,
    before: there === undefined ? null : HIDDEN,
    after: value,
    sensitive: true,
    ref: value?.ref ?? null,
    reason,
  });
  if (value === null) {
    if (there !== undefined) return { changes: [change('remove', 'set')] };
    return interrupted ? { changes: [change('remove', LEFT_OVER)] } : {};
  }
  const missing = value instanceof UnseenSecret ? value.unseen : null;
  const unknown =
    missing === null ? [] : [{ path: own.path, reason: missing.reason, ref: value.ref }];
  const last =
    missing === null ? value.compareWith((text) => fingerprints.compare(own.path, text)) : 'none';
  if (there === undefined) {
    const reason = interrupted ? `${LEFT_OVER}; will be set` : 'not set, will be set';
    return {
      changes: [change('set', reason)],
      unknown,
      gone: last === 'none' ? [] : [own.path],
    };
  }
  const described = describedChange(own, there, description);
  if (missing !== null) return { unknown, changes: described };
  const isRenewed = described.length > 0 && !listing.describes && last === 'none';
  const why = interrupted
    ? `${LEFT_OVER}; will be rotated`
    : last === 'different'
      ? 'set, changed since last written: will be rotated'
      : isRotated(rotation, own.path)
        ? 'set, will be rotated'
        : isRenewed
          ? 'set, its description cannot be changed without it: will be rotated'
          : null;
  if (why !== null) return { changes: [change('rotate', why), ...described] };
  if (last === 'same') return { changes: described };
  return {
    changes: described,
    unknown: [
      { path: own.path, reason: 'set; cannot tell whether it is this value', ref: value.ref },
    ],
  };
}

/** A value that a service holds and never shows. */
const HIDDEN = new Secret('');
const LEFT_OVER = 'an earlier rotation was interrupted';

function describedChange(
  own: Pick<Change, 'resource' | 'path' | 'source'>,
  there: ListedItem,
  description: string | undefined,
): Change[] {
  if (description === undefined || description === there.description) return [];
  const before = there.description === '' ? null : there.description;
  const after = description === '' ? null : description;
  return [
    {
      ...own,
      path: [...own.path, 'description'],
      action: before === null ? 'set' : after === null ? 'clear' : 'change',
      before,
      after,
      sensitive: false,
      ref: null,
      reason: 'differs',
    },
  ];
}
