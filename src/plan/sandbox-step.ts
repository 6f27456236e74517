import type { SandboxStep, Warning } from '../model/plan.ts';
import type { CountedSandboxes, DesiredSandboxes, Sandbox } from '../model/sandbox.ts';

/** One sandbox to be started: the service gives it an id. `number` counts the starts of an item from 1. */
export function startStep(item: CountedSandboxes, number: number, reason: string): SandboxStep {
  return step('start', item, null, {
    path: [item.spec ?? 'default', `#${number}`],
    before: null,
    after: 'RUNNING',
    reason,
  });
}

export function resumeStep(item: DesiredSandboxes, sandbox: Sandbox, reason: string): SandboxStep {
  const { id, status } = sandbox;
  return step('resume', item, id, { path: [id], before: status, after: 'RUNNING', reason });
}

export function pauseStep(item: DesiredSandboxes, sandbox: Sandbox, reason: string): SandboxStep {
  const { id, status } = sandbox;
  return step('pause', item, id, { path: [id], before: status, after: 'PAUSED', reason });
}

function step(
  action: SandboxStep['action'],
  item: DesiredSandboxes,
  sandbox: string | null,
  change: Pick<SandboxStep['change'], 'path' | 'before' | 'after' | 'reason'>,
): SandboxStep {
  const { source } = item;
  return {
    action,
    item,
    sandbox,
    change: { resource: 'sandbox', action, sensitive: false, ref: null, source, ...change },
  };
}

/** A sandbox that would be paused but for the conversation in it. */
export function busyWarning({ id }: Sandbox): Warning {
  return {
    code: 'sandbox-busy',
    message: `Sandbox ${id} is not paused: a conversation runs there. when_busy: pause would cut it off.`,
    path: [id],
  };
}
