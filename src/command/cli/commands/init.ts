import { usageError } from '../../../reconciler/model/error.ts';
import { init } from '../../../reconciler/operations/init.ts';
import { initText } from '../../../reconciler/render/pulled-text.ts';
import type { Flags } from '../command-table.ts';
import { optionsFrom } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint init --server URL`: writes a first settings file; with `-e NAME`, adds an environment to an existing one. */
export async function initCommand(flags: Flags<'init'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const { targets, ...options } = optionsFrom({ ...flags, env: flags.env ?? [] }, io, 'reads');
    if (targets !== undefined && targets.length > 1)
      throw usageError('init adds one environment at a time.', 'Name one with -e.');
    const document = await init({ ...options, environment: targets?.[0] });
    return await reporter.data(document, (style) => initText(document, style));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
