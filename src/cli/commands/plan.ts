import type { EnvironmentPlan, PlanDocument } from '../../model/plan.ts';
import { plan } from '../../operations/plan.ts';
import { parseAge } from '../../operations/flag-values.ts';
import { planText, type TextVoice } from '../../render/section-text.ts';
import type { Flags } from '../command-table.ts';
import { hasJsonOutput, optionsFrom } from '../flags.ts';
import { DRIFT_RENDERERS, PLAN_RENDERERS } from '../formats.ts';
import type { PlanFlags } from '../saved-plan.ts';
import type { Io } from '../io.ts';
import { awaitedSandbox, progressView } from '../progress-view.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';
import { startingView } from '../starting-view.ts';

/**
 * `setpoint plan`: exit 0; with --exit-code, 5 if a guard would refuse an apply and 2 if there are differences. Shows a saved plan
 * instead of a new one if it is given one.
 */
export async function planCommand(flags: Flags<'plan'>, io: Io, saved?: string): Promise<number> {
  const exitsWithResult = flags.exitCode === true || flags.detailedExitcode === true;
  return runPlan(flags, io, {
    voice: 'plan',
    mode: 'reads',
    saved,
    codeOf: ({ status, refusals }) => {
      if (!exitsWithResult) return 0;
      return refusals.length > 0 ? 5 : status === 'differs' ? 2 : 0;
    },
  });
}

interface PlanRun {
  readonly voice: TextVoice;
  /** Which variables count: those of a command that reads, or of one that writes. */
  readonly mode: 'reads' | 'writes';
  /** The path of a saved plan to show instead of a new one. */
  readonly saved?: string | undefined;
  readonly codeOf: (environment: EnvironmentPlan) => number;
}

/** Plans, prints the plan, and resolves to the worst exit code of the environments. */
export async function runPlan(flags: PlanFlags, io: Io, run: PlanRun): Promise<number> {
  const { voice, saved, codeOf } = run;
  try {
    const reporter = reporterFor(flags, io, voice === 'plan' ? PLAN_RENDERERS : DRIFT_RENDERERS);
    const document = await (saved === undefined
      ? planned(flags, io, run)
      : savedPlan(saved, flags));
    const written = await reporter.data(document, (style) => planText(document, style, voice));
    return await conclude(reporter, document.environments, written, codeOf);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function planned(flags: PlanFlags, io: Io, { mode }: PlanRun): Promise<PlanDocument> {
  const options = optionsFrom(flags, io, mode);
  const { snapshot, rotate, allow, maxAge } = flags;
  const age = maxAge === undefined ? undefined : parseAge('--max-age', maxAge);
  const digests = hasJsonOutput(flags, io.env);
  const progress = progressView(io.stderr);
  return plan({
    ...options,
    snapshot,
    rotate,
    allow,
    digests,
    maxAge: age,
    onProgress: (name, waiting) => {
      // A log gets the plan alone: cron mails whatever else is printed.
      if (flags.quiet !== true && io.stderr.isTTY === true)
        progress.update(name, waiting.map(awaitedSandbox));
    },
    onStarting: startingView(io, progress, flags.quiet === true),
  }).finally(progress.end);
}

async function savedPlan(path: string, flags: PlanFlags): Promise<PlanDocument> {
  const { shownPlan } = await import('../saved-plan.ts');
  return shownPlan(path, flags);
}
