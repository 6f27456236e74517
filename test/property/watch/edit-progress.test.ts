import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WatchState } from '../../../src/reconciler/model/watch.ts';
import { EditProgress } from '../../../src/controller/watch/edit-progress.ts';
import { Rollouts } from '../../../src/controller/watch/rollout.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { WATCHED_AT, watchState } from '../../fixture/watching.ts';

const SOAK = 60_000;
const OPTIONS = { soak: SOAK, maxFailures: '10%' };
const EDIT = new Date(WATCHED_AT).toISOString();
const NAMES = Array.from({ length: 12 }, (_, index) => `e${index}`);

function at(milliseconds: number): string {
  return new Date(WATCHED_AT + milliseconds).toISOString();
}

const anyState = fc
  .record({
    name: fc.constantFrom(...NAMES),
    ring: fc.constantFrom(null, '0', '1', '2'),
    mode: fc.constantFrom('heal' as const, 'heal' as const, 'detect' as const),
    found: fc.constantFrom(
      'in-sync' as const,
      'pending' as const,
      'drift' as const,
      'error' as const,
    ),
    edit: fc.constantFrom(null, EDIT),
    rollout: fc.constantFrom(null, 'begun' as const, 'done' as const, 'failed' as const),
    isStopped: fc.boolean(),
    lastRead: fc.constantFrom(null, -1_000, 1_000, SOAK + 5_000),
  })
  .map(({ ring, mode, rollout, isStopped, lastRead, ...known }): WatchState => {
    const state = watchState({ declaredAt: EDIT, ...known });
    return {
      ...state,
      labels: ring === null ? {} : { ring },
      settings: { ...state.settings, mode },
      rollout: rollout === null ? null : { edit: EDIT, at: at(2_000), result: rollout },
      stopped: isStopped ? { at: EDIT, path: 'language', reason: '' } : null,
      lastRead: lastRead === null ? null : at(lastRead),
    };
  });

/** Why each environment waits; names in a reason may be in another order. */
function reasons(progress: EditProgress, states: Iterable<WatchState>): readonly string[] {
  return [...states].map((state) =>
    (progress.ask(state)?.words ?? '').split('').toSorted().join(''),
  );
}

describe('the progress of an edit', () => {
  it('is the same whether it is counted as states change or anew', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ state: anyState, isWriting: fc.boolean(), isGone: fc.boolean() }), {
          maxLength: 60,
        }),
        (changes) => {
          const now = WATCHED_AT + 2 * SOAK;
          const progress = new EditProgress(EDIT, OPTIONS);
          const known = new Map<string, (typeof changes)[number]>();
          for (const change of changes) {
            const { state, isWriting, isGone } = change;
            if (isGone) progress.remove(state.name);
            else progress.put(state, isWriting, now);
            if (isGone) known.delete(state.name);
            else known.set(state.name, change);
          }
          const anew = new EditProgress(EDIT, OPTIONS);
          for (const { state, isWriting } of known.values()) anew.put(state, isWriting, now);
          const states = [...known.values()].map(({ state }) => state);
          // More than three failed or open ones are named by the first three that came about.
          const few = states.length <= 3;
          const told = (one: EditProgress): readonly unknown[] =>
            few ? reasons(one, states) : states.map((state) => one.ask(state)?.isStopped ?? null);
          expect(told(progress)).toEqual(told(anew));
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });
});

/** A fleet in which each environment that is woken is written, and verified a minute later. */
function fleet(count: number, ringOf: (index: number) => string | null) {
  let now = WATCHED_AT;
  let listed = 0;
  let mostWoken = 0;
  const woken: string[] = [];
  const states = new Map<string, WatchState>();
  const rollouts = new Rollouts({
    clock: { now: () => now },
    states: () => {
      listed += 1;
      return [...states.values()];
    },
    isWatched: (name) => states.has(name),
    wake: (name) => {
      mostWoken = Math.max(mostWoken, woken.push(name));
    },
    soak: SOAK,
    maxFailures: '10%',
  });
  const put = (name: string, more: Partial<WatchState>): WatchState => {
    const state = { ...watchState({ name }), ...states.get(name), ...more };
    states.set(name, state);
    rollouts.update(state);
    return state;
  };
  const settings = { ...watchState().settings, mode: 'heal' as const };
  for (let index = 0; index < count; index += 1) {
    const ring = ringOf(index);
    const labels = ring === null ? {} : { ring };
    put(`e${index}`, { labels, settings, edit: EDIT, found: 'pending', lastRead: EDIT });
  }
  const written: string[] = [];
  const read = (name: string): void => {
    const state = put(name, { lastRead: new Date(now).toISOString() });
    if (state.edit !== null && rollouts.begin(state) === null) {
      const rollout = { edit: EDIT, at: new Date(now).toISOString(), result: 'done' as const };
      rollouts.end(put(name, { edit: null, found: 'in-sync', rollout }));
      written.push(name);
    }
    rollouts.after(states.get(name) ?? watchState());
  };
  const minutes = (count_: number): void => {
    for (let minute = 0; minute < count_; minute += 1) {
      for (const name of woken.splice(0)) read(name);
      now += SOAK;
      for (const name of written.splice(0)) read(name);
      for (const name of woken.splice(0)) read(name);
    }
  };
  const reached = (): number => [...states.values()].filter(({ edit }) => edit === null).length;
  return { states, read, minutes, reached, counts: () => ({ listed, mostWoken }) };
}

describe('an edit of 10,000 environments', () => {
  it.each([
    ['without rings', () => null, 6],
    ['in rings', (index: number) => String(index % 3), 5],
  ])('lists all states once, and reaches all: %s', (_, ringOf, minutes) => {
    const all = fleet(10_000, ringOf);
    for (const name of all.states.keys()) all.read(name);
    all.minutes(minutes);
    expect([all.reached(), all.counts().listed]).toEqual([10_000, 1]);
  });

  it('wakes no more than may be written', () => {
    const all = fleet(50, () => null);
    for (const name of all.states.keys()) all.read(name);
    all.minutes(1);
    expect([all.reached(), all.counts().mostWoken]).toEqual([11, 10]);
  });

  it('wakes those of an earlier ring, also if one of a later ring asked first', () => {
    const all = fleet(3, (index) => ['2', '1', '0'][index] ?? null);
    for (const name of ['e0', 'e1', 'e2']) all.read(name);
    expect(all.reached()).toBe(1);
    all.minutes(1);
    expect(all.reached()).toBe(2);
    all.minutes(1);
    expect(all.reached()).toBe(3);
  });
});
