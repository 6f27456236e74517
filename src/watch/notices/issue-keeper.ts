import type { WatchState } from '../../model/watch.ts';
import type { Issues } from './receiver.ts';
import type { SendResult } from './send.ts';

/**
 * Keeps the issues of a repository as they should be: one that is open for each of `open`, none for each of `closed`. It may be called again with
 * the same: what is as it should be stays. Never throws.
 */
export type IssueKeeper = (
  issues: Issues,
  open: readonly WatchState[],
  closed: readonly WatchState[],
) => Promise<SendResult>;
