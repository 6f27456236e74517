/**
 * The declared and the shown value at each path when the two were last the same there, as digests under a salt. It shows which of them has
 * changed since. For a reference it has the digest of its written form, and for the shown value only whether something is there.
 */
export interface Agreement {
  readonly salt: string;
  /** By the digest of a path. */
  readonly places: Readonly<Record<string, AgreedDigests>>;
  /** The digests of the paths that were unmanaged. */
  readonly unmanaged: readonly string[];
  /** Absent if an earlier version stored it. */
  readonly items?: AgreedItems;
  /** The differences since the first read of the service; absent if there are none. */
  readonly first?: FirstDifference;
}

/**
 * The differences when a service was first read, by the digest of each change, and their cause: an edit of the file that gave another
 * address, or null if unknown.
 */
export interface FirstDifference {
  readonly class: 'pending' | null;
  readonly changes: readonly string[];
}

/** The digests of what was declared when file and service were last the same: by resource, and by the digest of an item. */
export type AgreedItems = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The digests of what was declared and shown at a path. If a secret was declared in it, `plain` is where in it something else was: only
 * there what is shown counts.
 */
export type AgreedDigests = readonly [declared: string, shown: string, plain?: readonly string[]];

/** An agreement, and the digest of the address of its service; null if an earlier version stored it, without the address. */
export interface AgreementWith {
  readonly address: string | null;
  readonly agreement: Agreement;
}
