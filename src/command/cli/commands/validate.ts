import { formatCount, namesListed } from '../../../reconciler/model/wording.ts';
import { checkTargets, validationDocument } from '../../../reconciler/operations/validate.ts';
import { diagnosticsText } from '../../../reconciler/render/error-text.ts';
import { visible } from '../../../reconciler/render/text.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions } from '../flags.ts';
import { VALIDATION_RENDERERS } from '../printer.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** Runs `setpoint validate`: prints the document, and returns 0 if the files are valid, else 3. */
export async function validateCommand(flags: Flags<'validate'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io, VALIDATION_RENDERERS);
    const { diagnostics, targets } = checkTargets({
      ...parseOperationOptions(flags, io),
      server: undefined,
    });
    const document = validationDocument(diagnostics);
    const names = namesListed(targets.map(({ name }) => visible(name)));
    const exitCode = await reporter.data(document, () =>
      document.valid ? `Valid: ${names}.\n` : '',
    );
    if (diagnostics.length > 0) {
      await reporter.words((style) => `${diagnosticsText(diagnostics, style)}\n`);
    }
    if (document.valid) return exitCode;
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    const message = `The settings have ${formatCount(errors, 'problem')}.`;
    await reporter.error({ code: 'settings-invalid', message, hint: 'Fix the problems above.' });
    return 3;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
