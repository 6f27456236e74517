import { randomUUID } from 'node:crypto';

import { beginAgain, beginSandbox, makeRoom, noRoom } from '../sandboxes/sandbox-changes.ts';
import type { Knobs } from '../options.ts';
import type { StartRequest } from './start-request.ts';
import { heldModel } from '../store/held-settings.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox, StoredStartTask } from '../store/stored-records.ts';

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
export function beginStartTask(
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
    model: request.model ?? (settings === undefined ? null : heldModel(settings)),
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
