import type { Knobs } from '../knobs.ts';
import { pauseSandboxes } from './pause-sandboxes.ts';
import { sandboxStatus } from './sandbox-status.ts';
import type { StoreContents } from '../store/store-document.ts';

/**
 * What every start and every resume does first: pauses the oldest RUNNING sandboxes so that one more keeps the limit.
 * Those that are STARTING or in ERROR do not count. Undefined where the limit leaves no room for any other.
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

/** What is wrong where `makeRoom` finds no room. */
export const noRoom = 'max_num_sandboxes must be greater than 0';
