import type { Call, Routes } from '../call.ts';
import { type Answer, detail, json, unauthorized } from '../http/answer.ts';
import { type StoredStartTask, startTaskStage } from './stored.ts';

/** DELETE of a conversation on releases from 1.9 on. Its sandbox ends with it if no other conversation is there. Source: behaviour 3.4. */
export const appServerDeletion: Routes = [
  ['/api/v1/app-conversations/{id}', { DELETE: (call) => deleted(call, APP_SERVER) }],
];

/** DELETE of a conversation on 0.62.0: the sandbox ends with it, whoever else is there. Source: behaviour 3.4. */
export const settingsV0Deletion: Routes = [
  ['/api/conversations/{id}', { DELETE: (call) => deleted(call, SETTINGS_V0) }],
];

interface Deletion {
  readonly done: Answer;
  readonly malformed: Answer;
  readonly absent: Answer;
  /** Whether a sandbox stays that has another conversation. */
  readonly sparesShared: boolean;
}

const APP_SERVER: Deletion = {
  done: json(200, { success: true }),
  malformed: detail(400, 'Invalid conversation ID format'),
  absent: detail(404, 'Conversation not found'),
  sparesShared: true,
};

const SETTINGS_V0: Deletion = {
  done: json(200, true),
  malformed: json(200, false),
  absent: json(200, false),
  sparesShared: false,
};

async function deleted(
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
