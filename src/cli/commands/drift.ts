import type { EnvironmentPlan } from '../../model/plan.ts';
import { choicesHint } from '../../model/suggest.ts';
import { usage, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { runPlan } from './plan.ts';

const FAIL_ON = ['drift', 'pending', 'any'] as const;
type FailOn = (typeof FAIL_ON)[number];

/** `setpoint drift`: exit 2 where the service is not what the file says; with --strict also where that is not known. */
export async function driftCommand(flags: Flags, io: Io): Promise<number> {
  const strict = flags.strict === true;
  try {
    const failOn = failOnOf(flags);
    return await runPlan(flags, io, {
      voice: strict ? 'strict drift' : 'drift',
      mode: 'reads',
      codeOf: (environment) =>
        counts(environment, failOn) || (strict && environment.unknown.length > 0) ? 2 : 0,
    });
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function failOnOf({ failOn, base }: Flags): FailOn {
  if (failOn === undefined) return 'any';
  const known = FAIL_ON.find((one) => one === failOn);
  if (known === undefined) {
    const hint = choicesHint(failOn, FAIL_ON);
    throw usage('--fail-on takes what to fail on.', hint);
  }
  if (known !== 'any' && base === undefined) {
    throw usage(
      `--fail-on ${known} needs --base: without it, drift cannot be told from edits.`,
      'Give --base the settings file as it was last applied.',
    );
  }
  return known;
}

/** A conflict is both. A declared sandbox that is unavailable is no edit. */
function counts({ status, changes }: EnvironmentPlan, failOn: FailOn): boolean {
  if (status !== 'differs' || failOn === 'any') return status === 'differs';
  if (changes.length === 0) return failOn === 'drift';
  return changes.some((change) => change.class === failOn || change.class === 'conflict');
}
