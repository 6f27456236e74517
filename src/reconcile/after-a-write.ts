import type { PlanOptions } from '../plan/plan-settings.ts';

/** How a look after a write is judged: what was rotated is not asked for again, and what was written before is history. */
export const AFTER_A_WRITE: PlanOptions = { rotation: [], fingerprints: { compare: () => 'none' } };
