import type { Variables } from '../../reconciler/model/ports.ts';
import type { StickyComment } from '../github/sticky-comment.ts';
import type { ReadEnvironment } from '../github/drift-pull.ts';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';

/** The plan of `drift`, and the environments of the settings files, whichever the step has chosen. */
export interface FoundDrift {
  readonly document: PlanDocument;
  readonly declared: readonly string[];
}

/** How a command ended, and what is published of it. */
export interface StepResult {
  /** The exit code of the same command on a command line. */
  readonly code: number;
  /** For the log. */
  readonly text: string;
  /** Commands of the runner, one a line. */
  readonly annotations: string;
  /** For the summary of the job: Markdown. */
  readonly summary: string;
  readonly comments: readonly StickyComment[];
  readonly changes: number;
  /** How many values could not be compared. */
  readonly unknown: number;
  readonly planPath: string | null;
  /** The plan of `drift`; null for other commands. */
  readonly drift: FoundDrift | null;
  /** Reads what the pull requests about drift would hold; null if there are to be none. */
  readonly readForPulls: (() => Promise<readonly ReadEnvironment[]>) | null;
}

/** What a command gets besides its inputs. */
export interface StepContext {
  readonly env: Variables;
  readonly commit: string | null;
  readonly signal: AbortSignal;
  readonly abandon: AbortSignal;
}

/** Whether the service was changed. With a base, edits of the file that wait for an apply are no drift. */
export function hasDrifted({ status, changes }: EnvironmentPlan): boolean {
  if (status !== 'differs') return false;
  return changes.length === 0 || changes.some((change) => change.class !== 'pending');
}
