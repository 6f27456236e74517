import {
  errorReport,
  SetpointError,
  usageError,
  worstExitCode,
} from '../../../reconciler/model/error.ts';
import type { EnvironmentOutcome } from '../../../reconciler/model/outcome.ts';
import { type EnvironmentPlan, omitImpliedChanges } from '../../../reconciler/model/plan.ts';
import { recountSummary } from '../../../reconciler/model/summary.ts';
import { report, type MergeableDocument } from '../../../reconciler/operations/report.ts';
import type { Voice } from '../../../reconciler/render/change.ts';
import { formatOutcomeSection, environmentText } from '../../../reconciler/render/section-text.ts';
import { formatMergeNotes, summaryText } from '../../../reconciler/render/summary.ts';
import type { Flags } from '../command-table.ts';
import { readNamedOutputs } from '../flags.ts';
import { reportRenderers } from '../printer.ts';
import type { Io } from '../io.ts';
import { handOn, reportFailure, reporterFor, type Reporter } from '../reporter.ts';
import { computeDriftExit, parseFailOnWord } from './drift.ts';
import { planExit } from './plan.ts';

/**
 * `setpoint report`: documents of several runs as one. Ends as their command would have ended for all of their environments, and
 * with 1 if the report is not whole.
 */
export async function reportCommand(
  flags: Flags<'report'>,
  io: Io,
  ...files: readonly string[]
): Promise<number> {
  try {
    const failOn = flags.failOn === undefined ? null : parseFailOnWord(flags.failOn);
    const voice = failOn === null ? 'plan' : 'drift';
    const reporter = reporterFor(flags, io, reportRenderers(voice));
    const merged = await report(files);
    const document =
      merged.kind === 'plan' && voice === 'drift'
        ? recountSummary({ ...merged, environments: merged.environments.map(omitImpliedChanges) })
        : merged;
    if (document.kind === 'outcome' && (failOn !== null || flags.exitCode === true))
      throw usageError('These are outcomes; --fail-on and --exit-code are for plans.');
    const strict = document.kind === 'plan' && document.strict === true;
    const planned = planExit(flags.exitCode === true);
    const code = await printReport(document, reporter, voice, (one) =>
      failOn === null ? planned(one, strict) : computeDriftExit(one, failOn, strict),
    );
    const problems = document.merged?.problems ?? [];
    if (problems.length === 0) return code;
    // The text of the report has them.
    const isPrinted =
      flags.quiet !== true && readNamedOutputs(flags).every(({ path }) => path !== null);
    const details = isPrinted ? '' : ` ${problems.join(' ')}`;
    const error = new SetpointError('report-incomplete', `The report is incomplete.${details}`);
    await reporter.error(errorReport(error));
    return worstExitCode([code, error.exitCode]);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Prints a document in every format of -o; resolves to the worst exit code of its environments and of what was written. */
function printReport(
  document: MergeableDocument,
  reporter: Reporter<MergeableDocument>,
  voice: Voice,
  codeOf: (environment: EnvironmentPlan) => number,
): Promise<number> {
  const plan = document.kind === 'plan' ? document : { created_at: '' };
  const wording = document.kind === 'plan' ? voice : 'apply';
  return reporter.inParts<object, EnvironmentPlan | EnvironmentOutcome, object>(
    {
      section: (one, _, total, style) =>
        isEnvironmentPlan(one)
          ? environmentText(one, { voice, plan, total }, style)
          : formatOutcomeSection(one, total, style),
      ending: (_tail, _head, style) =>
        summaryText(document, wording, style) + formatMergeNotes(document.merged, style),
      codeOf: (one) => (isEnvironmentPlan(one) ? codeOf(one) : 0),
    },
    (parts) => handOn(document, parts),
  );
}

function isEnvironmentPlan(one: EnvironmentPlan | EnvironmentOutcome): one is EnvironmentPlan {
  return 'digests' in one;
}
