import type { WriteAnswer, WriteFailure } from '../../model/ports.ts';
import { MASK } from '../../model/secret.ts';
import { isList, isRecord, type Value } from '../../model/value.ts';
import type { Connection } from '../../service/connect.ts';
import { notInSnapshot, type ResourceReader, type ResourceWriter } from '../../service/port.ts';
import { toAmbiguousWrite, sendOnce } from '../../service/request.ts';
import { ServiceError } from '../../service/service-error.ts';
import {
  readId,
  readIdText,
  readStateWord,
  readUtcTime,
  readItems,
  listPages,
  readV1Page,
} from '../../service/v1/list.ts';
import { getV1, listLimits, startTimeout } from '../../service/v1/request.ts';

/**
 * A sandbox that the service lists. `status` is the service's word in capitals: STARTING, RUNNING, PAUSED, ERROR, MISSING, or one of a
 * later version. `createdAt` is in milliseconds since 1970; null, like `spec`, if the service does not report it. Other members of a
 * listing, such as keys of sessions, are dropped. Source: behaviour 3.2.
 */
export interface Sandbox {
  readonly id: string;
  readonly spec: string | null;
  readonly status: string;
  readonly createdAt: number | null;
}

/** A template that sandboxes are started from. The first of a list is the service's default. */
export interface SandboxSpec {
  readonly id: string;
}

/** A conversation as the service lists it. `status`: idle, running, paused, finished, …; null if it is not known. */
export interface Conversation {
  readonly id: string;
  readonly sandbox: string | null;
  readonly status: string | null;
  readonly createdAt: number | null;
}

/** The view of the service for an apply of `sandboxes:`. */
export interface ObservedSandboxes {
  readonly sandboxes: readonly Sandbox[];
  /** The specs of the service; null if the file names none. */
  readonly specs: readonly SandboxSpec[] | null;
  /** The sandboxes in which a conversation runs; null if that was not read. */
  readonly busy: ReadonlySet<string> | null;
  /** The service's own time of the observation, in milliseconds since 1970. */
  readonly at: number;
}

/** An ERROR younger than this, in milliseconds, counts as a start under way: one backend reports ERROR while it boots. Source: behaviour 3.2. */
const BOOT_TIME = 5 * 60_000;

/** Reports whether a sandbox counts as up: not PAUSED, ERROR or MISSING. One backend reports STARTING forever. */
export function isUp({ status, createdAt }: Sandbox, at: number): boolean {
  if (status === 'ERROR') return createdAt !== null && at - createdAt < BOOT_TIME;
  return status !== 'PAUSED' && status !== 'MISSING';
}

const SANDBOXES = '/api/v1/sandboxes';
const SPECS = '/api/v1/sandbox-specs/search';
const CONVERSATIONS = '/api/v1/app-conversations';

/** Reads the sandboxes of a service, and what belongs to them: every list to its last page, or an error. */
export interface SandboxReader {
  /** `at` is the service's own time of the answer, in milliseconds since 1970; `within` is how long it may take, in milliseconds. */
  sandboxes(
    signal?: AbortSignal,
    within?: number,
  ): Promise<{ readonly sandboxes: readonly Sandbox[]; readonly at: number }>;
  /** Null if a snapshot does not have them. */
  specs(signal?: AbortSignal): Promise<readonly SandboxSpec[] | null>;
  conversations(signal?: AbortSignal): Promise<readonly Conversation[] | null>;
}

/** Throws the errors of settingsObserver. Source: specification 4.1; behaviour 3.2. */
export const SANDBOX_READER: ResourceReader<SandboxReader> = {
  open: ({ connection, read }) => ({
    sandboxes: (signal, within) =>
      read('sandboxes', () => listSandboxes(connection, signal, within), 'aside'),
    specs: (signal) => read('specs', () => listSpecs(connection, signal), 'aside'),
    conversations: (signal) =>
      read('conversations', () => listConversations(connection, signal), 'aside'),
  }),
  saved: ({ environment: { name, sandboxes, specs, conversations }, at }) => ({
    sandboxes: async () => {
      if (sandboxes === null)
        throw notInSnapshot(`The snapshot does not contain the sandboxes of ${name}.`);
      if (sandboxes.some(({ id, spec }) => `${id} ${spec ?? ''}`.includes(MASK)))
        throw notInSnapshot(`The snapshot masks the ids or specs of sandboxes of ${name}.`);
      const observed = sandboxes.map(({ created_at, ...one }) => ({
        ...one,
        createdAt: parseSandboxTime(created_at),
      }));
      return { sandboxes: observed, at: Date.parse(at) };
    },
    specs: async () => specs,
    conversations: async () =>
      conversations?.map(({ created_at, ...one }) => ({
        ...one,
        createdAt: parseSandboxTime(created_at),
      })) ?? null,
  }),
};

function parseSandboxTime(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

async function listSandboxes(
  connection: Connection,
  signal: AbortSignal | undefined,
  within: number | undefined,
) {
  const limits = listLimits(connection, within);
  const path = `${SANDBOXES}/search`;
  const { items, at } = await listPages(connection, path, readSandboxRecord, limits, signal);
  return { sandboxes: items, at };
}

async function listSpecs(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<readonly SandboxSpec[]> {
  return (await listPages(connection, SPECS, readSandboxSpec, listLimits(connection), signal))
    .items;
}

/**
 * GET /app-conversations lists, by the specification. Real servers require ids there (422) and list under
 * /search; others answer a whole list, or a first page.
 */
async function listConversations(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<readonly Conversation[]> {
  const limits = listLimits(connection);
  const { status, json } = await getV1(connection, CONVERSATIONS, limits, signal, 422);
  if (status === 200) {
    const whole = readCompleteList(connection.place('GET', CONVERSATIONS), json);
    if (whole !== null) return whole;
  }
  const path = status === 422 ? `${CONVERSATIONS}/search` : CONVERSATIONS;
  return (await listPages(connection, path, readConversation, limits, signal)).items;
}

/** Null if there is a next page. */
function readCompleteList(place: string, json: Value): readonly Conversation[] | null {
  const { items, next } = isList(json) ? { items: json, next: null } : readV1Page(place, json);
  return next === null ? readItems(place, items, readConversation) : null;
}

/** `started`: the service named the sandbox. */
export type StartAnswer = { readonly kind: 'started'; readonly id: string } | WriteFailure;

/**
 * Changes the sandboxes of a service, one request for each call, never repeated automatically. A start is not idempotent: sent twice it
 * makes two sandboxes. A stored pause or resume has begun, not ended.
 */
export interface SandboxWriter {
  /** Starts one sandbox from a spec; from the service's default if it is null. */
  start(spec: string | null): Promise<StartAnswer>;
  resume(id: string): Promise<WriteAnswer>;
  pause(id: string): Promise<WriteAnswer>;
}

/**
 * One POST for each call. The spec of a start goes into the query: in a body it would be ignored, and the default be started. Source:
 * specification 4.1; behaviour 3.2.
 */
export const sandboxWriter: ResourceWriter<SandboxWriter> = ({ connection, send }) => ({
  start: (spec) => send('start sandbox', () => requestSandboxStart(connection, spec)),
  resume: (id) => send('resume sandbox', () => setState(connection, id, 'resume')),
  pause: (id) => send('pause sandbox', () => setState(connection, id, 'pause')),
});

async function requestSandboxStart(
  connection: Connection,
  spec: string | null,
): Promise<StartAnswer> {
  const query = spec === null ? '' : `?sandbox_spec_id=${encodeURIComponent(spec)}`;
  const timeout = startTimeout(connection);
  const answer = await sendOnce(connection, {
    method: 'POST',
    path: `${SANDBOXES}${query}`,
    body: null,
    timeout,
    headersTimeout: timeout,
  });
  if (answer.kind !== 'done') return answer;
  const sandbox = readSandboxRecord(answer.answer);
  if (sandbox !== null) return { kind: 'started', id: sandbox.id };
  const place = connection.place('POST', SANDBOXES);
  return toAmbiguousWrite(
    new ServiceError('bad-response', `${place} was answered without the id of a sandbox.`),
  );
}

async function setState(
  connection: Connection,
  id: string,
  what: 'pause' | 'resume',
): Promise<WriteAnswer> {
  const answer = await sendOnce(connection, {
    method: 'POST',
    path: `${SANDBOXES}/${encodeURIComponent(id)}/${what}`,
    body: null,
    timeout: connection.timeout,
    headersTimeout: connection.timeout,
  });
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}

/**
 * The members of records that setpoint reads, and no others: keys of sessions and addresses that contain one are dropped. New or missing
 * members are not an error; a record without an id is null. Source: behaviour 3 (the specification leaves the shapes open).
 */
function readSandboxRecord(value: Value): Sandbox | null {
  const id = readId(value);
  if (id === null || !isRecord(value)) return null;
  return {
    id,
    spec: readIdText(value, 'sandbox_spec_id'),
    status: readStateWord(value, 'status')?.toUpperCase() ?? 'UNKNOWN',
    createdAt: readUtcTime(value, 'created_at'),
  };
}

function readSandboxSpec(value: Value): SandboxSpec | null {
  const id = readId(value);
  return id === null ? null : { id };
}

function readConversation(value: Value): Conversation | null {
  const id = readId(value);
  if (id === null || !isRecord(value)) return null;
  return {
    id,
    sandbox: readIdText(value, 'sandbox_id'),
    status: readStateWord(value, 'execution_status')?.toLowerCase() ?? null,
    createdAt: readUtcTime(value, 'created_at'),
  };
}
