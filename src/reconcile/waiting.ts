import type { Sandbox } from '../model/sandbox.ts';
import type { SandboxProgress } from './reconciled.ts';
import type { SentStep } from './send-sandbox-steps.ts';

/**
 * A step that was sent, followed from look to look. `settled`: a look has shown it. `given-up`: no later look will: the
 * service paused what was to run, or did not take the pause of what had not booted yet.
 */
export interface Waiting {
  readonly sent: SentStep;
  readonly id: string | null;
  readonly status: string | null;
  readonly state: 'open' | 'settled' | 'given-up';
  /** Whether it has read something else than PAUSED: a resume that goes back to PAUSED was taken back. */
  readonly wasUp: boolean;
}

export function waitingFor(sent: SentStep): Waiting {
  return { sent, id: sent.id, status: null, state: 'open', wasUp: false };
}

/** What a look shows of it. One that was settled or given up stays so. */
export function afterLook(waiting: Waiting, sandboxes: readonly Sandbox[]): Waiting {
  const status = sandboxes.find(({ id }) => id === waiting.id)?.status ?? null;
  const seen = { ...waiting, status };
  if (waiting.state !== 'open') return seen;
  return waiting.sent.step.action === 'pause' ? pausing(seen) : running(seen);
}

/**
 * RUNNING settles; ERROR and MISSING may pass, as one backend reads so while it boots. A start never begins as PAUSED, and a
 * resume that is under way does not go back to it.
 */
function running(waiting: Waiting): Waiting {
  const { status, sent } = waiting;
  if (status === 'RUNNING') return { ...waiting, state: 'settled', wasUp: true };
  if (status === 'PAUSED') {
    const takenBack = waiting.wasUp || sent.step.action === 'start';
    return takenBack ? { ...waiting, state: 'given-up' } : waiting;
  }
  return status === null ? waiting : { ...waiting, wasUp: true };
}

/** A pause of what has not booted yet is answered with success and has no effect: it reads RUNNING afterwards. */
function pausing(waiting: Waiting): Waiting {
  const { status, sent } = waiting;
  if (status === 'PAUSED' || status === 'MISSING') return { ...waiting, state: 'settled' };
  const ignored = status === 'RUNNING' && sent.step.change.before !== 'RUNNING';
  return ignored ? { ...waiting, state: 'given-up' } : waiting;
}

export function progressOf({ sent, id, status, state }: Waiting): SandboxProgress {
  const { action, item } = sent.step;
  return {
    action,
    id,
    spec: item.kind === 'counted' ? item.spec : null,
    status,
    done: state !== 'open',
  };
}
