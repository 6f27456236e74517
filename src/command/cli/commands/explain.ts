import { effective } from '../../../reconciler/operations/effective.ts';
import { explain } from '../../../reconciler/operations/explain.ts';
import { effectiveText } from '../../../reconciler/render/effective-text.ts';
import { explainText } from '../../../reconciler/render/explain-text.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { conclude, reportFailure, reporterFor } from '../reporter.ts';

/** `setpoint explain [PATH]`: what a field is and what an apply would do about it; without PATH the effective file of one environment. */
export async function explainCommand(
  flags: Flags<'explain'>,
  io: Io,
  path?: string,
): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const options = parseOperationOptions(flags, io);
    if (path === undefined) {
      const { document, file } = await effective(options);
      return await reporter.data(document, (style) => effectiveText(file, document.name, style));
    }
    const document = await explain({ ...options, path, offline: flags.offline });
    const written = await reporter.data(document, (style) => explainText(document, style));
    return await conclude(reporter, document.environments, written);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
