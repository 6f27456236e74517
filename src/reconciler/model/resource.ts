import type { Change, PartPlan } from './plan.ts';
import type { DesiredState } from './state.ts';

/**
 * A kind of thing that a settings file declares by items beside the settings: sandboxes, secrets. Approvals, agreements and `--base` treat
 * all of them alike, by what this says of them.
 */
export interface Resource {
  /** As its changes name it. */
  readonly name: string;
  /** What the file declares, by item. Forms of JSON without a value of a reference: digests are made of them. */
  readonly declared: (desired: DesiredState, quick: Quick) => ReadonlyMap<string, unknown>;
  /** The item that a change is about. */
  readonly itemOf: (change: Pick<Change, 'path'>) => string;
  /** What an approval of each change is about besides what the change shows, in the order of the part's changes. */
  readonly terms: (part: PartPlan, desired: DesiredState, quick: Quick) => readonly unknown[];
}

/** The digest of a literal of the file. */
export type Quick = (text: string) => string;
