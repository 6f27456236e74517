import type { Dialect } from '../model/dialect.ts';
import type { LeftAlone, PulledAction } from '../model/documents.gen.ts';
import type { McpList } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { Secret } from '../model/secret.ts';
import type { ValueRecord } from '../model/value.ts';
import type { PullEdit } from './place-edits.ts';

/** The edits of a pull, and the values that it skips. */
export interface EntryPullResult {
  readonly edits: readonly PullEdit[];
  /** The changes of the plan, reversed: the plan would turn the service into what the file declares. */
  readonly made: readonly (readonly [PulledAction, Change])[];
  readonly left: readonly LeftAlone[];
}

export const NOTHING_PULLED: EntryPullResult = { edits: [], made: [], left: [] };

/** Skips a value that does not change in the file. */
export function skipPull(
  { path, ref }: Pick<Change, 'path' | 'ref'>,
  reason: string,
): EntryPullResult {
  return { ...NOTHING_PULLED, left: [{ path, reason, ref }] };
}

export function joinPulls(parts: readonly EntryPullResult[]): EntryPullResult {
  return {
    edits: parts.flatMap(({ edits }) => edits),
    made: parts.flatMap(({ made }) => made),
    left: parts.flatMap(({ left }) => left),
  };
}

/** The members in which a declared entry surely differs from the service's. */
export type CompareEntry = (
  list: McpList,
  declared: ValueRecord,
  actual: ValueRecord,
) => { readonly differing: readonly string[] };

/** The rules for pulling the values of a target. */
export interface PullRules {
  readonly unmanaged: readonly Path[];
  readonly changes: readonly Change[];
  /** The members that entries have on the service, according to its dialect. */
  readonly entryMembers: Dialect['entryMembers'];
  readonly compare: CompareEntry;
  /** Paths that stay as they are, such as those found not to read back the same, each with the reason. */
  readonly excluded: ReadonlyMap<string, string>;
  /** True if references may be overwritten: all edits go to a layer without references. */
  readonly overReferences: boolean;
  /** Resolved values of references: never written, wherever else the service has them. */
  readonly hidden: readonly Secret[];
}
