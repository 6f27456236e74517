import { isJsonObject, memberOf, type Json, type JsonObject } from '../json/json.ts';
import { storedTime } from './stored-time.ts';

/**
 * What is known of a conversation's start, and of the conversation once the start is over. How far it has come is
 * computed from it; times are milliseconds since 1970.
 */
export interface StoredStartTask {
  readonly id: string;
  readonly conversationId: string;
  readonly createdAt: number;
  /** The body that asked for it, as it was sent. */
  readonly request: JsonObject;
  readonly title: string | null;
  /** Whether the agent is to run on an initial message. */
  readonly runs: boolean;
  /** The sandbox, and when the start of it that the task waits for began; null where it got none. */
  readonly sandbox: { readonly id: string; readonly startedAt: number } | null;
  /** Whether there were settings when it was asked for, and the model that it got then. */
  readonly settingsStored: boolean;
  readonly model: string | null;
  /** When and why it ended before its time; null where it did not. */
  readonly failure: { readonly at: number; readonly detail: string } | null;
}

export function writeStoredStartTask(task: StoredStartTask): JsonObject {
  const { sandbox, failure } = task;
  return {
    id: task.id,
    conversation_id: task.conversationId,
    created_at: BigInt(task.createdAt),
    request: task.request,
    title: task.title,
    runs: task.runs,
    sandbox: sandbox && { id: sandbox.id, started_at: BigInt(sandbox.startedAt) },
    settings_stored: task.settingsStored,
    llm_model: task.model,
    failure: failure && { at: BigInt(failure.at), detail: failure.detail },
  };
}

/** The task of a store's text, or undefined where the value is not what is written there. */
export function readStoredStartTask(value: Json): StoredStartTask | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = memberOf(value, 'id');
  const conversationId = memberOf(value, 'conversation_id');
  const createdAt = storedTime(memberOf(value, 'created_at'));
  const request = memberOf(value, 'request');
  const title = memberOf(value, 'title');
  const runs = memberOf(value, 'runs');
  const sandbox = readSandbox(memberOf(value, 'sandbox'));
  const settingsStored = memberOf(value, 'settings_stored');
  const model = memberOf(value, 'llm_model');
  const failure = readFailure(memberOf(value, 'failure'));
  if (!isId(id) || !isId(conversationId) || createdAt === undefined) return undefined;
  if (request === undefined || !isJsonObject(request)) return undefined;
  if (sandbox === undefined || failure === undefined) return undefined;
  if (typeof settingsStored !== 'boolean' || typeof runs !== 'boolean') return undefined;
  if (!isTextOrNull(title) || !isTextOrNull(model)) return undefined;
  const asked = { id, conversationId, createdAt, request, title, runs };
  return { ...asked, sandbox, settingsStored, model, failure };
}

function isId(value: Json | undefined): value is string {
  return typeof value === 'string' && /^[\da-f]{32}$/.test(value);
}

function isTextOrNull(value: Json | undefined): value is string | null {
  return value === null || typeof value === 'string';
}

function readSandbox(value: Json | undefined): StoredStartTask['sandbox'] | undefined {
  if (value === null) return null;
  if (value === undefined || !isJsonObject(value)) return undefined;
  const id = memberOf(value, 'id');
  const startedAt = storedTime(memberOf(value, 'started_at'));
  return typeof id === 'string' && startedAt !== undefined ? { id, startedAt } : undefined;
}

function readFailure(value: Json | undefined): StoredStartTask['failure'] | undefined {
  if (value === null) return null;
  if (value === undefined || !isJsonObject(value)) return undefined;
  const at = storedTime(memberOf(value, 'at'));
  const detail = memberOf(value, 'detail');
  return at !== undefined && typeof detail === 'string' ? { at, detail } : undefined;
}
