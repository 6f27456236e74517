import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import type {
  EnvironmentOutcome,
  OutcomeHead,
  OutcomeTail,
} from '../../../reconciler/model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../../../reconciler/model/plan.ts';
import { SYSTEM_CLOCK } from '../../../reconciler/host/this-process.ts';
import { applyInParts } from '../../../reconciler/operations/apply.ts';
import type { ApplyRequest } from '../../../reconciler/operations/options.ts';
import type { Parts } from '../../../reconciler/operations/redacting.ts';
import { chooseTargets } from '../../../reconciler/operations/select.ts';
import { formatOutcomeSection, previewText } from '../../../reconciler/render/section-text.ts';
import { summaryText, waysText } from '../../../reconciler/render/summary.ts';
import { bothWays, NO_WAYS, listComparisonWays } from '../../../reconciler/model/uncompared.ts';
import { confirmWith } from '../confirm.ts';
import { OUTCOME_RENDERERS } from '../printer.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions, shardOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure, reporterFor } from '../reporter.ts';
import { describeAwaitedItem, checksView, progressView, startingView } from '../progress-view.ts';
import { runPlan } from './plan.ts';

/**
 * `setpoint apply`: shows each plan, asks on a terminal, writes, verifies, and reports the result of every change. A saved plan
 * is the answer to the question: changes beyond it are refused.
 */
export async function applyCommand(flags: Flags<'apply'>, io: Io, saved?: string): Promise<number> {
  try {
    if (flags.dryRun === true && flags.ifEmpty === true) throw neverWrites();
    if (flags.dryRun === true && saved === undefined)
      return await runPlan(flags, io, { voice: 'plan', codeOf: () => 0 });
    const reporter = reporterFor(flags, io, OUTCOME_RENDERERS);
    const approved = saved === undefined ? undefined : await loadPlanToApply(saved, flags);
    const answered = flags.yes === true || approved !== undefined;
    const ask = answered ? null : confirmWith(io, (target) => `Apply these changes to ${target}?`);
    const named = parseOperationOptions(flags, io);
    const options = { ...named, ...shardOptions(flags, io) };
    if (!answered && ask === null) {
      // Problems of the file or the flags come first: --yes would not help.
      chooseTargets({ ...options, all: flags.all }, 'apply');
      throw new SetpointError(
        'confirmation-needed',
        'Not applied: there is no terminal for the confirmation, and --yes is not set.',
      );
    }
    // Its refusals are the error that follows.
    const progress = progressView(io);
    const onPlan = (plan: EnvironmentPlan): Promise<void> => {
      // A redraw would cover the plan and the question.
      progress.end();
      return reporter.preview((style) => `${previewText(plan, style)}\n`, ask !== null);
    };
    const request: ApplyRequest = {
      ...options,
      onPlan,
      onProgress: (target, waiting) => {
        if (flags.quiet !== true) progress.update(target, waiting.map(describeAwaitedItem));
      },
      onEnvironment: flags.quiet === true ? undefined : progress.counts,
      onStarting: startingView(io, progress, flags.quiet === true),
      confirm: ask ?? undefined,
      approved,
      all: flags.all,
      allow: flags.allow,
      maxFailures: flags.maxFailures,
      ifEmpty: flags.ifEmpty,
      ...selectParts(flags),
      check: flags.check,
      onChecks: checksView(io, flags.quiet === true),
      abandon: io.abandon,
    };
    let ways = NO_WAYS;
    return await reporter.inParts<OutcomeHead, EnvironmentOutcome, OutcomeTail>(
      {
        section: (environment, _, total, style) => {
          ways = bothWays(ways, listComparisonWays(environment));
          return formatOutcomeSection(environment, total, style);
        },
        ending: (tail, head, style) =>
          summaryText({ ...head, ...tail }, 'apply', style) + waysText(ways, 'apply', style),
      },
      async (parts) =>
        applyInParts(request, await recordJournaledParts(flags, parts)).finally(progress.end),
    );
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Returns the same parts, and records each write with --journal before it is shown. */
async function recordJournaledParts(
  { journal }: Flags<'apply'>,
  parts: Parts<OutcomeHead, EnvironmentOutcome>,
): Promise<Parts<OutcomeHead, EnvironmentOutcome>> {
  if (journal === undefined) return parts;
  const { applyRecorder } = await import('../../../controller/watch/journal/journal.ts');
  const record = applyRecorder(journal, () => SYSTEM_CLOCK.now());
  return {
    begin: parts.begin,
    environment: async (part, run) => {
      await record(part, run ?? null);
      await parts.environment(part, run);
    },
  };
}

function neverWrites(): SetpointError {
  return usageError(
    '--if-empty is about a write, and --dry-run never writes.',
    'Leave one of the two out.',
  );
}

async function loadPlanToApply(path: string, flags: Flags<'apply'>): Promise<PlanDocument> {
  const { loadApprovedPlan: approvedPlan } = await import('../saved-plan.ts');
  return approvedPlan(path, flags);
}

/** The flags that choose what of the file is written, and how. */
function selectParts({ rotate, without, only }: Flags<'apply'>) {
  return { rotate, without, only };
}
