import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { isSandboxOutcome, type SandboxOutcome } from '../options.ts';

/** The record of a sandbox. Its status is computed from it; times are milliseconds since 1970. */
export interface StoredSandbox {
  readonly id: string;
  readonly specId: string;
  readonly becomes: SandboxOutcome;
  readonly createdAt: number;
  /** When its last start or resume began. */
  readonly startedAt: number;
  readonly paused: boolean;
}

export function writeStoredSandbox(sandbox: StoredSandbox): JsonObject {
  return {
    id: sandbox.id,
    sandbox_spec_id: sandbox.specId,
    becomes: sandbox.becomes,
    created_at: BigInt(sandbox.createdAt),
    started_at: BigInt(sandbox.startedAt),
    paused: sandbox.paused,
  };
}

/** The sandbox in a store's text, or undefined if the value is not one. */
export function readStoredSandbox(value: Json): StoredSandbox | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = memberOf(value, 'id');
  const specId = memberOf(value, 'sandbox_spec_id');
  const becomes = memberOf(value, 'becomes');
  const createdAt = storedTime(memberOf(value, 'created_at'));
  const startedAt = storedTime(memberOf(value, 'started_at'));
  const paused = memberOf(value, 'paused');
  if (typeof id !== 'string' || typeof specId !== 'string' || !isSandboxOutcome(becomes))
    return undefined;
  if (createdAt === undefined || startedAt === undefined || typeof paused !== 'boolean')
    return undefined;
  return { id, specId, becomes, createdAt, startedAt, paused };
}

/**
 * The record of a conversation's start, and of the conversation once the start is over. Its stage is computed from it; times
 * are milliseconds since 1970.
 */
export interface StoredStartTask {
  readonly id: string;
  readonly conversationId: string;
  readonly createdAt: number;
  /** The request's body, as it was sent. */
  readonly request: JsonObject;
  readonly title: string | null;
  /** Whether the agent works on an initial message. */
  readonly runs: boolean;
  /** The sandbox, and when the start that the task waits for began; null if the task has no sandbox. */
  readonly sandbox: { readonly id: string; readonly startedAt: number } | null;
  /** Whether settings were stored at the time of the request, and the model that it got then. */
  readonly settingsStored: boolean;
  readonly model: string | null;
  /** When and why it failed; null if it did not. */
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

/** The task in a store's text, or undefined if the value is not one. */
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

/** The last millisecond that a Date can hold. */
const last = 8_640_000_000_000_000n;

/** A stored time, in milliseconds since 1970, or undefined if the value is not one. */
export function storedTime(value: Json | undefined): number | undefined {
  return typeof value === 'bigint' && value >= 0n && value <= last ? Number(value) : undefined;
}
