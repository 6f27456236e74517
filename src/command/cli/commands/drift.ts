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
      codeOf: (environment) => computeDriftExit(environment, failOn, strict),
    });
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function parseFailOnFlag({ failOn, base }: Flags<'drift'>): FailOn {
  const known = parseFailOnWord(failOn ?? 'any');
  if (known !== 'any' && base === undefined) {
    throw usageError(
      `--fail-on ${known} needs --base: without it, setpoint cannot distinguish drift from edits.`,
      'Pass --base FILE, the settings file as it was last applied.',
    );
  }
  return known;
}

/** Returns the kind of difference that --fail-on names. Throws a usage error. */
export function parseFailOnWord(word: string): FailOn {
  const known = FAIL_ON.find((one) => one === word);
  if (known !== undefined) return known;
  throw usageError(`--fail-on does not take ${visible(word)}.`, choicesHint(word, FAIL_ON));
}

/** The exit code of an environment's drift: 2 for a difference that counts and, if `strict`, for what could not be compared. */
export function computeDriftExit(
  environment: EnvironmentPlan,
  failOn: FailOn,
  strict: boolean,
): 0 | 2 {
  return counts(environment, failOn) || (strict && environment.unknown.length > 0) ? 2 : 0;
}

/** A conflict counts as both. A difference without changes, something that does not run, is drift. */
function counts({ status, changes }: EnvironmentPlan, failOn: FailOn): boolean {
  if (status !== 'differs' || failOn === 'any') return status === 'differs';
  if (changes.length === 0) return failOn === 'drift';
  return changes.some((change) => change.class === failOn || change.class === 'conflict');
}
