import type { SandboxOutcome } from './sandbox-outcome.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';

export type SandboxStatus = 'STARTING' | 'RUNNING' | 'PAUSED' | 'ERROR' | 'MISSING';

const settled: Readonly<Record<SandboxOutcome, SandboxStatus>> = {
  running: 'RUNNING',
  flapping: 'RUNNING',
  starting: 'STARTING',
  error: 'ERROR',
  missing: 'MISSING',
};

/** What a sandbox reads at a time: nothing but the facts, how long a start takes, and the time decide. */
export function sandboxStatus(sandbox: StoredSandbox, startMs: number, now: number): SandboxStatus {
  const { becomes, startedAt, paused } = sandbox;
  if (paused) return 'PAUSED';
  if (now >= settledAt(becomes, startedAt, startMs)) return settled[becomes];
  return now < startedAt + startMs ? 'STARTING' : 'ERROR';
}

/** From when on a sandbox that began to start at that time reads the state that it reaches. */
export function settledAt(becomes: SandboxOutcome, startedAt: number, startMs: number): number {
  return startedAt + (becomes === 'flapping' ? 2 * startMs : startMs);
}
