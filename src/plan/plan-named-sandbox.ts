import type { SandboxPlan, Warning } from '../model/plan.ts';
import { isUp, type NamedSandbox, type ObservedSandboxes, type Sandbox } from '../model/sandbox.ts';
import { busyWarning, pauseStep, resumeStep } from './sandbox-step.ts';

const NOTHING: SandboxPlan = { steps: [], unmet: [], warnings: [] };

/** What is to be done about one sandbox that is declared by its id. A sandbox can be paused and resumed, and not made anew. */
export function planNamedSandbox(
  item: NamedSandbox,
  [sandbox]: readonly Sandbox[],
  { at, busy }: ObservedSandboxes,
): SandboxPlan {
  if (sandbox === undefined || sandbox.status === 'MISSING') return gone(item);
  const up = isUp(sandbox, at);
  if (item.state === 'running') {
    if (up) return NOTHING;
    return sandbox.status === 'PAUSED'
      ? { ...NOTHING, steps: [resumeStep(item, sandbox, 'declared running')] }
      : failed(item, sandbox);
  }
  if (sandbox.status === 'PAUSED') return NOTHING;
  if (!up) return { ...NOTHING, warnings: [notPaused(sandbox)] };
  return item.whenBusy === 'skip' && busy?.has(sandbox.id) === true
    ? { ...NOTHING, warnings: [busyWarning(sandbox)] }
    : { ...NOTHING, steps: [pauseStep(item, sandbox, 'declared paused')] };
}

function gone({ id, state }: NamedSandbox): SandboxPlan {
  if (state === 'paused') {
    const message = `Sandbox ${id} is declared paused, and the service has none of that id any more.`;
    return { ...NOTHING, warnings: [{ code: 'sandbox-gone', message, path: [id] }] };
  }
  const message = `Sandbox ${id} is declared running, and the service has none of that id any more.`;
  const hint =
    'Remove the item, or declare running: and a number: a sandbox that is gone cannot be restored.';
  return { ...NOTHING, unmet: [{ code: 'sandbox-gone', message, hint, path: [id] }] };
}

function failed({ id }: NamedSandbox, { status }: Sandbox): SandboxPlan {
  const message = `Sandbox ${id} is declared running and reads ${status}: only a paused one can be resumed.`;
  const hint = 'Check the sandbox; if it cannot be repaired, declare another one.';
  return { ...NOTHING, unmet: [{ code: 'sandbox-failed', message, hint, path: [id] }] };
}

function notPaused({ id, status }: Sandbox): Warning {
  const message = `Sandbox ${id} is declared paused and reads ${status}; it is left as it is.`;
  return { code: 'sandbox-failed', message, path: [id] };
}
