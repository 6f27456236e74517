import { TOOL } from '../../../reconciler/model/version.ts';
import type { Flags } from '../command-table.ts';
import type { Io } from '../io.ts';
import { findInstallation, formatVersion } from '../installation.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** `setpoint version`. */
export async function versionCommand(flags: Flags<'version'>, io: Io): Promise<number> {
  try {
    const installation = findInstallation(import.meta.dirname);
    const document = { tool: TOOL, node: process.versions.node, installation };
    return await reporterFor(flags, io).data(document, () => formatVersion(installation));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}
