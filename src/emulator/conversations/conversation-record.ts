import type { Service } from '../call.ts';
import { executionStatus } from './execution-status.ts';
import type { JsonObject } from '../json/json.ts';
import { agentServerUrl } from '../sandboxes/sandbox-record.ts';
import { sandboxStatus } from '../sandboxes/sandbox-status.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';
import type { StoredStartTask } from '../store/stored-start-task.ts';

/**
 * A conversation, which its start left behind at `readyAt`, as it is answered. It has a session key and an address only
 * while its sandbox is RUNNING. Source: behaviour 3.4, AppConversation.
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
