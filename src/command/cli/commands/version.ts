import { TOOL, VERSION } from '../../../reconciler/model/version.ts';
import type { Flags } from '../command-table.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint version`. */
export async function versionCommand(flags: Flags<'version'>, io: Io): Promise<number> {
  try {
    const document = { tool: TOOL, node: process.versions.node };
    return await reporterFor(flags, io).data(document, () => `setpoint ${VERSION}\n`);
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
