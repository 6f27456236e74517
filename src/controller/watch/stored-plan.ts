import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { Json } from '../../reconciler/model/value.ts';
import { groupThousands } from '../../reconciler/model/wording.ts';

/** Characters of the values of a plan that a state stores, unless its source has another limit. */
export const MOST_STORED = 512 * 1024;

/** Characters of a value that is stored shortened, at the least. */
const FEWEST = 40;

/**
 * A plan with values of so many characters in all, for as long as its state is known: a service may answer as much as it likes, and nothing is written of what is
 * stored. A value that is longer than its share is stored as the beginning of its text.
 */
export function limitStoredPlan(plan: EnvironmentPlan, most: number): EnvironmentPlan {
  const { changes } = plan;
  const size = changes.reduce(
    (sum, { before, after }) => sum + measurePlanValue(before) + measurePlanValue(after),
    0,
  );
  if (size <= most) return plan;
  const share = Math.max(FEWEST, Math.floor(most / (2 * changes.length)));
  const shorten = (value: Json): Json =>
    measurePlanValue(value) <= share ? value : begin(value, share);
  return {
    ...plan,
    changes: changes.map((change) => ({
      ...change,
      before: shorten(change.before),
      after: shorten(change.after),
    })),
  };
}

function measurePlanValue(value: Json): number {
  return shortenPlanValue(value).length;
}

function shortenPlanValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The beginning of a text. A copy: a part of a text has all of it stay in memory. */
function begin(value: Json, length: number): string {
  const text = shortenPlanValue(value);
  const start = Buffer.from(text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')).toString();
  return `${start}… (${groupThousands(text.length)} characters)`;
}
