import * as agentServer from './agent-server/dialect.ts';
import * as agentServerRead from './agent-server/read.ts';
import * as agentServerWrite from './agent-server/write.ts';
import * as appServer from './app-server/dialect.ts';
import * as appServerRead from './app-server/read.ts';
import * as appServerWrite from './app-server/write.ts';
import type { Dialect, DialectName } from '../model/dialect.ts';
import type { SetpointError } from '../model/error.ts';
import { isRecord, createRecord, type ValueRecord } from '../model/value.ts';
import { type Ask, readJsonReply, OPENAPI, type ReleaseNaming } from './request.ts';
import { type Reply, readHeader } from './exchange.ts';
import type { Connection } from './connect.ts';
import { ServiceError } from './service-error.ts';
import type { ObservedState, SettingsWrite } from '../model/state.ts';
import type { WriteAnswer } from '../model/ports.ts';
import { SERVER_INFO } from './agent-server/form.ts';
import { resolvePointers } from './agent-server/pointed.ts';
import { revealSettings } from './agent-server/reveal.ts';
import { createProfileActivation } from './app-server/write.ts';
import type { ResourceWriter } from './port.ts';
import type { Storage } from './predict.ts';
import { SETTINGS_PATH, SETTINGS_V0 } from './settings-v0/dialect.ts';
import { EMPTY_STORE, observeV0Record, readV0Settings, V0_STORAGE } from './settings-v0/read.ts';
import { postWholeRecord } from './settings-v0/write.ts';

/**
 * The reading and writing of the settings of one dialect. Each dialect is a folder here, and an entry of the registry below.
 *
 * 1. Must have the `dialect` as data, the `path` of the settings, and the `release` that names the server.
 * 2. Must `read` a reply without a write, and return an error that names what answered instead.
 * 3. Must read a `saved` answer as it reads a reply.
 * 4. Must `write` once, never retry, and never throw for a failure of a service.
 * 5. May have `schemas`, if the services describe their settings.
 * 6. May `claims` an answer, if another dialect has the same path.
 * 7. May `reveal` secrets on request, look up what is `pointed` at, know the `storage`, and `activate` a profile.
 *
 * @example
 * export const DIALECTS = {
 *   'settings-v0': {
 *     dialect: SETTINGS_V0,
 *     path: '/api/settings',
 *     release: OPENAPI,
 *     read: (connection, place, reply) => readV0Settings(place, reply),
 *     saved: (answer) => (answer === null ? EMPTY_STORE : observeV0Record(answer)),
 *     write: postWholeRecord,
 *   },
 * };
 */
export interface DialectModule {
  readonly dialect: Dialect;
  /** The path of the GET that reads the settings. */
  readonly path: string;
  /** The request in which these services name their release. */
  readonly release: ReleaseNaming;
  /** The paths at which these services describe their settings, by part; absent if they do not. */
  readonly schemas?: Readonly<Record<string, string>>;
  /** Reports whether an answer is in this dialect, if another dialect has the same path. */
  readonly claims?: (body: ValueRecord) => boolean;
  /** The observed state in a reply to that GET, or an error that names what answered instead. */
  read(
    connection: Connection,
    place: string,
    reply: Reply,
    ask: Ask,
  ): ObservedState | SetpointError | Promise<ObservedState | SetpointError>;
  /** An observed state with the secrets that these services show only on request, for comparing. */
  readonly reveal?: (
    connection: Connection,
    state: ObservedState,
    ask: Ask,
  ) => Promise<ObservedState | SetpointError>;
  /** An observed state with what the declared pointers name; absent if these services have none. */
  readonly pointed?: (
    connection: Connection,
    state: ObservedState,
    pointers: ReadonlyMap<string, string>,
    ask: Ask,
  ) => Promise<ObservedState | SetpointError>;
  /** The observed state in an answer that a snapshot holds; null: the store was empty. */
  saved(answer: ValueRecord | null): ObservedState;
  /** How these services store their settings; absent if no effects are known. */
  readonly storage?: Storage;
  /** Makes an LLM profile active; absent if these services leave it active after any write. */
  readonly activate?: ResourceWriter<(profile: string) => Promise<WriteAnswer>>;
  /**
   * Sends a write once. Never retries, and never throws for failures of a service. The error of a write that did not take effect is a
   * ServiceError if the service named a time to come back.
   */
  readonly write: ResourceWriter<(write: SettingsWrite) => Promise<WriteAnswer>>;
}

function listSchemaPaths(path: string): Readonly<Record<string, string>> {
  return {
    agent_settings: `${path}/agent-schema`,
    conversation_settings: `${path}/conversation-schema`,
  };
}

/** Every dialect, in the order in which a service is asked which one it speaks. */
export const DIALECTS: Readonly<Record<DialectName, DialectModule>> = {
  'settings-v0': {
    dialect: SETTINGS_V0,
    path: SETTINGS_PATH,
    release: OPENAPI,
    read: readV0Settings,
    saved: (answer) =>
      answer === null ? { ...EMPTY_STORE, saved: true } : observeV0Record(answer, true),
    storage: V0_STORAGE,
    write: postWholeRecord,
  },
  'app-server': {
    dialect: appServer.APP_SERVER,
    path: appServer.SETTINGS_PATH,
    release: OPENAPI,
    schemas: listSchemaPaths(appServer.SETTINGS_PATH),
    read: appServerRead.readAppServerSettings,
    saved: (answer) =>
      answer === null
        ? { ...appServerRead.EMPTY_STORE, saved: true }
        : appServerRead.observeAppServer(answer, { saved: true }),
    storage: appServerRead.APP_STORAGE,
    activate: createProfileActivation,
    write: appServerWrite.postChangedSettings,
  },
  'agent-server': {
    dialect: agentServer.AGENT_SERVER,
    path: agentServer.SETTINGS_PATH,
    release: SERVER_INFO,
    schemas: listSchemaPaths(agentServer.SETTINGS_PATH),
    claims: (body) => agentServer.KEY_FLAG in body,
    read: agentServerRead.readAgentServerSettings,
    storage: agentServerRead.AGENT_STORAGE,
    reveal: revealSettings,
    pointed: resolvePointers,
    saved: (answer) => agentServerRead.observeAgentServer(answer ?? createRecord({}), true),
    write: agentServerWrite.patchSettings,
  },
};

const [FIRST, ...LATER] = [DIALECTS['settings-v0'], DIALECTS['app-server']] as const;

/** The dialects with the path that is requested first; its answer distinguishes them. */
const AT_FIRST_PATH = Object.values(DIALECTS).filter(({ path }) => path === FIRST.path);

/** The dialect that a service is asked in first: the declared one, or the specification's. */
export function firstDialect({ dialect }: Connection): DialectModule {
  return dialect === 'auto' ? FIRST : DIALECTS[dialect];
}

/**
 * Reads the settings in whatever dialect the service speaks. The specification's is asked first; another path is tried only if
 * the answer is that of a server which does not have the path. A declared dialect is the only one that is asked, and
 * so is one that the service has spoken before.
 */
export async function readAnyDialect(
  connection: Connection,
  ask: Ask,
  spoken: DialectName | null = null,
): Promise<ObservedState | SetpointError> {
  const first = spoken === null ? firstDialect(connection) : DIALECTS[spoken];
  const { place, reply } = await ask(first.path);
  const isKnown = spoken !== null || connection.dialect !== 'auto';
  if (!isMissingPath(place, reply)) {
    const claiming = isKnown ? undefined : findClaimingDialect(place, reply);
    return (claiming ?? first).read(connection, place, reply, ask);
  }
  if (spoken !== null) return first.read(connection, place, reply, ask);
  if (isKnown) return notSpoken(connection, place, reply);
  for (const later of LATER) {
    const other = await ask(later.path);
    if (!isMissingPath(other.place, other.reply))
      return later.read(connection, other.place, other.reply, ask);
  }
  return first.read(connection, place, reply, ask);
}

/** The dialect that the answer of the first path indicates. */
function findClaimingDialect(place: string, reply: Reply): DialectModule | undefined {
  if (reply.status !== 200) return undefined;
  const read = readJsonReply(place, reply);
  if ('error' in read || !isRecord(read.json)) return undefined;
  const body = read.json;
  return AT_FIRST_PATH.find(({ claims }) => claims?.(body) === true);
}

/**
 * Reports whether a server of this kind has no such path: it answers Not Found, or its web page. Another sentence indicates an empty store;
 * a 404 of anything else is not the service's.
 */
export function isMissingPath(place: string, reply: Reply): boolean {
  const type = readHeader(reply.headers, 'content-type') ?? '';
  if (reply.status === 200) return /^text\/html\b/i.test(type);
  if (reply.status !== 404) return false;
  const read = readJsonReply(place, reply);
  return 'json' in read && isRecord(read.json) && read.json['detail'] === 'Not Found';
}

function notSpoken({ dialect }: Connection, place: string, { status }: Reply): ServiceError {
  return new ServiceError(
    'dialect-not-spoken',
    `${place} is unknown to the server (status ${status}), but server.dialect is ${dialect}.`,
    { hint: 'Remove server.dialect so that setpoint detects it, or check server.url.' },
  );
}
