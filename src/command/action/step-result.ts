import { randomBytes } from 'node:crypto';
import type { EnvironmentPlan, PlanDocument } from '../../reconciler/model/plan.ts';
import type { ErrorReport } from '../../reconciler/model/error.ts';
import { errorText } from '../../reconciler/render/error-text.ts';
import { PLAIN, type Style } from '../../reconciler/render/text.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import type { StickyComment } from '../github/sticky-comment.ts';
import type { ReadEnvironment } from '../github/drift-pull.ts';

/** The errors of environments, for the log. */
export function errorLog(
  environments: readonly { readonly name: string; readonly error: ErrorReport | null }[],
): string {
  const texts = environments.map(({ name, error }) =>
    error === null ? '' : `\n${errorText(error, PLAIN, name)}`,
  );
  return texts.join('');
}

/**
 * Text in which the runner finds no commands, although it contains texts of files and services. The runner recognizes commands behind
 * blanks and, for `##[`, anywhere in a line; here it ignores them until it reads an unpredictable word.
 */
export function inert(text: string): string {
  const word = randomBytes(16).toString('hex');
  return `::stop-commands::${word}\n${text.endsWith('\n') ? text : `${text}\n`}::${word}::\n`;
}

/** The style of the log. A step cannot ask for more detail; its summary has it. */
export const LOG: Style = { ...PLAIN, elsewhere: 'the summary' };

/** Bytes of a summary: GitHub drops one of more than 1 MiB as a whole. */
export const LONGEST_SUMMARY = 1_000_000;

/** The plan of `drift`, and the environments of the settings files, whichever the step has chosen. */
export interface FoundDrift {
  readonly document: PlanDocument;
  readonly declared: readonly string[];
}

/** The end of a command and what is published about it. */
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
  /** The number of values that could not be compared. */
  readonly unknown: number;
  readonly planPath: string | null;
  /** The plan of `drift`; null for other commands. */
  readonly drift: FoundDrift | null;
  /** Reads what the pull requests about drift would hold; null if there are to be none. */
  readonly readForPulls: (() => Promise<readonly ReadEnvironment[]>) | null;
}

/** The result of a command; what is left out of it there is none of. */
export function createStepResult(
  part: Pick<StepResult, 'code' | 'text' | 'annotations' | 'summary'> & Partial<StepResult>,
): StepResult {
  return {
    comments: [],
    changes: 0,
    unknown: 0,
    planPath: null,
    drift: null,
    readForPulls: null,
    ...part,
  };
}

/** The context of a command, next to its inputs. */
export interface StepContext {
  readonly env: Variables;
  readonly commit: string | null;
  readonly signal: AbortSignal;
  readonly abandon: AbortSignal;
}

/** Reports whether the service was changed. With a base, edits of the file that wait for an apply are not drift. */
export function hasDrifted({ status, changes }: EnvironmentPlan): boolean {
  if (status !== 'differs') return false;
  return changes.length === 0 || changes.some((change) => change.class !== 'pending');
}
