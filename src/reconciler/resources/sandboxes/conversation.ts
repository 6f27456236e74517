import { asSetpointError, SetpointError } from '../../model/error.ts';
import type { Clock, WriteFailure } from '../../model/ports.ts';
import type { SmokeStep } from '../../model/documents.gen.ts';
import { isList, isRecord, type Value } from '../../model/value.ts';
import type { Connection } from '../../service/connect.ts';
import { toAmbiguousWrite, sendOnce } from '../../service/request.ts';
import { ServiceError } from '../../service/service-error.ts';
import { readId, readIdText, readStateWord } from '../../service/v1/list.ts';
import { getV1, listLimits, startTimeout } from '../../service/v1/request.ts';
import { findInterruption, unlessAbandoned } from '../../reconcile/interruption.ts';
import { FIRST_PAUSE, nextPause } from '../../reconcile/pause.ts';
import { withoutStop } from '../../model/wording.ts';
import type { DialectName } from '../../model/dialect.ts';
import type { Conversation } from './wire.ts';

/** The progress of a conversation that is starting. `status` is the service's word in capitals: READY and ERROR are its ends. */
export interface StartTask {
  readonly id: string;
  readonly status: string;
  readonly conversation: string | null;
  readonly sandbox: string | null;
}

/** Starts conversations and follows them. A start is sent once. */
export interface Conversing {
  start(
    message: string,
  ): Promise<{ readonly kind: 'begun'; readonly task: StartTask } | WriteFailure>;
  task(id: string, signal?: AbortSignal): Promise<StartTask>;
}

export interface FollowInput {
  readonly conversing: Conversing;
  readonly message: string;
  readonly clock: Clock;
  /** Milliseconds from the request to READY or ERROR. */
  readonly wait: number;
  readonly onStep: (step: SmokeStep) => void;
  readonly signal?: AbortSignal | undefined;
  readonly abandon?: AbortSignal | undefined;
}

/** The progress of a conversation; `error` is null if it is ready. */
export interface ConversationProgress {
  readonly steps: readonly SmokeStep[];
  readonly conversation: string | null;
  readonly sandbox: string | null;
  readonly error: SetpointError | null;
}

/**
 * Starts one conversation and follows its task until it reads READY or ERROR. The request is sent once, whatever the answer: a
 * second one would be a second conversation. Never throws.
 */
export async function followConversation(input: FollowInput): Promise<ConversationProgress> {
  const { conversing, clock, wait, signal, abandon } = input;
  const begun = clock.monotonic();
  const seconds = (): number => Math.round((clock.monotonic() - begun) / 100) / 10;
  const steps: SmokeStep[] = [];
  let task: StartTask | null = null;
  const ended = (error: SetpointError | null): ConversationProgress => ({
    steps,
    conversation: task?.conversation ?? null,
    sandbox: task?.sandbox ?? null,
    error,
  });
  try {
    const answer = await unlessAbandoned(conversing.start(input.message), abandon);
    if (answer.kind === 'not-applied') return ended(answer.error);
    if (answer.kind === 'ambiguous') return ended(conversationMaybeStarted(answer.error));
    task = answer.task;
    for (let pause = FIRST_PAUSE; ; pause = nextPause(pause)) {
      const { status } = task;
      if (steps.at(-1)?.status !== status) {
        steps.push({ status, seconds: seconds() });
        input.onStep({ status, seconds: seconds() });
      }
      if (status === 'READY') return ended(null);
      if (status === 'ERROR') return ended(conversationFailed(steps));
      const stopped = findInterruption(signal);
      if (stopped !== null) return ended(stopped);
      const left = wait - (clock.monotonic() - begun);
      if (left <= 0) return ended(conversationNotReady(status));
      await clock.sleep(Math.min(pause, left), signal);
      task = await unlessAbandoned(conversing.task(task.id), abandon);
    }
  } catch (thrown) {
    return ended(asSetpointError(thrown));
  }
}

/** The service's own account of the failure may quote a key: the error names the step it failed at, and no more. */
function conversationFailed(steps: readonly SmokeStep[]): SetpointError {
  const before = steps.at(-2);
  const after = before === undefined ? '' : `, after ${before.status}`;
  return new SetpointError(
    'check-failed',
    `The conversation did not start: its task ended with ERROR${after}.`,
    {
      hint: "Check that it has a model and its key stored (setpoint get settings), then the service's logs.",
    },
  );
}

function conversationNotReady(status: string): SetpointError {
  return new SetpointError(
    'timed-out',
    `The conversation was not ready in time: its status is ${status}.`,
    {
      hint: 'It may still start: see setpoint get conversations, or wait longer with --wait.',
    },
  );
}

function conversationMaybeStarted(error: SetpointError): SetpointError {
  return new SetpointError(
    'state-unknown',
    `A conversation may or may not have been started; it was not requested again. ${error.message}`,
    { hint: 'Check with setpoint get conversations.', cause: error },
  );
}

const CONVERSATIONS = '/api/v1/app-conversations';
const TASKS = `${CONVERSATIONS}/start-tasks`;

/** Starts conversations, one POST for each call, and reads how far a start has come. Source: specification 4.1; behaviour 3.4. */
export function conversing(connection: Connection): Conversing {
  return {
    start: async (message) => {
      const timeout = startTimeout(connection);
      const content = [{ type: 'text', text: message }];
      const answer = await sendOnce(connection, {
        method: 'POST',
        path: CONVERSATIONS,
        body: JSON.stringify({ initial_message: { role: 'user', content, run: true } }),
        timeout,
        headersTimeout: timeout,
      });
      if (answer.kind !== 'done') return answer;
      const task = readStartTask(answer.answer);
      if (task !== null) return { kind: 'begun', task };
      const place = connection.place('POST', CONVERSATIONS);
      return toAmbiguousWrite(
        new ServiceError('bad-response', `${place} was answered without the id of a task.`),
      );
    },
    task: (id, signal) => task(connection, id, signal),
  };
}

async function task(
  connection: Connection,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StartTask> {
  const path = `${TASKS}?ids=${encodeURIComponent(id)}`;
  const { json } = await getV1(connection, path, listLimits(connection), signal);
  const [first] = isList(json) ? json : [];
  const found = first === undefined ? null : readStartTask(first);
  if (found !== null) return found;
  const place = connection.place('GET', TASKS);
  throw new ServiceError('bad-response', `${place} was answered without the requested task.`);
}

function readStartTask(value: Value): StartTask | null {
  const id = readId(value);
  if (id === null || !isRecord(value)) return null;
  return {
    id,
    status: readStateWord(value, 'status')?.toUpperCase() ?? 'UNKNOWN',
    conversation: readIdText(value, 'app_conversation_id'),
    sandbox: readIdText(value, 'sandbox_id'),
  };
}

export interface RemovalInput {
  readonly conversation: string;
  readonly sandbox: string | null;
  /** The sandboxes that were there right before the conversation was started; null if they could not be listed. */
  readonly before: ReadonlySet<string> | null;
  /** The conversations of the service, each time as they are now. */
  readonly conversations: () => Promise<readonly Conversation[] | null>;
  /** Sends the request that removes it; resolves to why that had no effect, or null. */
  readonly remove: (conversation: string) => Promise<string | null>;
}

/**
 * Removes a conversation that was started here, together with the sandbox that was started for it. Resolves to why it remains,
 * as a sentence; null if the service does not list it any more. Never throws.
 *
 * Every server deletes the sandbox of a conversation along with it: 0.62.0 always, later ones if no other conversation uses
 * it. So nothing is sent if the sandbox was there before, or has another conversation. Source: behaviour 3.4.
 */
export async function removeConversation(input: RemovalInput): Promise<string | null> {
  const { conversation, sandbox, before } = input;
  if (before === null || sandbox === null)
    return remains('its sandbox may have been there before, and would be deleted with it');
  if (before.has(sandbox))
    return remains('its sandbox was there before, and would be deleted with it');
  try {
    const listed = await input.conversations();
    if (listed === null) return remains('the service does not list its conversations');
    if (listed.some((one) => one.sandbox === sandbox && one.id !== conversation))
      return remains('its sandbox has another conversation by now, and might be deleted with it');
    const failure = await input.remove(conversation);
    const left = await input.conversations();
    if (left?.every(({ id }) => id !== conversation) === true) return null;
    return remains(failure ?? 'the service still lists it');
  } catch (thrown) {
    return remains(
      `it could not be removed for certain: ${withoutStop(asSetpointError(thrown).message)}`,
    );
  }
}

function remains(reason: string): string {
  return `The conversation was not removed: ${reason}. Delete it where its users see it, if its sandbox may go.`;
}

/** The path that deletes a conversation; null if a dialect starts none. */
const CONVERSATION: Readonly<Record<DialectName, string | null>> = {
  'settings-v0': '/api/conversations',
  'app-server': '/api/v1/app-conversations',
  'agent-server': null,
};

/** Deletes a conversation with one request. The answer is not sufficient: one of these servers answers 200 for everything. */
export function conversationRemover(
  connection: Connection,
  dialect: DialectName,
): RemovalInput['remove'] {
  return async (id) => {
    const path = CONVERSATION[dialect];
    if (path === null) return `a service of ${dialect} has no request for that`;
    const timeout = startTimeout(connection);
    const answer = await sendOnce(connection, {
      method: 'DELETE',
      path: `${path}/${encodeURIComponent(id)}`,
      body: null,
      timeout,
      headersTimeout: timeout,
    });
    return answer.kind === 'done' ? null : withoutStop(answer.error.message);
  };
}
