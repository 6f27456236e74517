import type { SetpointError } from '../../model/error.ts';
import type { DesiredSandboxes } from '../../desired/blocks/sandboxes.ts';
import type { ObservedSandboxes, SandboxPlan, SandboxStep } from './sandbox.ts';
import type { Started } from './plan.ts';

/**
 * One step of the approved plan, from sending to conclusion.
 *
 * - `not-sent`: it was not sent, or surely had no effect; `error` is why, null if it was not needed any more.
 * - `turned-away`: the same, and the service may take it later.
 * - `lost`: sent, but its answer was lost: it may have begun.
 * - `running`: the service reported that it began.
 * - `settled`: an observation showed it done.
 * - `given-up`: no later observation will: the service paused what was to run, or ignored the pause of what had not booted.
 */
export interface RunStep {
  readonly step: SandboxStep;
  readonly state: 'not-sent' | 'turned-away' | 'lost' | 'running' | 'settled' | 'given-up';
  /** Null until the service has named what a start began. */
  readonly id: string | null;
  /** What the last observation showed; null until the sandbox is listed. */
  readonly status: string | null;
  /** Whether it has been in another state than PAUSED: a resume that goes back to PAUSED was undone by the service. */
  readonly wasUp: boolean;
  /** When an observation first showed it STARTING, by the monotonic clock; absent if the last one showed another state. */
  readonly startingSince?: number;
  readonly error: SetpointError | null;
}

/** What an apply did about the sandboxes, and what it observed. */
export interface SandboxRun {
  readonly desired: readonly DesiredSandboxes[];
  readonly approved: SandboxPlan;
  /** The observation right before the first request. */
  readonly before: ObservedSandboxes;
  /** The approved steps that were still needed. */
  readonly steps: readonly RunStep[];
  /** The last observation; null if every one failed. */
  readonly last: Pick<ObservedSandboxes, 'sandboxes' | 'at'> | null;
  /** Why there was no later observation. */
  readonly error: SetpointError | null;
  /** Whether the end of the steps was waited for. */
  readonly waited: boolean;
}

export function wasSent({ state }: RunStep): boolean {
  return state !== 'not-sent' && state !== 'turned-away';
}

/** Sent, and its end not observed yet. */
export function isUnderWay({ state }: RunStep): boolean {
  return state === 'lost' || state === 'running';
}

/** What was started, if it has an id, and for which item. */
export function startedIn(steps: readonly RunStep[]): Started {
  return new Map(
    steps.flatMap(({ id, step }): [string, DesiredSandboxes][] =>
      step.action === 'start' && id !== null ? [[id, step.item]] : [],
    ),
  );
}

/** The specs that items name: what reads another spec counts for the item without one. */
export function namedSpecs(desired: readonly DesiredSandboxes[]): ReadonlySet<string> {
  return new Set(desired.flatMap((item) => (item.kind === 'counted' ? (item.spec ?? []) : [])));
}

/**
 * The steps that a later plan still contains. A resume or a pause is matched by its sandbox; the starts of an item are
 * counted, and those in `lost` have been requested already.
 */
export function stillNeeded(
  steps: readonly SandboxStep[],
  later: SandboxPlan,
  lost: readonly SandboxStep[] = [],
): readonly SandboxStep[] {
  const startsLeft = new Map<DesiredSandboxes, number>();
  for (const { action, item } of later.steps)
    if (action === 'start') startsLeft.set(item, (startsLeft.get(item) ?? 0) + 1);
  for (const { item } of lost) startsLeft.set(item, (startsLeft.get(item) ?? 0) - 1);
  return steps.filter(({ action, item, sandbox }) => {
    if (action !== 'start')
      return later.steps.some((other) => other.action === action && other.sandbox === sandbox);
    const left = startsLeft.get(item) ?? 0;
    startsLeft.set(item, left - 1);
    return left > 0;
  });
}
