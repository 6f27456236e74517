/**
 * What a file declared and its service showed at each path when the two were last the same there, as digests under a salt. It tells which of
 * them has changed since. Of a reference it holds the digest of how it is written, and of what the service shows in its place only whether
 * something is there.
 */
export interface Agreement {
  readonly salt: string;
  /** By the digest of a path. */
  readonly places: Readonly<Record<string, AgreedDigests>>;
  /** The digests of the paths that were unmanaged. */
  readonly unmanaged: readonly string[];
  /** Absent if a version before kept it. */
  readonly items?: AgreedItems;
  /** The differences since the first read of the service; absent if there are none. */
  readonly first?: FirstDifference;
}

/**
 * What differed when a service was first read, by the digest of each change, and whose doing that is: an edit of the file that gave
 * another address, or, null, it is not known.
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

/** An agreement, and the digest of the address of the service that it is with; null if a version before kept it, which did not say. */
export interface AgreementWith {
  readonly address: string | null;
  readonly agreement: Agreement;
}
