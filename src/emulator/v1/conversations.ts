import { randomUUID } from 'node:crypto';
import { answerPage, readIds } from '../http/query.ts';
import {
  type Answer,
  createJsonAnswer,
  unauthorized,
  unprocessable,
  detail,
} from '../http/answer.ts';
import type { Call, Service, Routes } from '../call.ts';
import { decodeBody } from '../http/body.ts';
import { type JsonObject, isJsonObject, readOwnMember, type Json } from '../json.ts';
import {
  startTaskStage,
  type StartTaskStage,
  type StoredSandbox,
  type StoredStartTask,
  sandboxStatus,
  type SandboxStatus,
} from './stored.ts';
import type { StoreContents } from '../store/store-document.ts';
import { sandboxRoutes, beginAgain, beginSandbox, agentServerUrl } from './sandboxes.ts';
import type { Knobs } from '../options.ts';
import { readHeldModel } from '../store/held-settings.ts';
import {
  bad,
  checkObject,
  type Member,
  type RuleProblem,
  type Rule,
  flagRule,
  nullable,
  textRule,
} from '../rules.ts';

/** The paths of `/api/v1` next to the settings: of sandboxes and of conversations. */
export const v1Routes: Routes = [
  ...sandboxRoutes,
  ['/api/v1/app-conversations', { GET: getConversations, POST: startConversation }],
  ['/api/v1/app-conversations/search', { GET: searchConversations }],
  ['/api/v1/app-conversations/start-tasks', { GET: getStartTasks }],
];

/**
 * POST /api/v1/app-conversations: answers with the start as it begins, 200 also if it is going to fail. As with settings, the
 * body is read as JSON before the key is checked. Source: specification 4.1; behaviour 3.4.
 */
async function startConversation(call: Call): Promise<Answer> {
  const { service, authorized } = call;
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!authorized) return unauthorized;
  const start = readStartRequest(decoded.value);
  if (!('body' in start)) return unprocessable(start);
  return service.store.update((before) => {
    const now = service.now();
    const { contents, task } = beginStartTask(before, start, service.knobs, now);
    const { stage } = createStartAnswer(task, contents, service, now);
    return { contents, answer: createJsonAnswer(200, startTaskRecord(task, stage)) };
  });
}

/**
 * GET /api/v1/app-conversations: those of `ids`, null for each that does not exist; without ids, the list.
 * Source: specification 4.1; behaviour 3.4.
 */
async function getConversations(call: Call): Promise<Answer> {
  const { service, authorized, query } = call;
  if (!authorized) return unauthorized;
  if (!query.has('ids')) return searchConversations(call);
  const asked = readIds(query);
  if (asked.kind === 'refused') return asked.answer;
  const all = await conversations(service);
  return createJsonAnswer(
    200,
    asked.ids.map((id) => all.find((one) => one['id'] === id) ?? null),
  );
}

/** GET /api/v1/app-conversations/search, newest first. Source: behaviour 3.4. */
async function searchConversations(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  return answerPage(call, () => conversations(call.service));
}

/** GET /api/v1/app-conversations/start-tasks: those of `ids`, null for each that does not exist. Source: behaviour 3.4. */
async function getStartTasks({ service, authorized, query }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const asked = readIds(query);
  if (asked.kind === 'refused') return asked.answer;
  const contents = await service.store.read();
  const now = service.now();
  const records = asked.ids.map((id) => {
    const task = contents.startTasks.find((one) => one.id === id);
    return task
      ? startTaskRecord(task, createStartAnswer(task, contents, service, now).stage)
      : null;
  });
  return createJsonAnswer(200, records);
}

/** The conversations whose start is READY, newest first. */
async function conversations(service: Service): Promise<readonly JsonObject[]> {
  const contents = await service.store.read();
  const now = service.now();
  return contents.startTasks
    .map((task) => createStartAnswer(task, contents, service, now))
    .filter(({ stage }) => stage.status === 'READY')
    .toSorted((one, other) => one.stage.since - other.stage.since)
    .toReversed()
    .flatMap(({ task, stage, sandbox }) =>
      sandbox === undefined ? [] : [conversationRecord(task, sandbox, stage.since, service, now)],
    );
}

/** The start of a conversation, the stage it has reached, and its sandbox. */
function createStartAnswer(
  task: StoredStartTask,
  { sandboxes }: StoreContents,
  { knobs }: Service,
  now: number,
) {
  const sandbox = sandboxes.find(({ id }) => id === task.sandbox?.id);
  const stage = startTaskStage(task, sandbox?.becomes ?? 'missing', knobs.startMs, now);
  return { task, stage, sandbox };
}

/** The sandbox of a new conversation, or the problem that keeps it from having one. */
interface Placement {
  readonly contents: StoreContents;
  readonly sandbox: StoredSandbox | null;
  readonly problem: string | null;
}

/**
 * Begins the start of a conversation. A problem shows in the task later on, but sandboxes are changed at once: a new one is
 * started, and a paused one is resumed although the task then fails because it was paused.
 * Source: behaviour 3.4: "Sandbox not startable".
 */
function beginStartTask(
  before: StoreContents,
  request: StartRequest,
  knobs: Knobs,
  now: number,
): { readonly contents: StoreContents; readonly task: StoredStartTask } {
  const { contents, sandbox, problem } = placeConversation(before, request, knobs, now);
  const { settings } = before;
  const task: StoredStartTask = {
    id: newUuid(),
    conversationId: newUuid(),
    createdAt: now,
    request: request.body,
    title: request.title,
    runs: request.runs,
    sandbox: sandbox && { id: sandbox.id, startedAt: sandbox.startedAt },
    settingsStored: settings !== undefined,
    model: request.model ?? (settings === undefined ? null : readHeldModel(settings)),
    failure: problem === null ? null : { at: now, detail: problem },
  };
  return { contents: { ...contents, startTasks: [...contents.startTasks, task] }, task };
}

function placeConversation(
  before: StoreContents,
  { sandboxId }: StartRequest,
  knobs: Knobs,
  now: number,
): Placement {
  const sandbox = before.sandboxes.find(({ id }) => id === sandboxId);
  if (sandboxId !== null && sandbox === undefined)
    return { contents: before, sandbox: null, problem: `Sandbox not found: ${sandboxId}` };
  if (sandbox !== undefined && !sandbox.paused) return { contents: before, sandbox, problem: null };
  if (sandbox === undefined)
    return { ...beginSandbox(before, knobs.specs[0], knobs, now), problem: null };
  return { ...beginAgain(before, sandbox, now), problem: 'Sandbox not startable' };
}

function newUuid(): string {
  return randomUUID().replaceAll('-', '');
}

/** The request for a new conversation; `body` is all of it, as it was sent. */
interface StartRequest {
  readonly body: JsonObject;
  /** Null to start a new sandbox. */
  readonly sandboxId: string | null;
  readonly title: string | null;
  readonly model: string | null;
  /** True if the agent works on an initial message. */
  readonly runs: boolean;
}

const messageMembers: readonly Member[] = [{ name: 'run', rule: flagRule, absent: false }];
const initialMessage: Rule = (value, at) => checkObject(messageMembers, 'ignored', value, at);
const startMembers: readonly Member[] = [
  { name: 'sandbox_id', rule: nullable(textRule), absent: null },
  { name: 'initial_message', rule: nullable(initialMessage), absent: null },
  { name: 'llm_model', rule: nullable(textRule), absent: null },
  { name: 'title', rule: nullable(textRule), absent: null },
];

/**
 * The start request of a body, or every problem of it. Only the members that make a difference here are checked; a real
 * server knows more of them. Source: specification 4.1; behaviour 3.4, AppConversationStartRequest.
 */
function readStartRequest(body: Json): StartRequest | readonly RuleProblem[] {
  const verdict =
    body === null
      ? bad('missing', ['body'], 'Field required', null)
      : checkObject(startMembers, 'ignored', body, ['body']);
  if (verdict.kind !== 'good' || !isJsonObject(body))
    return verdict.kind === 'bad' ? verdict.problems : [];
  const message = readOwnMember(verdict.value, 'initial_message') ?? null;
  return {
    body,
    sandboxId: textMember(verdict.value, 'sandbox_id'),
    title: textMember(verdict.value, 'title'),
    model: textMember(verdict.value, 'llm_model'),
    runs: isJsonObject(message) && readOwnMember(message, 'run') === true,
  };
}

/** A real server treats an empty text like none. */
function textMember(object: JsonObject, name: string): string | null {
  const value = readOwnMember(object, name);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The start of a conversation in an answer. Source: behaviour 3.4, AppConversationStartTask. */
function startTaskRecord(
  task: StoredStartTask,
  { status, detail, since }: StartTaskStage,
): JsonObject {
  return {
    id: task.id,
    created_by_user_id: null,
    status,
    detail,
    app_conversation_id: status === 'READY' ? task.conversationId : null,
    sandbox_id: status === 'WORKING' ? null : (task.sandbox?.id ?? null),
    agent_server_url: null,
    request: task.request,
    created_at: new Date(task.createdAt).toISOString(),
    updated_at: new Date(since).toISOString(),
  };
}

/**
 * A conversation in an answer; `readyAt` is when its start was done. It has a session key and an address only while its
 * sandbox is RUNNING. Source: behaviour 3.4, AppConversation.
 */
function conversationRecord(
  task: StoredStartTask,
  sandbox: StoredSandbox,
  readyAt: number,
  { knobs, sessionKey }: Service,
  now: number,
): JsonObject {
  const status = sandboxStatus(sandbox, knobs.startMs, now);
  const running = status === 'RUNNING';
  const doneAt = task.runs ? readyAt + knobs.runMs : null;
  const updatedAt = doneAt !== null && doneAt <= now ? doneAt : readyAt;
  return {
    id: task.conversationId,
    created_by_user_id: null,
    sandbox_id: sandbox.id,
    title: task.title ?? `Conversation ${task.conversationId}`,
    llm_model: task.model,
    created_at: new Date(readyAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    sandbox_status: status,
    execution_status: executionStatus(sandbox, status, doneAt, now),
    conversation_url: running
      ? `${agentServerUrl(sandbox.id)}/api/conversations/${task.conversationId}`
      : null,
    session_api_key: running ? sessionKey(sandbox.id) : null,
    parent_conversation_id: null,
    sub_conversation_ids: [],
  };
}

/**
 * The activity of a conversation's agent at a time: it works on its initial message until `doneAt`, null if there is none to work on. The
 * status is null if the agent cannot be reached: its sandbox must be RUNNING, or STARTING for good.
 */
function executionStatus(
  sandbox: StoredSandbox,
  status: SandboxStatus,
  doneAt: number | null,
  now: number,
): 'idle' | 'running' | 'finished' | null {
  const up = status === 'RUNNING' || (status === 'STARTING' && sandbox.becomes === 'starting');
  if (!up) return null;
  if (doneAt === null) return 'idle';
  return now < doneAt ? 'running' : 'finished';
}

/** DELETE of a conversation on releases from 1.9 on. Its sandbox ends with it if no other conversation is there. Source: behaviour 3.4. */
export const appServerDeletion: Routes = [
  ['/api/v1/app-conversations/{id}', { DELETE: (call) => deleteConversation(call, APP_SERVER) }],
];

/** DELETE of a conversation on 0.62.0: the sandbox ends with it, even if other conversations use it. Source: behaviour 3.4. */
export const settingsV0Deletion: Routes = [
  ['/api/conversations/{id}', { DELETE: (call) => deleteConversation(call, SETTINGS_V0) }],
];

interface Deletion {
  readonly done: Answer;
  readonly malformed: Answer;
  readonly absent: Answer;
  /** True if a sandbox with another conversation stays. */
  readonly sparesShared: boolean;
}

const APP_SERVER: Deletion = {
  done: createJsonAnswer(200, { success: true }),
  malformed: detail(400, 'Invalid conversation ID format'),
  absent: detail(404, 'Conversation not found'),
  sparesShared: true,
};

const SETTINGS_V0: Deletion = {
  done: createJsonAnswer(200, true),
  malformed: createJsonAnswer(200, false),
  absent: createJsonAnswer(200, false),
  sparesShared: false,
};

async function deleteConversation(
  { service, authorized, id }: Call,
  { done, malformed, absent, sparesShared }: Deletion,
): Promise<Answer> {
  if (!authorized) return unauthorized;
  const conversation = id.toLowerCase().replaceAll('-', '');
  if (!/^[\da-f]{32}$/.test(conversation)) return malformed;
  return service.store.update((before) => {
    const now = service.now();
    const isReady = (task: StoredStartTask): boolean => {
      const sandbox = before.sandboxes.find(({ id: one }) => one === task.sandbox?.id);
      const becomes = sandbox?.becomes ?? 'missing';
      return startTaskStage(task, becomes, service.knobs.startMs, now).status === 'READY';
    };
    const ready = before.startTasks.filter(isReady);
    const gone = ready.find(({ conversationId }) => conversationId === conversation);
    if (gone === undefined) return { contents: before, answer: absent };
    const others = ready.filter((task) => task !== gone && task.sandbox?.id === gone.sandbox?.id);
    const ends = others.length === 0 || !sparesShared;
    const startTasks = before.startTasks.filter((task) => task !== gone);
    const sandboxes = before.sandboxes.filter((one) => !ends || one.id !== gone.sandbox?.id);
    return { contents: { ...before, startTasks, sandboxes }, answer: done };
  });
}
