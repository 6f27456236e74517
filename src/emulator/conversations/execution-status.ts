import type { SandboxStatus } from '../sandboxes/sandbox-status.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';

export type ExecutionStatus = 'idle' | 'running' | 'finished';

/**
 * What the agent of a conversation does at a time: it runs on its initial message, where it was to, from `readyAt` until
 * `doneAt`. Null where nobody could reach it: only a sandbox that is up answers, one that is STARTING for good too.
 */
export function executionStatus(
  sandbox: StoredSandbox,
  status: SandboxStatus,
  doneAt: number | null,
  now: number,
): ExecutionStatus | null {
  const up = status === 'RUNNING' || (status === 'STARTING' && sandbox.becomes === 'starting');
  if (!up) return null;
  if (doneAt === null) return 'idle';
  return now < doneAt ? 'running' : 'finished';
}
