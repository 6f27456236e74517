import type { EnvironmentOutcome } from '../../../reconciler/model/outcome.ts';
import type { Run } from '../../../reconciler/model/plan.ts';
import { Journal } from './journal.ts';

/**
 * Records in the journal of a folder what an apply wrote, or may have written, to an environment. Throws output-failed if it cannot be
 * recorded.
 */
export function applyRecorder(
  folder: string,
  now: () => number,
): (outcome: EnvironmentOutcome, run: Run | null) => Promise<void> {
  const journal = new Journal(folder, now);
  return async (outcome, run) => {
    if (outcome.requests.post === 0) return;
    await journal.append({
      kind: 'write',
      environment: outcome.name,
      by: 'apply',
      commit: run?.commit ?? null,
      actor: run?.actor ?? null,
      url: run?.url ?? null,
      outcome,
    });
  };
}
