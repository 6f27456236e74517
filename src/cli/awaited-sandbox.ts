import type { SandboxProgress } from '../reconcile/contract.ts';
import type { Awaited } from './progress-view.ts';

const VERBS = {
  start: 'starting',
  resume: 'resuming',
  pause: 'pausing',
  watch: 'watching',
} as const;

/** A sandbox that an apply waits for, in words; it has no id until the service has told it. */
export function awaitedSandbox({ action, id, spec, status, done }: SandboxProgress): Awaited {
  const which = id ?? `a new sandbox${spec === null ? '' : ` of ${spec}`}`;
  return { name: `${VERBS[action]} ${which}`, status: status ?? 'not listed yet', done };
}
