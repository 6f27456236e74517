import { emulatorDialects, isEmulatorDialect } from '../../../emulator/options.ts';
import { startEmulator } from '../../../emulator/start.ts';
import { writePlace } from '../../../reconciler/host/write-aside.ts';
import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import { parseListenAddress } from '../../../controller/page/listen-options.ts';
import type { Flags } from '../command-table.ts';
import { writeText, type Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';

/** `setpoint serve`: runs the embedded service until a signal stops it. Its url is the first line on stdout. */
export async function serveCommand(flags: Flags<'serve'>, io: Io): Promise<number> {
  try {
    const { data, apiKey = io.env['SESSION_API_KEY'], dialect } = flags;
    if (dialect !== undefined && !isEmulatorDialect(dialect))
      throw usageError(`--dialect takes one of ${emulatorDialects.join(', ')}.`);
    const emulator = await startEmulator({
      ...parseListenAddress(flags.port, '--port'),
      ...(data === undefined ? {} : { data: writePlace(data) }),
      ...(apiKey === undefined || apiKey === '' ? {} : { apiKey }),
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
  return 'Choose another --port or --data; an address off loopback needs --api-key.';
}
