import { randomUUID } from 'node:crypto';

import { beginAgain, beginSandbox } from '../sandboxes/begin-sandbox.ts';
import { memberOf } from '../json/json.ts';
import type { Knobs } from '../knobs.ts';
import { makeRoom, noRoom } from '../sandboxes/make-room.ts';
import type { StartRequest } from './start-request.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';
import type { StoredStartTask } from '../store/stored-start-task.ts';

/** Where a conversation is to run, and why it cannot, where it cannot. */
interface Place {
  readonly contents: StoreContents;
  readonly sandbox: StoredSandbox | null;
  readonly problem: string | null;
}

/**
 * Begins the start of a conversation. What is wrong shows in the task later on, but what is done to sandboxes is done at
 * once: a new one is started, and a paused one is resumed although its status, looked at before, is held against it.
 * Source: behaviour 3.4: "Sandbox not startable".
 */
export function beginStartTask(
  before: StoreContents,
  request: StartRequest,
  knobs: Knobs,
  now: number,
): { readonly contents: StoreContents; readonly task: StoredStartTask } {
  const { contents, sandbox, problem } = placeOf(before, request, knobs, now);
  const model = before.settings && memberOf(before.settings.values, 'llm_model');
  const task: StoredStartTask = {
    id: newUuid(),
    conversationId: newUuid(),
    createdAt: now,
    request: request.body,
    title: request.title,
    runs: request.runs,
    sandbox: sandbox && { id: sandbox.id, startedAt: sandbox.startedAt },
    settingsStored: before.settings !== undefined,
    model: request.model ?? (typeof model === 'string' ? model : null),
    failure: problem === null ? null : { at: now, detail: problem },
  };
  return { contents: { ...contents, startTasks: [...contents.startTasks, task] }, task };
}

function placeOf(
  before: StoreContents,
  { sandboxId }: StartRequest,
  knobs: Knobs,
  now: number,
): Place {
  const sandbox = before.sandboxes.find(({ id }) => id === sandboxId);
  if (sandboxId !== null && sandbox === undefined)
    return { contents: before, sandbox: null, problem: `Sandbox not found: ${sandboxId}` };
  if (sandbox !== undefined && !sandbox.paused) return { contents: before, sandbox, problem: null };
  const contents = makeRoom(before, knobs, now);
  if (contents === undefined)
    return { contents: before, sandbox: sandbox ?? null, problem: noRoom };
  if (sandbox === undefined)
    return { ...beginSandbox(contents, knobs.specs[0], knobs, now), problem: null };
  return { ...beginAgain(contents, sandbox, now), problem: 'Sandbox not startable' };
}

function newUuid(): string {
  return randomUUID().replaceAll('-', '');
}
