import { dirname, resolve } from 'node:path';
import { parseEmbeddedAddress, type EmbeddedDialect } from '../model/address.ts';
import { asSetpointError, errorReport, SetpointError, type ErrorReport } from '../model/error.ts';
import type { Clock, Observer } from '../model/ports.ts';
import { activeDeclared } from '../model/collection-forms.ts';
import { AGENT_KIND, fieldNamed } from '../model/field.ts';
import { findPathFacts, placesWithin } from '../model/path-facts.ts';
import { samePath } from '../model/path.ts';
import type { DesiredField, DesiredState, ServerSettings } from '../model/state.ts';
import { VERSION } from '../model/version.ts';
import { SYSTEM_CLOCK } from '../host/this-process.ts';
import { writePlace } from '../host/write-aside.ts';
import { listDeclaredPointers } from '../plan/profiles.ts';
import { concernsOrganization } from '../model/organization.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import { connect, TARGET_REQUESTS, type Connection } from '../service/connect.ts';
import type { ResourceReader, Reading } from '../service/port.ts';
import type { Startup, TimeLimits } from '../service/request.ts';
import { knowing, settingsObserver } from '../service/settings.ts';
import { DEFAULT_TIMEOUT, type Options } from './options.ts';
import type { PreparedTarget } from './prepare.ts';
import type { Running } from './redacting.ts';

/** A connection to the service of an environment, and what reads it. */
export interface OpenTarget {
  readonly connection: Connection;
  readonly settings: Observer;
  /** Creates the reader of another resource. */
  readonly reader: <R>(of: ResourceReader<R>) => R;
  /** Creates a reader of what the file does not declare, which gives up early. */
  readonly listing: OpenTarget['reader'];
  /** Creates a reader for a plan, with the secrets that the file requests for comparison. */
  readonly comparingReader: OpenTarget['reader'];
  /** Reads the settings for a plan, with the secrets that the file wants to be compared. */
  readonly comparing: Observer;
  /** The time limits of all requests for the settings, in milliseconds of the monotonic clock. */
  readonly limits: TimeLimits;
  /** Does work that does not count towards that time: asking a person, reading what is not settings. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  /** Waits for a service that is starting, if that was requested, for work that does not read the settings first. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a target for some work, and closes it however that ends. `asksSecrets`: it is asked of every secret whether it is stored. */
export async function withTarget<T>(
  prepared: PreparedTarget,
  options: Running<Options>,
  work: (target: OpenTarget) => Promise<T>,
  asksSecrets = false,
): Promise<T> {
  const open = await openTarget(prepared, options, asksSecrets);
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

/** Reads from a target; if that fails, `failed` makes the environment's part of the document. */
export async function observeTarget<T>(
  prepared: PreparedTarget,
  options: Running<Options>,
  on: {
    readonly open: (target: OpenTarget) => Promise<T>;
    readonly failed: (error: ErrorReport) => T;
  },
): Promise<T> {
  try {
    return await withTarget(prepared, options, on.open);
  } catch (thrown) {
    return on.failed(errorReport(findInterruption(options.signal) ?? asSetpointError(thrown)));
  }
}

/** How long a plan waits for lists that it does not need, in milliseconds. */
const LISTING = 5000;
const BARE_STORE = '.setpoint/embedded.json';

/** Reports whether a native value is a secret, or a map that may contain some. */
function canHaveSecrets({ field: { name, secret, path } }: DesiredField): boolean {
  return (
    fieldNamed(name) === undefined &&
    (secret || [path, ...placesWithin(path)].some((one) => findPathFacts(one).secret))
  );
}

/** Reports whether a plan may replace the whole llm or agent, with secrets that settings may leave out. */
function mayClearHidden(desired: DesiredState): boolean {
  const isKind = ({ field }: DesiredField) => samePath(field.path, AGENT_KIND);
  return activeDeclared(desired, 'llm_profile') !== null || desired.fields.some(isKind);
}

/** Most files name none, and what reads them loads the cryptography of Node. */
function hasTlsFiles({ caFile, clientCert }: ServerSettings): boolean {
  return caFile !== null || clientCert !== null;
}

/** `embedded:` starts the service here, on loopback, with its store next to the settings file. */
async function openTarget(
  { target, server, desired }: PreparedTarget,
  options: Running<Options>,
  asksSecrets: boolean,
): Promise<OpenTarget> {
  if (server instanceof SetpointError) throw server;
  const { clock = SYSTEM_CLOCK, timeout = DEFAULT_TIMEOUT, tracer, tries } = options;
  const store = resolveEmbeddedStore(server, dirname(target.file), options);
  const embedded = store === null ? null : await startEmbedded(store, findEmbeddedDialect(server));
  const connection = connect(embedded === null ? server : { ...server, url: embedded.url }, {
    timeout,
    clock,
    userAgent: `setpoint/${VERSION}`,
    networks: options.networks,
    asksSecrets: asksSecrets || mayClearHidden(desired) || desired.fields.some(canHaveSecrets),
    ...(embedded === null && hasTlsFiles(server)
      ? (await import('./tls-files.ts')).readTlsFiles({ target }, server, options)
      : {}),
    proxy: options.proxy,
    ...(options.dispatcher === undefined ? {} : { dispatcher: options.dispatcher }),
  });
  const { limits, aside } = createTimeLimits(clock, TARGET_REQUESTS * timeout);
  const startup = createStartup(target.name, options);
  const read: Reading['read'] = (what, work, time) =>
    showWaits({ connection, target: target.name, startup }, options, () =>
      tracer.read(what, target.name, () => (time === 'aside' ? aside(work) : work())),
    );
  const pointers = listDeclaredPointers(desired);
  const observer = (more: { reveals?: boolean; organization?: boolean }): Observer => {
    const asked = { startup, pointers, tries, ...more };
    const own = knowing(desired.lock, settingsObserver(connection, limits, asked));
    return { observe: (signal) => read('settings', () => own.observe(signal)) };
  };
  // Most runs only compare: it is made when it is asked.
  let plain: Observer | null = null;
  const settings: Observer = { observe: (signal) => (plain ??= observer({})).observe(signal) };
  return {
    connection,
    limits,
    aside,
    ready: async () => {
      if (startup !== null) await settings.observe(options.signal);
    },
    comparing: observer({
      reveals: server.compareSecrets,
      organization: concernsOrganization(desired),
    }),
    settings,
    reader: ({ open }) => open({ connection, limits, read }),
    listing: ({ open }) =>
      open({ connection, limits: { deadline: clock.monotonic() + LISTING }, read }),
    comparingReader: ({ open }) =>
      open({ connection, limits, read, reveals: server.compareSecrets }),
    close: async () => {
      await connection.close();
      await embedded?.close();
    },
  };
}

/** The deadline of an environment; what is done aside does not count. */
function createTimeLimits(clock: Clock, time: number) {
  const limits = { deadline: clock.monotonic() + time };
  const aside = async <T>(work: () => Promise<T>): Promise<T> => {
    const begun = clock.monotonic();
    try {
      return await work();
    } finally {
      limits.deadline += clock.monotonic() - begun;
    }
  };
  return { limits, aside };
}

/** The time of a read, in milliseconds, after which it is reported that the service refuses it for now. */
const LONG_WAIT = 5_000;

/** Does work that reads from a service. Reports every five seconds that the service refuses the reads for now, such as for too many. */
async function showWaits<T>(
  {
    connection: { refusal },
    target,
    startup,
  }: { connection: Pick<Connection, 'refusal'>; target: string; startup: Startup | null },
  { onStarting }: Pick<Options, 'onStarting'>,
  work: () => Promise<T>,
): Promise<T> {
  if (onStarting === undefined || startup !== null) return work();
  let isShown = false;
  const timer = setInterval(() => {
    if (refusal.status === null) return;
    isShown = true;
    const why = refusal.status === 429 ? 'it limits requests' : 'it answers with an error';
    onStarting(target, `${why} (status ${refusal.status})`);
  }, LONG_WAIT);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (isShown) onStarting(target, null);
  }
}

function createStartup(target: string, { waitReady, onStarting }: Options): Startup | null {
  if (waitReady === undefined) return null;
  const onWait = (problem: string | null): void => onStarting?.(target, problem);
  return { wait: waitReady, left: waitReady, onWait };
}

/**
 * The file of an `embedded:` address, relative to the folder of the settings; null for any other address. Throws a usage error if
 * neither the address nor a file leads to a folder.
 */
export function resolveEmbeddedStore(
  { url }: Pick<ServerSettings, 'url'>,
  folder: string,
  { state }: Pick<Options, 'state'>,
): string | null {
  const address = parseEmbeddedAddress(url);
  if (address === null) return null;
  if (address.path !== '') return writePlace(resolve(folder, address.path), folder);
  if (state === null) {
    throw new SetpointError('usage', 'The address embedded: has no folder for its store.', {
      hint: 'Set state to a folder, or start the service with startEmulator() and use its url.',
    });
  }
  return writePlace(resolve(state ?? folder, BARE_STORE), state ?? folder);
}

/** The address names the dialect of the embedded service, or `server.dialect` does. */
function findEmbeddedDialect({ url, dialect }: ServerSettings): EmbeddedDialect {
  const named = parseEmbeddedAddress(url)?.dialect ?? null;
  return named ?? (dialect === 'auto' ? 'settings-v0' : dialect);
}

async function startEmbedded(
  data: string,
  dialect: EmbeddedDialect,
): Promise<{ url: string; close(): Promise<void> }> {
  const { startEmulator } = await import('../../emulator/start.ts');
  try {
    return await startEmulator({ data, dialect });
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
