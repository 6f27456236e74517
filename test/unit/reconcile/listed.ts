import type { DesiredSandboxes } from '../../../src/reconciler/desired/blocks/sandboxes.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import type { Sandbox } from '../../../src/reconciler/resources/sandboxes/wire.ts';

/** A state that declares these sandboxes. */
export function withSandboxes(
  desired: DesiredState,
  sandboxes: readonly DesiredSandboxes[],
): DesiredState {
  return { ...desired, items: new Map([['sandboxes', sandboxes]]) };
}

const SOURCE = { file: 'settings.yaml', line: 1, column: 1 };

export function counted(
  running: number,
  spec: string | null = null,
  surplus: 'keep' | 'pause' = 'keep',
): DesiredSandboxes {
  return { kind: 'counted', spec, running, surplus, whenBusy: 'skip', source: SOURCE };
}
export function named(
  id: string,
  state: 'running' | 'paused',
  whenBusy: 'skip' | 'pause' = 'skip',
): DesiredSandboxes {
  return { kind: 'named', id, state, whenBusy, source: SOURCE };
}

/** `a RUNNING python`: id, status, spec; `-` if the service does not say. All are an hour old. */
export function list(...texts: readonly string[]): Sandbox[] {
  return texts.map((text) => {
    const [id = '', status = '', spec = 'python'] = text.split(' ');
    return {
      id,
      status,
      spec: spec === '-' ? null : spec,
      createdAt: 1_700_000_000_000 - 3_600_000,
    };
  });
}
