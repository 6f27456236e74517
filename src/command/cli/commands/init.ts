import { EMBEDDED_DIALECTS, type EmbeddedDialect } from '../../../reconciler/model/address.ts';
import { usageError } from '../../../reconciler/model/error.ts';
import { choicesHint } from '../../../reconciler/model/wording.ts';
import { init } from '../../../reconciler/operations/init.ts';
import { initText } from '../../../reconciler/render/pulled-text.ts';
import type { Flags } from '../command-table.ts';
import { parseOperationOptions } from '../flags.ts';
import type { Io } from '../io.ts';
import { reporterFor, reportFailure } from '../reporter.ts';

/** Runs `setpoint init`: writes a first settings file from a server or from files, or adds an environment to an existing one. */
export async function initCommand(flags: Flags<'init'>, io: Io): Promise<number> {
  try {
    const reporter = reporterFor(flags, io);
    const { targets, ...options } = parseOperationOptions(flags, io);
    if (targets !== undefined && targets.length > 1)
      throw usageError('init adds one environment at a time.', 'Name one with -e.');
    const dialect = resolveInitDialect(flags);
    const [server, automationUrl] = splitAddresses(options.server);
    const document = await init({
      ...options,
      environment: targets?.[0],
      from: flags.from,
      server,
      automationUrl,
      dialect,
    });
    return await reporter.data(document, (style) => initText(document, style));
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Splits the address of a service from that of its automation service: `https://a.example.com=https://b.example.com`. */
function splitAddresses(text: string | undefined): readonly (string | undefined)[] {
  return text?.split(/=(?=[a-z]+:)/i, 2) ?? [];
}

function resolveInitDialect({ dialect, from }: Flags<'init'>): EmbeddedDialect | undefined {
  if (dialect === undefined) return undefined;
  if (from === undefined)
    throw usageError('--dialect needs --from.', 'With --server, setpoint detects the API version.');
  const match = EMBEDDED_DIALECTS.find((one) => one === dialect);
  if (match !== undefined) return match;
  throw usageError('--dialect takes a kind of service.', choicesHint(dialect, EMBEDDED_DIALECTS));
}
