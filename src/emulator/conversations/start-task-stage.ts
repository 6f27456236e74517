import type { SandboxOutcome } from '../options.ts';
import { settledAt } from '../sandboxes/sandbox-status.ts';
import type { StoredStartTask } from '../store/stored-records.ts';

const steps = [
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'STARTING_CONVERSATION',
] as const;

/** The status of a start task, since when, and for ERROR the reason. */
export interface StartTaskStage {
  readonly status: 'WORKING' | 'WAITING_FOR_SANDBOX' | (typeof steps)[number] | 'READY' | 'ERROR';
  readonly since: number;
  readonly detail: string | null;
}

/**
 * How far a conversation's start has come at a time: a function of the stored task, the status that its sandbox reaches, how
 * long a start takes, and the time. Each step takes a fifth of a start; the wait for the sandbox lasts until it is up.
 */
export function startTaskStage(
  task: StoredStartTask,
  becomes: SandboxOutcome,
  startMs: number,
  now: number,
): StartTaskStage {
  const first = stage('WORKING', task.createdAt);
  const all = untilFailure(task, stages(task, becomes, startMs), task.createdAt + startMs / 5);
  return [first, ...all].findLast(({ since }) => since <= now) ?? first;
}

export function isUnderWay({ status }: StartTaskStage): boolean {
  return status !== 'READY' && status !== 'ERROR';
}

function stages(
  { createdAt, sandbox, settingsStored }: StoredStartTask,
  becomes: SandboxOutcome,
  startMs: number,
): readonly StartTaskStage[] {
  if (sandbox === null) return [];
  const step = startMs / 5;
  const waiting = stage('WAITING_FOR_SANDBOX', createdAt + step);
  const upAt = Math.max(waiting.since, settledAt(becomes, sandbox.startedAt, startMs));
  if (becomes === 'error' || becomes === 'missing')
    return [waiting, failed(upAt, `Sandbox status: ${becomes.toUpperCase()}`)];
  const taken = steps.map((status, index) => stage(status, upAt + index * step));
  // The settings are checked only now: the sandbox that was started for the conversation stays.
  if (!settingsStored)
    return [waiting, ...taken.slice(0, -1), failed(upAt + 3 * step, 'No settings are stored')];
  return [waiting, ...taken, stage('READY', upAt + steps.length * step)];
}

function untilFailure(
  { failure }: StoredStartTask,
  planned: readonly StartTaskStage[],
  earliest: number,
): readonly StartTaskStage[] {
  if (failure === null) return planned;
  const end = failed(Math.max(failure.at, earliest), failure.detail);
  return [...planned.filter(({ since }) => since < end.since), end];
}

function stage(status: StartTaskStage['status'], since: number): StartTaskStage {
  return { status, since, detail: null };
}

function failed(since: number, detail: string): StartTaskStage {
  return { status: 'ERROR', since, detail };
}
