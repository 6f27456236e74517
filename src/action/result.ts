import type { StickyComment } from '../github/sticky-comment.ts';
import type { PlanDocument } from '../model/plan.ts';
import type { Section } from './summary.ts';

/** What a command came to, and what is said of it in each place. */
export interface Result {
  /** The exit code of the same command on a command line. */
  readonly code: number;
  /** For the log. */
  readonly text: string;
  /** Commands of the runner, one a line. */
  readonly annotations: string;
  readonly sections: readonly Section[];
  readonly comments: readonly StickyComment[];
  readonly changes: number;
  readonly planPath: string | null;
  /** What drift found; null of other commands. */
  readonly drift: PlanDocument | null;
}

/** What a command is told beside its inputs. */
export interface Setting {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly commit: string | null;
  readonly signal: AbortSignal;
  readonly abandon: AbortSignal;
}
