import { approvalKey } from '../../../reconciler/host/approvals.ts';
import type { Flags } from '../command-table.ts';
import { DEFAULT_DATA } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

/** `setpoint mcp`: answers one client of the Model Context Protocol until it is gone. stdout carries the protocol alone. */
export async function mcpCommand(flags: Flags<'mcp'>, io: Io): Promise<number> {
  try {
    if (flags.allowApply === true) approvalKey(io.env);
    const { serveClient } = await import('../../mcp/server.ts');
    await serveClient(flags, io, flags.data ?? DEFAULT_DATA);
    return io.signal.aborted ? 130 : 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}
