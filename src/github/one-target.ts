import type { EnvironmentOutcome, OutcomeDocument } from '../model/outcome.ts';
import { summaryOf, type EnvironmentPlan, type PlanDocument } from '../model/plan.ts';

/** A plan as if it were of one target alone. */
export function planOf(document: PlanDocument, environment: EnvironmentPlan): PlanDocument {
  return { ...document, environments: [environment], summary: summaryOf([environment]) };
}

/** An outcome as if it were of one target alone. */
export function outcomeOf(
  document: OutcomeDocument,
  environment: EnvironmentOutcome,
): OutcomeDocument {
  return { ...document, environments: [environment] };
}
