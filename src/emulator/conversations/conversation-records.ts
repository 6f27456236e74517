import type { Service } from '../call.ts';
import type { JsonObject } from '../json.ts';
import { agentServerUrl } from '../sandboxes/sandbox-record.ts';
import { sandboxStatus, type SandboxStatus } from '../sandboxes/sandbox-status.ts';
import type { StoredSandbox, StoredStartTask } from '../store/stored-records.ts';
import type { StartTaskStage } from './start-task-stage.ts';

/** The start of a conversation in an answer. Source: behaviour 3.4, AppConversationStartTask. */
export function startTaskRecord(
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
export function conversationRecord(
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

export type ExecutionStatus = 'idle' | 'running' | 'finished';

/**
 * What the agent of a conversation does at a time: it works on its initial message until `doneAt`, null if there is none to
 * work on. The status is null if the agent cannot be reached: its sandbox must be RUNNING, or STARTING for good.
 */
export function executionStatus(
  sandbox: StoredSandbox,
  status: SandboxStatus,
  doneAt: number | null,
  now: number,
): ExecutionStatus | null {
  const up = status === 'RUNNING' || (status === 'STARTING' && sandbox.becomes === 'starting');
  if (!up) return null;
  if (doneAt === null) return 'idle';
  return now < doneAt ? 'running' : 'finished';
}
