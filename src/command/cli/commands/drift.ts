import { usageError } from '../../../reconciler/model/error.ts';
import type { EnvironmentPlan } from '../../../reconciler/model/plan.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { visible } from '../../../reconciler/render/text.ts';
import type { Flags } from '../command-table.ts';
import { FAIL_ON } from '../words.ts';
import type { Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { runPlan } from './plan.ts';

type FailOn = (typeof FAIL_ON)[number];

/** `setpoint drift`: exit 2 if the service differs from the file; with --strict also if something could not be compared. */
export async function driftCommand(flags: Flags<'drift'>, io: Io): Promise<number> {
  const strict = flags.strict === true;
  try {
    const failOn = parseFailOnFlag(flags);
    return await runPlan(flags, io, {
      voice: 'drift',
      strict,
      mode: 'reads',
      codeOf: (environment) =>
        counts(environment, failOn) || (strict && environment.unknown.length > 0) ? 2 : 0,
    });
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function parseFailOnFlag({ failOn, base }: Flags<'drift'>): FailOn {
  if (failOn === undefined) return 'any';
  const known = FAIL_ON.find((one) => one === failOn);
  if (known === undefined) {
    const hint = choicesHint(failOn, FAIL_ON);
    throw usageError(`--fail-on does not take ${visible(failOn)}.`, hint);
  }
  if (known !== 'any' && base === undefined) {
    throw usageError(
      `--fail-on ${known} needs --base: without it, setpoint cannot distinguish drift from edits.`,
      'Pass --base FILE, the settings file as it was last applied.',
    );
  }
  return known;
}

/** A conflict counts as both. A difference without changes, something that does not run, is drift. */
function counts({ status, changes }: EnvironmentPlan, failOn: FailOn): boolean {
  if (status !== 'differs' || failOn === 'any') return status === 'differs';
  if (changes.length === 0) return failOn === 'drift';
  return changes.some((change) => change.class === failOn || change.class === 'conflict');
}
