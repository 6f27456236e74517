import { randomBytes } from 'node:crypto';
import { isUnderWay, startTaskStage } from '../conversations/start-task-stage.ts';
import type { Knobs } from '../options.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox, StoredStartTask } from '../store/stored-records.ts';
import { sandboxStatus } from './sandbox-status.ts';

/** The store after a start or a resume, and the sandbox as it is then. */
export interface Begun {
  readonly contents: StoreContents;
  readonly sandbox: StoredSandbox;
}

/** Starts a new sandbox. Call `makeRoom` before. */
export function beginSandbox(
  before: StoreContents,
  specId: string,
  { becomes }: Knobs,
  now: number,
): Begun {
  const times = { createdAt: now, startedAt: now };
  const sandbox = { id: newSandboxId(), specId, becomes, ...times, paused: false };
  return { contents: { ...before, sandboxes: [...before.sandboxes, sandbox] }, sandbox };
}

/** Starts a paused sandbox again, and leaves any other as it is. Call `makeRoom` before. */
export function beginAgain(before: StoreContents, sandbox: StoredSandbox, now: number): Begun {
  if (!sandbox.paused) return { contents: before, sandbox };
  const begun = { ...sandbox, startedAt: now, paused: false };
  const sandboxes = before.sandboxes.map((one) => (one === sandbox ? begun : one));
  return { contents: { ...before, sandboxes }, sandbox: begun };
}

/**
 * Pauses the oldest RUNNING sandboxes so that one more stays within the limit: every start and every resume does this first.
 * Sandboxes that are STARTING or in ERROR do not count. Undefined if the limit leaves no room for any other.
 * Source: behaviour 3.2, the limit of running sandboxes.
 */
export function makeRoom(
  before: StoreContents,
  knobs: Knobs,
  now: number,
): StoreContents | undefined {
  if (knobs.maxRunning === undefined) return before;
  const others = knobs.maxRunning - 1;
  if (others === 0) return undefined;
  const running = before.sandboxes.filter(
    (sandbox) => sandboxStatus(sandbox, knobs.startMs, now) === 'RUNNING',
  );
  return pauseSandboxes(before, running.slice(0, Math.max(0, running.length - others)), knobs, now);
}

/** The error that a real server reports if there is no room. */
export const noRoom = 'max_num_sandboxes must be greater than 0';

/** Pauses sandboxes, and fails the starts of conversations that are in progress in them. */
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

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const length = 22;

/** 128 random bits in base 62, always 22 characters. */
export function newSandboxId(): string {
  let left = BigInt(`0x${randomBytes(16).toString('hex')}`);
  let id = '';
  while (id.length < length) {
    id = `${digits[Number(left % 62n)] ?? ''}${id}`;
    left /= 62n;
  }
  return id;
}
