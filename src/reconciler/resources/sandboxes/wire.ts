import type { WriteAnswer, WriteFailure } from '../../model/ports.ts';
import { MASK } from '../../model/secret.ts';
import { isList, isRecord, type Value } from '../../model/value.ts';
import type { Connection } from '../../service/connect.ts';
import { notInSnapshot, type ReaderOf, type WriterOf } from '../../service/port.ts';
import { ambiguous, sendOnce } from '../../service/send.ts';
import { ServiceError } from '../../service/service-error.ts';
import { idIn, nameIn, stateIn, timeIn } from '../../service/v1/records.ts';
import { itemsIn, listPages, pageIn } from '../../service/v1/list.ts';
import { getV1, listLimits, startTimeout } from '../../service/v1/request.ts';
import type { Conversation, Sandbox, SandboxSpec } from './sandbox.ts';

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
export const SANDBOX_READER: ReaderOf<SandboxReader> = {
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
        createdAt: timeOf(created_at),
      }));
      return { sandboxes: observed, at: Date.parse(at) };
    },
    specs: async () => specs,
    conversations: async () =>
      conversations?.map(({ created_at, ...one }) => ({ ...one, createdAt: timeOf(created_at) })) ??
      null,
  }),
};

function timeOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

async function listSandboxes(
  connection: Connection,
  signal: AbortSignal | undefined,
  within: number | undefined,
) {
  const limits = listLimits(connection, within);
  const path = `${SANDBOXES}/search`;
  const { items, at } = await listPages(connection, path, sandboxIn, limits, signal);
  return { sandboxes: items, at };
}

async function listSpecs(
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<readonly SandboxSpec[]> {
  return (await listPages(connection, SPECS, specIn, listLimits(connection), signal)).items;
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
    const whole = wholeListIn(connection.place('GET', CONVERSATIONS), json);
    if (whole !== null) return whole;
  }
  const path = status === 422 ? `${CONVERSATIONS}/search` : CONVERSATIONS;
  return (await listPages(connection, path, conversationIn, limits, signal)).items;
}

/** Null if there is a next page. */
function wholeListIn(place: string, json: Value): readonly Conversation[] | null {
  const { items, next } = isList(json) ? { items: json, next: null } : pageIn(place, json);
  return next === null ? itemsIn(place, items, conversationIn) : null;
}

/** `started`: the service named the sandbox. */
export type StartAnswer = { readonly kind: 'started'; readonly id: string } | WriteFailure;

/**
 * Changes the sandboxes of a service, one request for each call, never repeated by itself. A start is not idempotent: sent
 * twice it makes two sandboxes. That a pause or a resume is stored means that it has begun.
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
export const sandboxWriter: WriterOf<SandboxWriter> = ({ connection, send }) => ({
  start: (spec) => send('start sandbox', () => startSandbox(connection, spec)),
  resume: (id) => send('resume sandbox', () => setState(connection, id, 'resume')),
  pause: (id) => send('pause sandbox', () => setState(connection, id, 'pause')),
});

async function startSandbox(connection: Connection, spec: string | null): Promise<StartAnswer> {
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
  const sandbox = sandboxIn(answer.answer);
  if (sandbox !== null) return { kind: 'started', id: sandbox.id };
  const place = connection.place('POST', SANDBOXES);
  return ambiguous(
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
 * The records as far as setpoint reads them, and no further: keys of sessions and addresses that hold one are left
 * behind. What is new or missing is no error; a record without an id is null. Source: behaviour 3 (the specification leaves the
 * shapes open).
 */
function sandboxIn(value: Value): Sandbox | null {
  const id = idIn(value);
  if (id === null || !isRecord(value)) return null;
  return {
    id,
    spec: nameIn(value, 'sandbox_spec_id'),
    status: stateIn(value, 'status')?.toUpperCase() ?? 'UNKNOWN',
    createdAt: timeIn(value, 'created_at'),
  };
}

function specIn(value: Value): SandboxSpec | null {
  const id = idIn(value);
  return id === null ? null : { id };
}

function conversationIn(value: Value): Conversation | null {
  const id = idIn(value);
  if (id === null || !isRecord(value)) return null;
  return {
    id,
    sandbox: nameIn(value, 'sandbox_id'),
    status: stateIn(value, 'execution_status')?.toLowerCase() ?? null,
    createdAt: timeIn(value, 'created_at'),
  };
}
