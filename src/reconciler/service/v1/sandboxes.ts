import type {
  SandboxActuator,
  SandboxObserver,
  StartAnswer,
  WriteAnswer,
} from '../../model/ports.ts';
import type { Conversation } from '../../model/sandbox.ts';
import { isList, type Value } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { ambiguous, sendOnce } from '../send.ts';
import { ServiceError } from '../service-error.ts';
import { conversationIn, sandboxIn, specIn } from './records.ts';
import { itemsIn, listPages, pageIn } from './list.ts';
import { getV1, listLimits, startTimeout } from './request.ts';

const SANDBOXES = '/api/v1/sandboxes';
const SPECS = '/api/v1/sandbox-specs/search';
const CONVERSATIONS = '/api/v1/app-conversations';

/**
 * Reads the sandboxes of a service, their specs and the conversations in them, every list to its end. Throws the errors of
 * settingsObserver. Source: specification 4.1; behaviour 3.2.
 */
export function sandboxObserver(connection: Connection): SandboxObserver {
  return {
    sandboxes: async (signal, within) => {
      const limits = listLimits(connection, within);
      const { items, at } = await listPages(
        connection,
        `${SANDBOXES}/search`,
        sandboxIn,
        limits,
        signal,
      );
      return { sandboxes: items, at };
    },
    specs: async (signal) =>
      (await listPages(connection, SPECS, specIn, listLimits(connection), signal)).items,
    conversations: (signal) => conversations(connection, signal),
  };
}

/**
 * GET /app-conversations lists, by the specification. Real servers require ids there (422) and list under
 * /search; others answer a whole list, or a first page.
 */
async function conversations(
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

/**
 * Starts, resumes and pauses the sandboxes of a service: one POST for each call. The spec of a start goes into the query:
 * in a body it would be ignored, and the default be started. Source: specification 4.1; behaviour 3.2.
 */
export function sandboxActuator(connection: Connection): SandboxActuator {
  return {
    start: (spec) => startSandbox(connection, spec),
    resume: (id) => setState(connection, id, 'resume'),
    pause: (id) => setState(connection, id, 'pause'),
  };
}

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
