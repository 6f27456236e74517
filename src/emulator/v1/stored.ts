import { isJsonList, isJsonObject, type Json, type JsonObject, readOwnMember } from '../json.ts';
import { isServedState, type SandboxOutcome } from '../options.ts';

/** The stored things next to settings and secrets, oldest first. */
export interface V1Lists {
  readonly sandboxes: readonly StoredSandbox[];
  readonly startTasks: readonly StoredStartTask[];
}

export const noV1Lists: V1Lists = { sandboxes: [], startTasks: [] };

/** The lists as members of a store's text. */
export function writeV1Lists({ sandboxes, startTasks }: V1Lists): JsonObject {
  return {
    sandboxes: sandboxes.map(writeStoredSandbox),
    start_tasks: startTasks.map(writeStoredStartTask),
  };
}

/** The lists in a store's text, or those parts of it that do not belong to them. Old stores have no such lists. */
export function readV1Lists(document: JsonObject): V1Lists | string {
  const sandboxes = parseStoredList(readOwnMember(document, 'sandboxes') ?? [], readStoredSandbox);
  if (sandboxes === undefined) return 'sandboxes';
  const startTasks = parseStoredList(
    readOwnMember(document, 'start_tasks') ?? [],
    readStoredStartTask,
  );
  return startTasks === undefined ? 'start tasks' : { sandboxes, startTasks };
}

/** A stored list, or undefined if it, or an item of it, is not what was written. */
export function parseStoredList<T>(
  value: Json,
  read: (item: Json) => T | undefined,
): readonly T[] | undefined {
  if (!isJsonList(value)) return undefined;
  const items = value.map(read).filter((item) => item !== undefined);
  return items.length < value.length ? undefined : items;
}

/** The record of a sandbox. Its status is computed from it; times are milliseconds since 1970. */
export interface StoredSandbox {
  readonly id: string;
  readonly specId: string;
  readonly becomes: SandboxOutcome;
  readonly createdAt: number;
  /** The beginning of its last start or resume. */
  readonly startedAt: number;
  readonly paused: boolean;
}

function writeStoredSandbox(sandbox: StoredSandbox): JsonObject {
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
function readStoredSandbox(value: Json): StoredSandbox | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = readOwnMember(value, 'id');
  const specId = readOwnMember(value, 'sandbox_spec_id');
  const becomes = readOwnMember(value, 'becomes');
  const createdAt = parseStoredTime(readOwnMember(value, 'created_at'));
  const startedAt = parseStoredTime(readOwnMember(value, 'started_at'));
  const paused = readOwnMember(value, 'paused');
  if (typeof id !== 'string' || typeof specId !== 'string' || !isServedState(becomes))
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
  /** True if the agent works on an initial message. */
  readonly runs: boolean;
  /** The sandbox, and when the start that the task waits for began; null if the task has no sandbox. */
  readonly sandbox: { readonly id: string; readonly startedAt: number } | null;
  /** True if settings were stored at the time of the request, and the model that it got then. */
  readonly settingsStored: boolean;
  readonly model: string | null;
  /** The time and the reason of its failure; null if it did not fail. */
  readonly failure: { readonly at: number; readonly detail: string } | null;
}

function writeStoredStartTask(task: StoredStartTask): JsonObject {
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
function readStoredStartTask(value: Json): StoredStartTask | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = readOwnMember(value, 'id');
  const conversationId = readOwnMember(value, 'conversation_id');
  const createdAt = parseStoredTime(readOwnMember(value, 'created_at'));
  const request = readOwnMember(value, 'request');
  const title = readOwnMember(value, 'title');
  const runs = readOwnMember(value, 'runs');
  const sandbox = readSandbox(readOwnMember(value, 'sandbox'));
  const settingsStored = readOwnMember(value, 'settings_stored');
  const model = readOwnMember(value, 'llm_model');
  const failure = readFailure(readOwnMember(value, 'failure'));
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
  const id = readOwnMember(value, 'id');
  const startedAt = parseStoredTime(readOwnMember(value, 'started_at'));
  return typeof id === 'string' && startedAt !== undefined ? { id, startedAt } : undefined;
}

function readFailure(value: Json | undefined): StoredStartTask['failure'] | undefined {
  if (value === null) return null;
  if (value === undefined || !isJsonObject(value)) return undefined;
  const at = parseStoredTime(readOwnMember(value, 'at'));
  const detail = readOwnMember(value, 'detail');
  return at !== undefined && typeof detail === 'string' ? { at, detail } : undefined;
}

/** The last millisecond that a Date can hold. */
const last = 8_640_000_000_000_000n;

/** A stored time, in milliseconds since 1970, or undefined if the value is not one. */
function parseStoredTime(value: Json | undefined): number | undefined {
  return typeof value === 'bigint' && value >= 0n && value <= last ? Number(value) : undefined;
}

export type SandboxStatus = 'STARTING' | 'RUNNING' | 'PAUSED' | 'ERROR' | 'MISSING';

const settled: Readonly<Record<SandboxOutcome, SandboxStatus>> = {
  running: 'RUNNING',
  flapping: 'RUNNING',
  starting: 'STARTING',
  error: 'ERROR',
  missing: 'MISSING',
};

/** A sandbox's status at a time: a function of the stored record, how long a start takes, and the time. */
export function sandboxStatus(sandbox: StoredSandbox, startMs: number, now: number): SandboxStatus {
  const { becomes, startedAt, paused } = sandbox;
  if (paused) return 'PAUSED';
  if (now >= computeSettleTime(becomes, startedAt, startMs)) return settled[becomes];
  return now < startedAt + startMs ? 'STARTING' : 'ERROR';
}

/** Returns when a sandbox that was started at `startedAt` reaches its final status. */
export function computeSettleTime(
  becomes: SandboxOutcome,
  startedAt: number,
  startMs: number,
): number {
  return startedAt + (becomes === 'flapping' ? 2 * startMs : startMs);
}

const steps = [
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'STARTING_CONVERSATION',
] as const;

/** The status of a start task, since when, and for ERROR the reason. */
export interface StartTaskStage {
  readonly status: 'WORKING' | 'WAITING_FOR_SANDBOX' | (typeof steps)[number] | 'READY' | 'ERROR';
  readonly since: number;
  readonly detail: string | null;
}

/**
 * The progress of a conversation's start at a time: a function of the stored task, the status that its sandbox reaches, the length of a
 * start, and the time. Each step takes a fifth of a start; the wait for the sandbox lasts until it is up.
 */
export function startTaskStage(
  task: StoredStartTask,
  becomes: SandboxOutcome,
  startMs: number,
  now: number,
): StartTaskStage {
  const first = stage('WORKING', task.createdAt);
  const all = untilFailure(task, stages(task, becomes, startMs), task.createdAt + startMs / 5);
  return [first, ...all].findLast(({ since }) => since <= now) ?? first;
}

export function isStarting({ status }: StartTaskStage): boolean {
  return status !== 'READY' && status !== 'ERROR';
}

function stages(
  { createdAt, sandbox, settingsStored }: StoredStartTask,
  becomes: SandboxOutcome,
  startMs: number,
): readonly StartTaskStage[] {
  if (sandbox === null) return [];
  const step = startMs / 5;
  const waiting = stage('WAITING_FOR_SANDBOX', createdAt + step);
  const upAt = Math.max(waiting.since, computeSettleTime(becomes, sandbox.startedAt, startMs));
  if (becomes === 'error' || becomes === 'missing')
    return [waiting, createFailedStage(upAt, `Sandbox status: ${becomes.toUpperCase()}`)];
  const taken = steps.map((status, index) => stage(status, upAt + index * step));
  // The settings are checked only now: the sandbox that was started for the conversation stays.
  if (!settingsStored)
    return [
      waiting,
      ...taken.slice(0, -1),
      createFailedStage(upAt + 3 * step, 'No settings are stored'),
    ];
  return [waiting, ...taken, stage('READY', upAt + steps.length * step)];
}

function untilFailure(
  { failure }: StoredStartTask,
  planned: readonly StartTaskStage[],
  earliest: number,
): readonly StartTaskStage[] {
  if (failure === null) return planned;
  const end = createFailedStage(Math.max(failure.at, earliest), failure.detail);
  return [...planned.filter(({ since }) => since < end.since), end];
}

function stage(status: StartTaskStage['status'], since: number): StartTaskStage {
  return { status, since, detail: null };
}

function createFailedStage(since: number, detail: string): StartTaskStage {
  return { status: 'ERROR', since, detail };
}
