import type { SandboxOutcome } from '../options.ts';
import type { StoredSandbox } from '../store/stored-records.ts';

export type SandboxStatus = 'STARTING' | 'RUNNING' | 'PAUSED' | 'ERROR' | 'MISSING';

const settled: Readonly<Record<SandboxOutcome, SandboxStatus>> = {
  running: 'RUNNING',
  flapping: 'RUNNING',
  starting: 'STARTING',
  error: 'ERROR',
  missing: 'MISSING',
};

/** A sandbox's status at a time: a function of the stored record, how long a start takes, and the time. */
export function sandboxStatus(sandbox: StoredSandbox, startMs: number, now: number): SandboxStatus {
  const { becomes, startedAt, paused } = sandbox;
  if (paused) return 'PAUSED';
  if (now >= settledAt(becomes, startedAt, startMs)) return settled[becomes];
  return now < startedAt + startMs ? 'STARTING' : 'ERROR';
}

/** When a sandbox that was started at `startedAt` reaches its final status. */
export function settledAt(becomes: SandboxOutcome, startedAt: number, startMs: number): number {
  return startedAt + (becomes === 'flapping' ? 2 * startMs : startMs);
}
