import type { Knobs } from '../knobs.ts';
import { isUnderWay, startTaskStage } from '../conversations/start-task-stage.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';
import type { StoredStartTask } from '../store/stored-start-task.ts';

/** Pauses sandboxes, and ends the starts of conversations that are under way in them. */
export function pauseSandboxes(
  before: StoreContents,
  toPause: readonly StoredSandbox[],
  { startMs }: Knobs,
  now: number,
): StoreContents {
  if (toPause.length === 0) return before;
  const failure = { at: now, detail: 'The sandbox was paused' };
  const cutShort = (task: StoredStartTask): boolean => {
    if (task.failure !== null) return false;
    const sandbox = toPause.find(({ id }) => id === task.sandbox?.id);
    return sandbox !== undefined && isUnderWay(startTaskStage(task, sandbox.becomes, startMs, now));
  };
  return {
    ...before,
    sandboxes: before.sandboxes.map((one) =>
      toPause.includes(one) ? { ...one, paused: true } : one,
    ),
    startTasks: before.startTasks.map((task) => (cutShort(task) ? { ...task, failure } : task)),
  };
}
