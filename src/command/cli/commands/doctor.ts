import type { Check } from '../../../reconciler/model/doctor.ts';
import type { DoctorDocument } from '../../../reconciler/model/documents.gen.ts';
import { doctor } from '../../../reconciler/operations/doctor.ts';
import { doctorText } from '../../../reconciler/render/doctor-text.ts';
import { exitCodeOf, worstExitCode } from '../../../reconciler/model/error.ts';
import type { Flags } from '../command-table.ts';
import { optionsFrom } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint doctor`: exit 0 if no check failed, else the exit code of the first one that did. */
export async function doctorCommand(flags: Flags<'doctor'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const document = await doctor(optionsFrom(flags, io, 'reads'));
    const written = await reporter.data(document, (style) => doctorText(document, style));
    const all = [document, ...document.environments].flatMap(
      ({ checks }): readonly Check[] => checks,
    );
    const failed = all.filter(({ status }) => status === 'failed').length;
    if (failed === 0) return written;
    const code = firstCode(document);
    const message = `${failed} of ${all.length} checks failed.`;
    await reporter.error({ code: String(code), message, hint: 'See the remedies above.' });
    return worstExitCode([written, code]);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Failures of this machine come first; then the worst of the environments' first failures. */
function firstCode({ checks, environments }: DoctorDocument): number {
  const own = codeOf(checks);
  return own === 0 ? worstExitCode(environments.map((target) => codeOf(target.checks))) : own;
}

function codeOf(checks: readonly Check[]): number {
  const first = checks.find(({ status }) => status === 'failed');
  if (first === undefined) return 0;
  return exitCodeOf({ code: first.code ?? '', message: first.found, hint: first.remedy ?? '' });
}
