import type { DialectName } from '../model/dialect.ts';
import { asSetpointError, SetpointError, type Warning } from '../model/error.ts';
import { isLoopbackHost } from '../model/address.ts';
import type { Organization, ObservedState, SecretState } from '../model/state.ts';
import type { Observer } from '../model/ports.ts';
import type { Connection } from './connect.ts';
import { DIALECTS, firstDialect, readAnyDialect } from './dialects.ts';
import { readHeader } from './exchange.ts';
import {
  askFor,
  requestRelease,
  retrying,
  type Startup,
  throughStartup,
  type TimeLimits,
  UNLIMITED,
} from './request.ts';
import { MODEL_PART } from '../model/field.ts';
import { formatPath, isWithin, type Path } from '../model/path.ts';
import { listLockSecrets, type SchemaLock } from '../model/native-schema.ts';
import { isEmpty, assignPath, createRecord, readPath, type ValueRecord } from '../model/value.ts';
import { sealValue } from './conceal.ts';

interface ObserverOptions {
  /** The wait for a service that is starting; null does not wait. */
  readonly startup?: Startup | null;
  /** Ask the service for the secrets that it masks, so that they can be compared. */
  readonly reveals?: boolean;
  /** The declared pointers of the settings, by their fields. The service is asked what they name. */
  readonly pointers?: ReadonlyMap<string, string>;
  /** Find out which organisation a write would reach, of services that may have any and are not on this machine. */
  readonly organization?: boolean;
  /** The maximum number of attempts. */
  readonly tries?: number | undefined;
}

/**
 * Reads the settings of a service, and tries again within the deadline if that may help. Throws a SetpointError that names the
 * request and its problem: unreachable, tls, timed-out, unauthorized, rate-limited, server-error, bad-response,
 * not-this-service, dialect-not-spoken, unfit-for-service, interrupted.
 */
export function settingsObserver(
  connection: Connection,
  limits: { deadline: number } = { ...UNLIMITED },
  { startup = null, reveals = false, pointers, tries, organization = false }: ObserverOptions = {},
): Observer {
  const { clock, random } = connection;
  const place = connection.place('GET', firstDialect(connection).path);
  let spoken: DialectName | null = null;
  const once = async (
    signal: AbortSignal | undefined,
    within: TimeLimits,
  ): Promise<ObservedState> => {
    connection.caches.age = null;
    const read = await readSettingsOnce(connection, within, signal, spoken);
    const { age } = connection.caches;
    const state = age === null ? read : { ...read, cachedFor: age };
    // The dialect of a service does not change during a run: it is detected once.
    spoken = state.dialect.name;
    const { pointed } = DIALECTS[spoken];
    const ask = askFor(connection, within, signal);
    const whole =
      pointed === undefined || pointers === undefined
        ? state
        : await pointed(connection, state, pointers, ask);
    if (whole instanceof SetpointError) throw whole;
    const shown = reveals ? await revealStoredSecrets(connection, whole, within, signal) : whole;
    if (!organization || !mayHaveOrganizations(connection, spoken)) return shown;
    return withOrganization(shown, await organizationBehind(connection, within, signal));
  };
  const retry = { clock, place, random, tries };
  const observe = retrying((signal) => once(signal, limits), retry, limits);
  return {
    observe: startup === null ? observe : throughStartup(once, observe, startup, limits, retry),
  };
}

/** Reads the settings once. The error's `retry` defines whether to try again. */
async function readSettingsOnce(
  connection: Connection,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
  spoken: DialectName | null = null,
): Promise<ObservedState> {
  const state = await readAnyDialect(connection, askFor(connection, limits, signal), spoken);
  if (state instanceof SetpointError) throw state;
  return state;
}

/** The state with the secrets that the service shows on request. Throws a SetpointError if it shows none. */
async function revealStoredSecrets(
  connection: Connection,
  state: ObservedState,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Promise<ObservedState> {
  const { name } = state.dialect;
  const { reveal } = DIALECTS[name];
  if (reveal === undefined) {
    throw new SetpointError(
      'unfit-for-service',
      `server.compare_secrets is set, but the ${name} API does not show secrets.`,
      {
        hint: 'Remove server.compare_secrets for this environment: only agent-server can compare secrets.',
      },
    );
  }
  const found = await reveal(connection, state, askFor(connection, limits, signal));
  if (found instanceof SetpointError) throw found;
  return found;
}

/** Reports whether a service may store settings for the members of an organisation. A service on this machine does not. */
export function mayHaveOrganizations({ base }: Connection, spoken: DialectName): boolean {
  return spoken === 'app-server' && !isLoopbackHost(base.hostname);
}

/** The organisation that a key writes to; null if the service has none. Few services have one, so the code is loaded here. */
export async function organizationBehind(
  connection: Connection,
  limits: TimeLimits,
  signal: AbortSignal | undefined,
): Promise<Organization | null> {
  const { findOrganization: knownOrganization } = await import('./organization.ts');
  return knownOrganization(connection, askFor(connection, limits, signal));
}

function withOrganization(state: ObservedState, organization: Organization | null): ObservedState {
  if (organization === null) return state;
  const cautions = [...(state.cautions ?? []), { warning: PINNED, about: null }];
  return { ...state, organization, ...(organization.personal ? {} : { cautions }) };
}

const PINNED: Warning = {
  code: 'organization',
  message:
    'Saving there stores all of agent_settings and conversation_settings for this member. Later defaults of the organisation do not reach them.',
  path: [],
};

/** The result of reading the settings once, whatever the service answers. */
export interface Probe {
  /** The path whose answer identifies the dialect: that of the detected dialect, or the last that was tried. */
  readonly path: string;
  /** The status of that answer; null if there was none. */
  readonly status: number | null;
  /** The lead of the service's clock over this machine's, in milliseconds; null if the answer has no Date header. */
  readonly ahead: number | null;
  /** The settings, or why they could not be read. */
  readonly outcome: ObservedState | SetpointError;
}

/** Reads the settings once, and tries nothing again. Never throws for what a service can do. */
export async function probe(
  connection: Connection,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<Probe> {
  const answers = new Map<string, Pick<Probe, 'status' | 'ahead'>>();
  let last = firstDialect(connection).path;
  const { clock } = connection;
  const watched: Connection = {
    ...connection,
    send: async (request) => {
      const before = clock.now();
      last = request.path;
      const answer = await connection.send(request);
      if (answer.kind === 'reply') {
        const date = Date.parse(readHeader(answer.headers, 'date') ?? '');
        const ahead = computeClockLead(date, before, clock.now());
        answers.set(request.path, { status: answer.status, ahead });
      }
      return answer;
    },
  };
  const outcome = await readSettingsOnce(watched, limits, signal).catch(asSetpointError);
  const path = outcome instanceof SetpointError ? last : DIALECTS[outcome.dialect.name].path;
  return { path, ...(answers.get(path) ?? { status: null, ahead: null }), outcome };
}

/** A Date header is cut off to the second, and was written at some time of the exchange: within that, clocks agree. */
function computeClockLead(date: number, before: number, after: number): number | null {
  if (Number.isNaN(date)) return null;
  const [least, most] = [date - after, date + 1000 - before];
  if (least > 0) return least;
  return most < 0 ? most : 0;
}

/** An observer of a service with the members that a lock has. */
export function knowing(lock: SchemaLock | undefined, observer: Observer): Observer {
  if (lock === undefined) return observer;
  return { observe: async (signal) => withLock(await observer.observe(signal), lock) };
}

/** A state in which the secrets of a lock are secrets: wrapped, and known by whether they are stored. */
export function withLock(state: ObservedState, lock: SchemaLock): ObservedState {
  const paths = listLockSecrets(lock, state.dialect.name);
  if (paths.length === 0) return state;
  const names = new Set(paths.map(formatPath));
  const secrets = new Map(state.secrets);
  for (const path of paths) secrets.set(formatPath(path), readStoredState(path, state));
  return {
    ...state,
    secrets,
    values: createRecord(Object.entries(state.values).filter(([name]) => !names.has(name))),
    ...(state.pointed === undefined ? {} : { pointed: sealLlms(state.pointed, paths) }),
    answer: paths.reduce((answer, path) => {
      const value = readPath(answer, path);
      return value === undefined ? answer : assignPath(answer, path, sealValue(value));
    }, state.answer),
  };
}

/** Hides in the llm of a profile what only the lock knows to be secret. */
function sealLlms(
  pointed: NonNullable<ObservedState['pointed']>,
  paths: readonly Path[],
): ObservedState['pointed'] & object {
  const members = paths
    .filter((path) => isWithin(path, MODEL_PART) && path.length > MODEL_PART.length)
    .map((path) => path.slice(MODEL_PART.length));
  const seal = (llm: ValueRecord): ValueRecord =>
    members.reduce((made, member) => {
      const value = readPath(made, member);
      return value === undefined ? made : assignPath(made, member, sealValue(value));
    }, llm);
  return new Map(
    [...pointed].map(([pointer, one]) => [
      pointer,
      one.llm === null ? one : { ...one, llm: seal(one.llm) },
    ]),
  );
}

/** A dialect that shows of each secret whether it is stored answers null for one that is not. */
function readStoredState(path: Path, { answer, dialect }: ObservedState): SecretState {
  const value = readPath(answer, path);
  if (value !== undefined && !isEmpty(value)) return 'stored';
  return value !== undefined && dialect.name === 'agent-server' ? 'not-stored' : 'not-reported';
}

/**
 * The release of a service, exact if it answers the one GET that this sends; else the one that its settings have shown. Only texts for
 * people depend on it, so a service that does not answer is not an error.
 */
export async function findExactRelease(
  connection: Connection,
  { dialect, release }: ObservedState,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<string | null> {
  try {
    const ask = askFor(connection, limits, signal);
    return (await requestRelease(ask, DIALECTS[dialect.name].release)) ?? release;
  } catch (thrown) {
    if (thrown instanceof SetpointError) return release;
    throw thrown;
  }
}
