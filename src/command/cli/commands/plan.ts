import { ERRORS } from '../../../reconciler/model/error.ts';
import type {
  EnvironmentPlan,
  PlanDocument,
  PlanHead,
  PlanTail,
} from '../../../reconciler/model/plan.ts';
import type { PlanRequest } from '../../../reconciler/operations/options.ts';
import { planInParts } from '../../../reconciler/operations/plan.ts';
import type { Parts } from '../../../reconciler/operations/redacting.ts';
import { parseAge } from '../../../reconciler/operations/flag-values.ts';
import type { Voice } from '../../../reconciler/render/change.ts';
import { environmentText } from '../../../reconciler/render/section-text.ts';
import { formatMergeNotes, summaryText, waysText } from '../../../reconciler/render/summary.ts';
import { bothWays, NO_WAYS, listComparisonWays } from '../../../reconciler/model/uncompared.ts';
import type { Flags } from '../command-table.ts';
import { hasJsonOutput, parseOperationOptions, shardOptions } from '../flags.ts';
import { DRIFT_RENDERERS, PLAN_RENDERERS } from '../printer.ts';
import type { PlanFlags } from '../saved-plan.ts';
import type { Io } from '../io.ts';
import { describeAwaitedItem, checksView, progressView, startingView } from '../progress-view.ts';
import { handOn, reportFailure, reporterFor } from '../reporter.ts';

/**
 * `setpoint plan`: exit 0; with --exit-code, 5 if a guard would refuse an apply and 2 if there are differences. Shows a saved plan
 * instead of a new one if it is given one.
 */
export async function planCommand(flags: Flags<'plan'>, io: Io, saved?: string): Promise<number> {
  return runPlan(flags, io, {
    voice: 'plan',
    strict: flags.strict === true,
    saved,
    codeOf: includeChecksInExit(planExit(flags.exitCode === true)),
  });
}

/** The exit code of an environment that could be planned; 0 unless --exit-code asks for the result. */
export function planExit(exitsWithResult: boolean): PlanRun['codeOf'] {
  return (environment, strict) => {
    if (!exitsWithResult) return 0;
    return environment.refusals.length > 0 ? 5 : differs(environment, strict) ? 2 : 0;
  };
}

/** Returns the same exit codes, except for an environment in which something was tried and does not work. */
function includeChecksInExit(codeOf: PlanRun['codeOf']): PlanRun['codeOf'] {
  return (environment, strict) =>
    environment.proofs?.some(({ status }) => status === 'fails') === true
      ? ERRORS['check-failed'].exit
      : codeOf(environment, strict);
}

/** Reports whether an environment counts as one that differs. `strict` also counts values that could not be compared. */
export function differs({ status, unknown }: EnvironmentPlan, strict: boolean): boolean {
  return status === 'differs' || (strict && status !== 'error' && unknown.length > 0);
}

interface PlanRun {
  readonly voice: Voice;
  /** True if values that could not be compared count; a saved plan may specify it. */
  readonly strict?: boolean;
  /** The path of a saved plan to show instead of a new one. */
  readonly saved?: string | undefined;
  readonly codeOf: (environment: EnvironmentPlan, strict: boolean) => number;
}

/** Plans, prints the plan while it is made, and resolves to the worst exit code of the environments. */
export async function runPlan(flags: PlanFlags, io: Io, run: PlanRun): Promise<number> {
  const { voice, saved, codeOf } = run;
  try {
    const shown = saved === undefined ? null : await loadPlanToShow(saved, flags);
    const strict = run.strict === true || shown?.strict === true;
    const reporter = reporterFor(flags, io, voice === 'plan' ? PLAN_RENDERERS : DRIFT_RENDERERS);
    let ways = NO_WAYS;
    return await reporter.inParts<PlanHead, EnvironmentPlan, PlanTail>(
      {
        section: (environment, plan, total, style) => {
          ways = bothWays(ways, listComparisonWays(environment));
          return environmentText(environment, { voice, plan, total }, style);
        },
        ending: (tail, head, style) =>
          summaryText({ ...head, ...tail }, voice, style) +
          waysText(ways, voice, style) +
          formatMergeNotes(head.merged, style),
        codeOf: (environment) => codeOf(environment, strict),
      },
      (parts) => (shown === null ? runPlanRequest(flags, io, run, parts) : handOn(shown, parts)),
    );
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function runPlanRequest(
  flags: PlanFlags,
  io: Io,
  { voice, strict }: PlanRun,
  parts: PlanParts,
): Promise<PlanTail> {
  const options = parseOperationOptions(flags, io);
  const shard = shardOptions(flags, io);
  const { snapshot, rotate, without, only, allow, maxAge, maxFailures } = flags;
  const age = maxAge === undefined ? undefined : parseAge('--max-age', maxAge);
  const digests = hasJsonOutput(flags);
  const progress = progressView(io);
  const request: PlanRequest = {
    ...options,
    ...shard,
    snapshot,
    rotate,
    without,
    only,
    allow,
    digests,
    strict,
    maxAge: age,
    maxFailures,
    check: flags.check,
    differences: voice === 'drift',
    onChecks: checksView(io, flags.quiet === true),
    onProgress: (name, waiting) => {
      // A log gets the plan alone: cron mails whatever else is printed.
      if (flags.quiet !== true && io.stderr.isTTY === true)
        progress.update(name, waiting.map(describeAwaitedItem));
    },
    onEnvironment: flags.quiet === true ? undefined : progress.counts,
    onStarting: startingView(io, progress, flags.quiet === true),
  };
  return planInParts(request, parts).finally(progress.end);
}

type PlanParts = Parts<PlanHead, EnvironmentPlan>;

async function loadPlanToShow(path: string, flags: PlanFlags): Promise<PlanDocument> {
  const { loadFilteredPlan: shownPlan } = await import('../saved-plan.ts');
  return shownPlan(path, flags);
}
