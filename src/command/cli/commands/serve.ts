import { emulatorDialects, isEmulatorDialect } from '../../../emulator/options.ts';
import { startEmulator } from '../../../emulator/start.ts';
import { readText } from '../../../reconciler/host/read-text.ts';
import { writePlace } from '../../../reconciler/host/write-aside.ts';
import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import type { Flags } from '../command-table.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

/** `setpoint serve`: runs the embedded service until a signal stops it. Its url is the first line on stdout. */
export async function serveCommand(flags: Flags<'serve'>, io: Io): Promise<number> {
  try {
    const { port, host, data, apiKey = io.env['SESSION_API_KEY'], serverMcp, allowHost } = flags;
    const { dialect } = flags;
    if (dialect !== undefined && !isEmulatorDialect(dialect))
      throw usageError(`--dialect takes one of ${emulatorDialects.join(', ')}.`);
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw usageError('--port takes a number from 0 to 65535.');
    const emulator = await startEmulator({
      port: Number(port),
      host,
      ...(data === undefined ? {} : { data: writePlace(data) }),
      ...(apiKey === undefined || apiKey === '' ? {} : { apiKey }),
      ...(serverMcp === undefined ? {} : { serverMcp: jsonFile(serverMcp) }),
      ...(allowHost === undefined ? {} : { allowHosts: allowHost }),
      ...(dialect === undefined ? {} : { dialect }),
    }).catch((thrown: unknown) => {
      const message =
        thrown instanceof Error ? thrown.message : 'The embedded service could not start.';
      throw new SetpointError('usage', message, {
        hint: remedyFor(thrown),
        cause: thrown,
      });
    });
    await writeText(io.stdout, `${emulator.url}\n`);
    await writeText(
      io.stderr,
      `The embedded service is running. It keeps settings and sandboxes ${data === undefined ? 'in memory' : `in ${data}`} and runs no agents. Press Ctrl-C to stop it.\n`,
    );
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      io.signal.addEventListener('abort', () => resolve());
    });
    await emulator.close();
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, {}, io);
  }
}

/** The hint for a service that could not start. */
function remedyFor(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : '';
  if (code === 'EADDRINUSE')
    return 'Stop the program that listens there, or choose another port: --port 0 takes a free one.';
  return 'Choose another --host, --port or --data; a host off loopback needs --api-key.';
}

const SERVER_MCP_LIMIT = 1024 * 1024;

function jsonFile(path: string): Record<string, never> {
  const read = readText(path, SERVER_MCP_LIMIT);
  try {
    if ('text' in read) return JSON.parse(read.text) as Record<string, never>;
  } catch {
    // The parser's message would quote the text.
  }
  throw new SetpointError('file-unreadable', `${path} is not JSON, or larger than 1 MiB.`);
}
