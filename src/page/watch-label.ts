import type { WatchState, WatchStatus } from '../model/watch.ts';
import type { Label } from '../render/change.ts';
import { failureWords } from '../render/verdict.ts';

/** The words of each state, with a mark and a colour that mean the same. */
export const STATUS_LABELS = {
  'in-sync': { mark: '✓', words: 'in sync', color: 'green' },
  suspended: { mark: '‖', words: 'suspended', color: 'dim' },
  'not-read': { mark: '·', words: 'not read yet', color: 'dim' },
  unknown: { mark: '?', words: 'could not be compared', color: 'cyan' },
  pending: { mark: '~', words: 'pending edits', color: 'cyan' },
  drift: { mark: '~', words: 'drift', color: 'yellow' },
  conflict: { mark: '✗', words: 'conflict', color: 'red' },
  refused: { mark: '✗', words: 'refused', color: 'red' },
  error: { mark: '✗', words: 'failed', color: 'red' },
} as const satisfies Readonly<Record<WatchStatus, Label>>;

/** The state of an environment; a failure by its kind. */
export function stateLabel({ status, plan }: Pick<WatchState, 'status' | 'plan'>): Label {
  const label: Label = STATUS_LABELS[status];
  return status === 'error' ? { ...label, words: failureWords(plan?.error?.code) } : label;
}

/** Labels in addition to the state. */
export function extraLabels(state: WatchState): Label[] {
  const { status, found, stopped, heldBy } = state;
  return [
    ...(status === 'suspended' && found !== 'in-sync' && found !== 'suspended'
      ? [{ ...STATUS_LABELS[found], words: `found: ${STATUS_LABELS[found].words}` }]
      : []),
    ...(stopped === null ? [] : [HEALING_STOPPED]),
    ...(heldBy === null ? [] : [HELD_ELSEWHERE]),
  ];
}

const HEALING_STOPPED: Label = { mark: '■', words: 'healing stopped', color: 'red' };
const HELD_ELSEWHERE: Label = { mark: '⇄', words: 'held elsewhere', color: 'dim' };
