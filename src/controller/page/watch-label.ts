import type { WatchState } from '../../reconciler/model/watch.ts';
import { grouped } from '../../reconciler/model/wording.ts';
import type { Label } from '../../reconciler/render/change.ts';
import { failureWords, LABELS } from '../../reconciler/render/verdict.ts';

/** The state of an environment; a failure by its kind. */
export function stateLabel({ status, plan }: Pick<WatchState, 'status' | 'plan'>): Label {
  const label: Label = LABELS[status];
  return status === 'error' ? { ...label, words: failureWords(plan?.error?.code) } : label;
}

/** Labels in addition to the state. */
export function extraLabels(state: WatchState): Label[] {
  const { status, found, stopped, heldBy } = state;
  const unknown = found === 'unknown' ? 0 : unknownIn(state);
  return [
    ...(status === 'suspended' && found !== 'in-sync' && found !== 'suspended'
      ? [{ ...LABELS[found], words: `found: ${LABELS[found].words}` }]
      : []),
    ...(unknown === 0
      ? []
      : [{ mark: '?', words: `${grouped(unknown)} not compared`, color: 'dim' } as const]),
    ...(stopped === null ? [] : [HEALING_STOPPED]),
    ...(heldBy === null ? [] : [HELD_ELSEWHERE]),
  ];
}

/** How many values the last read could not compare. */
export function unknownIn({ plan }: Pick<WatchState, 'plan'>): number {
  return plan?.unknown.length ?? 0;
}

const HEALING_STOPPED: Label = { mark: '■', words: 'healing stopped', color: 'red' };
const HELD_ELSEWHERE: Label = { mark: '⇄', words: 'held elsewhere', color: 'dim' };
