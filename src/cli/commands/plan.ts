import '../quick-end.ts';
import type { EnvironmentPlan } from '../../model/plan.ts';
import { plan } from '../../operations/plan.ts';
import { planText, type Voice } from '../../render/plan-text.ts';
import { conclude } from '../conclude.ts';
import { optionsFrom, rotationOf, type Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint plan`: exit 0, or 2 with --exit-code where there are differences. */
export async function planCommand(flags: Flags, io: Io): Promise<number> {
  const tells = flags.exitCode === true || flags.detailedExitcode === true;
  return look(flags, io, {
    voice: 'plan',
    mode: 'reads',
    codeOf: ({ status }) => (tells && status === 'differs' ? 2 : 0),
  });
}

interface Look {
  readonly voice: Voice;
  /** Whose variables count: those of a command that reads, or of one that would write. */
  readonly mode: 'reads' | 'writes';
  readonly codeOf: (environment: EnvironmentPlan) => number;
}

/** Looks, prints what was found, and ends with the worst of what the targets came to. */
export async function look(flags: Flags, io: Io, { voice, mode, codeOf }: Look): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const document = await plan({ ...optionsFrom(flags, io, mode), rotate: rotationOf(flags) });
    const written = await reporter.data(document, (style) => planText(document, style, voice));
    return await conclude(reporter, document.environments, written, codeOf);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
