import type { Change, Unknown, Unpreservable, Warning } from '../model/plan.ts';
import type { Value } from '../model/value.ts';

/** What one declared field contributes to the plan. `overlay` is its value in the body of a write; absent: what was read. */
export interface FieldPlan {
  readonly changes?: readonly Change[];
  readonly unknown?: readonly Unknown[];
  readonly warnings?: readonly Warning[];
  readonly unpreservable?: readonly Unpreservable[];
  readonly overlay?: Value;
}

export const NOTHING: FieldPlan = {};
