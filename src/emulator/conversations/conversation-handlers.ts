import { answerPage, readIds } from '../http/query.ts';
import { type Answer, json, unauthorized, unprocessable } from '../http/answer.ts';
import { beginStartTask } from './begin-start-task.ts';
import type { Call, Service } from '../call.ts';
import { conversationRecord, startTaskRecord } from './conversation-records.ts';
import { decodeBody } from '../http/body.ts';
import type { JsonObject } from '../json.ts';
import { readStartRequest } from './start-request.ts';
import { startTaskStage, type StartTaskStage } from './start-task-stage.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox, StoredStartTask } from '../store/stored-records.ts';

/** The start of a conversation, the stage it has reached, and its sandbox. */
interface Start {
  readonly task: StoredStartTask;
  readonly stage: StartTaskStage;
  readonly sandbox: StoredSandbox | undefined;
}

/**
 * POST /api/v1/app-conversations: answers with the start as it begins, 200 also if it is going to fail. As with settings, the
 * body is read as JSON before the key is checked. Source: specification 4.1; behaviour 3.4.
 */
export async function startConversation(call: Call): Promise<Answer> {
  const { service, authorized } = call;
  const decoded = decodeBody(call.body, call.contentType);
  if (decoded.kind === 'refused') return decoded.answer;
  if (!authorized) return unauthorized;
  const reading = readStartRequest(decoded.value);
  if (reading.kind === 'bad') return unprocessable(reading.problems);
  return service.store.update((before) => {
    const now = service.now();
    const { contents, task } = beginStartTask(before, reading.request, service.knobs, now);
    const { stage } = startOf(task, contents, service, now);
    return { contents, answer: json(200, startTaskRecord(task, stage)) };
  });
}

/**
 * GET /api/v1/app-conversations: those of `ids`, null for each that does not exist; without ids, the list.
 * Source: specification 4.1: it lists; behaviour 3.4: the recorded server answers 422 without ids, which the option
 * `requireIds` turns on.
 */
export async function getConversations(call: Call): Promise<Answer> {
  const { service, authorized, query } = call;
  if (!authorized) return unauthorized;
  if (!service.knobs.requireIds && !query.has('ids')) return searchConversations(call);
  const asked = readIds(query);
  if (asked.kind === 'refused') return asked.answer;
  const all = await conversations(service);
  return json(
    200,
    asked.ids.map((id) => all.find((one) => one['id'] === id) ?? null),
  );
}

/** GET /api/v1/app-conversations/search, newest first. Source: behaviour 3.4. */
export async function searchConversations(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  return answerPage(call, () => conversations(call.service));
}

/** GET /api/v1/app-conversations/start-tasks: those of `ids`, null for each that does not exist. Source: behaviour 3.4. */
export async function getStartTasks({ service, authorized, query }: Call): Promise<Answer> {
  if (!authorized) return unauthorized;
  const asked = readIds(query);
  if (asked.kind === 'refused') return asked.answer;
  const contents = await service.store.read();
  const now = service.now();
  const records = asked.ids.map((id) => {
    const task = contents.startTasks.find((one) => one.id === id);
    return task ? startTaskRecord(task, startOf(task, contents, service, now).stage) : null;
  });
  return json(200, records);
}

/** The conversations whose start is READY, newest first. */
async function conversations(service: Service): Promise<readonly JsonObject[]> {
  const contents = await service.store.read();
  const now = service.now();
  return contents.startTasks
    .map((task) => startOf(task, contents, service, now))
    .filter(({ stage }) => stage.status === 'READY')
    .toSorted((one, other) => one.stage.since - other.stage.since)
    .toReversed()
    .flatMap(({ task, stage, sandbox }) =>
      sandbox === undefined ? [] : [conversationRecord(task, sandbox, stage.since, service, now)],
    );
}

function startOf(
  task: StoredStartTask,
  { sandboxes }: StoreContents,
  { knobs }: Service,
  now: number,
): Start {
  const sandbox = sandboxes.find(({ id }) => id === task.sandbox?.id);
  const stage = startTaskStage(task, sandbox?.becomes ?? 'missing', knobs.startMs, now);
  return { task, stage, sandbox };
}
