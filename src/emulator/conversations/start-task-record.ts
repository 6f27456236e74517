import type { JsonObject } from '../json/json.ts';
import type { StartTaskStage } from './start-task-stage.ts';
import type { StoredStartTask } from '../store/stored-start-task.ts';

/** A conversation's start as it is answered. Source: behaviour 3.4, AppConversationStartTask. */
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
