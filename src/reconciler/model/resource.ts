import type { Change, PartPlan } from './plan.ts';
import type { DesiredState } from './state.ts';

/**
 * A kind of thing that a settings file declares, such as settings and secrets. Approvals, agreements and `--base` treat all of them
 * alike, by what this says of them.
 */
export interface Resource {
  /** As its changes name it. */
  readonly name: string;
  /** The block of a settings file that declares it. */
  readonly block: string;
  /** What is agreed on with a service, item by item; null of the settings, which are agreed on place by place. */
  readonly items: Items | null;
  /** What an approval of each change is about besides what the change shows, in the order of the part's changes. */
  readonly terms: (part: PartPlan, desired: DesiredState, quick: Quick) => readonly unknown[];
}

/** What a file declares of a resource by item. */
export interface Items {
  /** Forms of JSON without a value of a reference: digests are made of them. */
  readonly declared: (desired: DesiredState, quick: Quick) => ReadonlyMap<string, unknown>;
  /** What items were called before, by their names; absent if none is ever called otherwise. */
  readonly former?: (desired: DesiredState) => ReadonlyMap<string, string>;
  /** The item that a change is about. */
  readonly of: (change: Pick<Change, 'path'>) => string;
}

/** The digest of a literal of the file. */
export type Quick = (text: string) => string;
