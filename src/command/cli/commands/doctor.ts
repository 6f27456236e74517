import type { Check } from '../../../reconciler/model/doctor.ts';
import type { DoctorDocument } from '../../../reconciler/model/documents.gen.ts';
import type { Proof } from '../../../reconciler/model/proof.ts';
import { doctor } from '../../../reconciler/operations/doctor.ts';
import { doctorText } from '../../../reconciler/render/doctor-text.ts';
import { ERRORS, computeErrorExitCode, worstExitCode } from '../../../reconciler/model/error.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions } from '../flags.ts';
import { checksView } from '../progress-view.ts';
import { hintForCommand, type Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint doctor`: exit 0 if no check failed, else the exit code of the first one that did. */
export async function doctorCommand(flags: Flags<'doctor'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const check = flags.check === true;
    const found = await doctor({
      ...parseOperationOptions(flags, io),
      check,
      onChecks: checksView(io, flags.quiet === true),
    });
    const document = {
      ...found,
      environments: found.environments.map((environment) => ({
        ...environment,
        checks: environment.checks.map((check) => ({
          ...check,
          remedy: describeRemedy(check, io),
        })),
      })),
    };
    const written = await reporter.data(document, (style) => doctorText(document, style));
    const all = [document, ...document.environments].flatMap(
      ({ checks }): readonly Check[] => checks,
    );
    const tried = document.environments.flatMap(({ proofs = [] }) => proofs);
    const failed =
      all.filter(({ status }) => status === 'failed').length +
      tried.filter(({ status }) => status === 'fails').length;
    if (failed === 0) return written;
    const code = firstCode(document);
    const message = `${failed} of ${all.length + tried.length} checks failed.`;
    await reporter.error({ code: String(code), message, hint: 'See the remedies above.' });
    return worstExitCode([written, code]);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

function describeRemedy({ code, remedy }: Check, io: Io): string | null {
  return remedy === null || code === null ? remedy : hintForCommand({ code, hint: remedy }, io);
}

/** Failures of this machine come first; then the worst of the environments' first failures. */
function firstCode({ checks, environments }: DoctorDocument): number {
  const own = computeDoctorExitCode(checks);
  if (own !== 0) return own;
  return worstExitCode(
    environments.map(
      ({ checks: found, proofs = [] }) => computeDoctorExitCode(found) || codeOfProofs(proofs),
    ),
  );
}

function codeOfProofs(proofs: readonly Pick<Proof, 'status'>[]): number {
  return proofs.some(({ status }) => status === 'fails') ? ERRORS['check-failed'].exit : 0;
}

function computeDoctorExitCode(checks: readonly Check[]): number {
  const first = checks.find(({ status }) => status === 'failed');
  if (first === undefined) return 0;
  return computeErrorExitCode({
    code: first.code ?? '',
    message: first.found,
    hint: first.remedy ?? '',
  });
}
