import { dirname, resolve } from 'node:path';
import { SetpointError } from '../model/error.ts';
import type { ServerSettings } from '../model/state.ts';
import { VERSION } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/system-clock.ts';
import { readText } from '../host/read-text.ts';
import { writePlace } from '../host/write-place.ts';
import { connect, type Connection } from '../service/connect.ts';
import type { TimeLimits } from '../service/retry.ts';
import { DEFAULT_TIMEOUT, type Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { proxyVariables } from './proxy-variables.ts';

/** A connection to a target's service, and the time its settings may take. */
export interface OpenTarget {
  readonly connection: Connection;
  /** Until when the settings may take, in milliseconds of the clock's monotonic. */
  readonly limits: TimeLimits;
  /** Does what does not count towards that time: asking a person, looking at the sandboxes. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  close(): Promise<void>;
}

const CA_LIMIT = 1024 * 1024;
const BARE_STORE = '.setpoint/embedded.json';

/** Opens the way to a target's service; `embedded:` starts the service here, on loopback, with its store beside the file. */
async function openTarget({ target, server }: Prepared, options: Options): Promise<OpenTarget> {
  if (server instanceof SetpointError) throw server;
  const clock = options.clock ?? SYSTEM_CLOCK;
  const timeout = options.timeout ?? DEFAULT_TIMEOUT;
  const folder = dirname(target.file);
  const store = embeddedStore(server, folder);
  const embedded = store === null ? null : await startEmbedded(store);
  const connection = connect(embedded === null ? server : { ...server, url: embedded.url }, {
    timeout,
    clock,
    userAgent: `setpoint/${VERSION}`,
    ca: server.caFile === null ? null : certificates(resolve(folder, server.caFile)),
    proxy: proxyVariables(options.env),
    ...(options.dispatcher === undefined ? {} : { dispatcher: options.dispatcher }),
  });
  const limits = { deadline: clock.monotonic() + 4 * timeout };
  return {
    connection,
    limits,
    aside: async (work) => {
      const begun = clock.monotonic();
      try {
        return await work();
      } finally {
        limits.deadline += clock.monotonic() - begun;
      }
    },
    close: async () => {
      await connection.close();
      await embedded?.close();
    },
  };
}

/** Opens a target for some work, and closes it whatever comes of that. */
export async function withTarget<T>(
  prepared: Prepared,
  options: Options,
  work: (target: OpenTarget) => Promise<T>,
): Promise<T> {
  const open = await openTarget(prepared, options);
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

/** The file of an `embedded:` address, relative to the folder of the settings; null for any other address. */
export function embeddedStore({ url }: ServerSettings, folder: string): string | null {
  if (!url.startsWith('embedded:')) return null;
  const path = url.slice('embedded:'.length);
  return writePlace(resolve(folder, path === '' ? BARE_STORE : path), folder);
}

async function startEmbedded(data: string): Promise<{ url: string; close(): Promise<void> }> {
  const { startEmulator } = await import('../emulator/start.ts');
  try {
    return await startEmulator({ data });
  } catch (thrown) {
    throw new SetpointError(
      'unreachable',
      `The embedded service could not start with the store ${data}.`,
      {
        hint: 'Check that the path can be written, and that the file is a store of the embedded service.',
        cause: thrown,
      },
    );
  }
}

function certificates(path: string): string {
  const read = readText(path, CA_LIMIT);
  if ('text' in read && read.text.includes('-----BEGIN CERTIFICATE-----')) return read.text;
  throw new SetpointError('file-unreadable', `${path} holds no certificates in PEM form.`);
}
