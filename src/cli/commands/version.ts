import { TOOL, VERSION } from '../../model/version.ts';
import type { Flags } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint version`. */
export async function versionCommand(flags: Flags, io: Io): Promise<number> {
  try {
    await reporterFor(flags, io).data(
      { tool: TOOL, node: process.versions.node },
      () => `setpoint ${VERSION}\n`,
    );
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
