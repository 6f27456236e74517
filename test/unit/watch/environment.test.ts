import { describe, expect, it } from 'vitest';
import { toWatchStatus } from '../../../src/reconciler/model/verdict.ts';
import { EnvironmentRecords } from '../../../src/controller/watch/environment-records.ts';
import {
  computeFoundDigest,
  notReadState,
} from '../../../src/controller/watch/environment-state.ts';
import { change, environment as plan } from '../../fixture/documents.ts';
import { StateStory } from '../../fixture/state-story.ts';

const T0 = Date.UTC(2026, 2, 1, 12);
const iso = (at: number) => new Date(at).toISOString();

function fresh(): StateStory {
  return new StateStory(T0);
}

const failed = (message: string, code: 'unreachable' | 'rate-limited' = 'unreachable') =>
  plan({ error: { code, message, hint: 'x' } });

describe('`since` is when the first of the present differences began', () => {
  const differs = (...paths: readonly string[]) =>
    plan({ changes: paths.map((path) => change({ path: [path] })) });
  const at = (offset: number) => new Date(T0 + offset).toISOString();
  /** Reads in order, a millisecond apart, and what is said after each. */
  const story = (...plans: readonly ReturnType<typeof plan>[]) => {
    const one = fresh();
    return plans.map((of, index) => {
      one.read(of, T0 + index, null);
      return [one.state.since, one.state.after];
    });
  };

  it('and does not move when another comes, or its value changes', () => {
    const other = plan({ changes: [change({ path: ['a'], before: 'else' })] });
    expect(story(plan(), differs('a'), differs('a', 'b'), other)).toEqual([
      [at(0), null],
      [at(1), at(0)],
      [at(1), at(0)],
      [at(1), at(0)],
    ]);
  });

  it('and is that of the next one when the first has ended', () => {
    const all = story(plan(), differs('a'), differs('a', 'b'), differs('b'), plan(), differs('a'));
    expect(all.slice(3)).toEqual([
      [at(2), at(1)],
      [at(4), at(3)],
      [at(5), at(4)],
    ]);
  });

  it('and outlasts reads that fail, which have a beginning of their own', () => {
    const all = story(plan(), differs('a'), failed('x'), failed('x', 'rate-limited'), differs('a'));
    expect(all.slice(2)).toEqual([
      [at(2), at(1)],
      [at(2), at(1)],
      [at(1), at(0)],
    ]);
  });

  it('and is not that of an edit of the file that was waiting before', () => {
    const pending = change({ path: ['a'], class: 'pending' });
    const edited = plan({ changes: [pending] });
    const both = plan({ changes: [pending, change({ path: ['b'], class: 'drift' })] });
    expect(story(plan(), edited, both, edited)).toEqual([
      [at(0), null],
      [at(1), at(0)],
      [at(2), at(1)],
      [at(1), at(0)],
    ]);
  });
});

it('a service that was never reached is known by its address, and one that was by what it answered last', () => {
  const at = (origin: string | null) =>
    plan({ origin, dialect: null, error: { code: 'unreachable', message: 'no', hint: 'x' } });
  const one = fresh();
  const read = (of: ReturnType<typeof plan>) => {
    one.read(of, T0, null);
    return [one.state.origin, one.state.dialect];
  };
  expect(read(at('https://down.example.com'))).toEqual(['https://down.example.com', null]);
  expect(read(plan({ origin: 'https://up.example.com', dialect: 'app-server' }))).toEqual([
    'https://up.example.com',
    'app-server',
  ]);
  expect(read(at(null))).toEqual(['https://up.example.com', 'app-server']);
  expect(read(at('https://moved.example.com'))).toEqual(['https://up.example.com', 'app-server']);
});

it('the time of the next read moves with a clock that is set, and not with one that drifts', () => {
  const one = new EnvironmentRecords(notReadState('production'), {
    append: () => Promise.reject(new Error('nothing is written')),
    tell: () => {},
    changed: () => {},
  });
  let [passed, set] = [0, 0];
  const clock = { now: () => T0 + passed + set, monotonic: () => passed };
  expect(one.state.nextRead).toBeNull();
  one.readNext(60_000, clock);
  const next = () => Date.parse(one.state.nextRead ?? '') - T0;
  [passed, set] = [30_000, 900];
  expect(next()).toBe(60_000);
  set = 7_200_000;
  expect(next()).toBe(60_000 + 7_200_000);
  set = -7_200_000;
  expect(next()).toBe(60_000 - 7_200_000);
});

describe('what a plan says of an environment', () => {
  it.each([
    ['in-sync', plan()],
    ['drift', plan({ changes: [change()] })],
    ['drift', plan({ changes: [change({ class: 'drift' }), change({ class: 'pending' })] })],
    ['pending', plan({ changes: [change({ class: 'pending' })] })],
    ['conflict', plan({ changes: [change({ class: 'pending' }), change({ class: 'conflict' })] })],
    ['error', failed('no')],
  ])('is %s', (status, of) => expect(toWatchStatus(of)).toBe(status));
});

describe('what cannot be compared', () => {
  const one = plan({
    unknown: [{ path: ['llm_api_key'], reason: 'set, origin unknown', ref: null }],
  });
  const two = plan({
    unknown: [...one.unknown, { ...one.unknown[0], path: ['search_api_key'] }] as never,
  });

  it('leaves in sync what is as declared in all else, and is kept beside it', () => {
    const state = fresh();
    expect(state.read(one, T0, null)).toMatchObject({ status: 'in-sync', plan: one });
    expect(state.state).toMatchObject({
      status: 'in-sync',
      plan: one,
      since: iso(T0),
      lastInSync: iso(T0),
    });
    expect(state.read(one, T0 + 1, null)).toBeNull();
    expect(state.state.lastInSync).toBe(iso(T0 + 1));
  });

  it('is recorded if it is something else, and in sync has been since before', () => {
    const state = fresh();
    state.read(plan(), T0, null);
    expect(state.read(two, T0 + 1, null)).toMatchObject({ before: 'in-sync', plan: two });
    expect(state.read(plan(), T0 + 2, null)).toMatchObject({ before: 'in-sync', plan: null });
    expect([state.state.since, state.state.digest]).toEqual([iso(T0), '']);
  });

  it('is a state of its own if the environment is strict, and only if nothing differs', () => {
    const state = new StateStory(T0, { strict: true });
    state.read(one, T0, null);
    expect([state.state.status, state.state.lastInSync]).toEqual(['unknown', null]);
    expect(computeFoundDigest(one, true)).not.toBe(computeFoundDigest(one));
    expect(
      state.read({ ...one, status: 'differs', changes: [change()] }, T0 + 1, null),
    ).toMatchObject({
      status: 'drift',
      before: 'unknown',
    });
    state.read(plan(), T0 + 2, null);
    expect(state.state.status).toBe('in-sync');
  });

  it('is counted in a heading of the journal of the version before', () => {
    const state = fresh();
    state.restore({ ...state.state, found: 'unknown', digest: 'x', plan: one }, { at: iso(T0) });
    expect(state.read(one, T0 + 1, null)).toMatchObject({ status: 'in-sync', before: 'unknown' });
  });
});

describe('a digest', () => {
  it('is the same if a person would be told the same', () => {
    const one = plan({ changes: [change({ source: null })], origin: 'https://a' });
    const other = plan({
      changes: [change({ source: { file: 'x', line: 1, column: 1 } })],
      origin: 'https://b',
    });
    expect(computeFoundDigest(one)).toBe(computeFoundDigest(other));
  });

  it('does not follow the text of an error, which may hold a time', () => {
    expect(computeFoundDigest(failed('at 12:00'))).toBe(computeFoundDigest(failed('at 12:05')));
    expect(computeFoundDigest(failed('x'))).not.toBe(
      computeFoundDigest(failed('x', 'rate-limited')),
    );
  });

  it.each([
    ['another value', plan({ changes: [change({ before: 'de' })] })],
    ['another path', plan({ changes: [change({ path: ['llm_model'] })] })],
    ['another class', plan({ changes: [change({ class: 'pending' })] })],
    ['one change more', plan({ changes: [change(), change({ path: ['agent'] })] })],
  ])('is another one for %s', (_, other) => {
    expect(computeFoundDigest(other)).not.toBe(computeFoundDigest(plan({ changes: [change()] })));
  });

  it('is empty in sync', () => expect(computeFoundDigest(plan())).toBe(''));
});

describe('a read', () => {
  it('is an event only if it found something else', () => {
    const one = fresh();
    expect(one.read(plan(), T0, 'c1')).toMatchObject({ before: 'not-read', status: 'in-sync' });
    expect(one.read(plan(), T0 + 1, 'c1')).toBeNull();
    expect(one.read(plan({ changes: [change()] }), T0 + 2, 'c2')).toMatchObject({
      before: 'in-sync',
      status: 'drift',
      after: new Date(T0 + 1).toISOString(),
      commit: 'c2',
    });
    expect(one.read(plan({ changes: [change()] }), T0 + 3, 'c2')).toBeNull();
    expect(one.state.since).toBe(new Date(T0 + 2).toISOString());
  });

  it('counts failures in a row', () => {
    const one = fresh();
    for (let at = 0; at < 3; at += 1) one.read(failed('x'), T0 + at, null);
    expect(one.state.failures).toBe(3);
    one.read(plan(), T0 + 4, null);
    expect(one.state.failures).toBe(0);
  });

  it('keeps the origin that was read while the service does not answer', () => {
    const one = fresh();
    one.read(plan(), T0, null);
    one.read({ ...failed('x'), origin: null, dialect: null, release: null }, T0 + 1, null);
    expect(one.state).toMatchObject({
      origin: 'https://agents.example.com',
      dialect: 'settings-v0',
    });
  });

  it('is one of the last hundred marks, the latest last', () => {
    const one = fresh();
    const reads = () => [...one.state.reads];
    expect(reads()).toEqual([]);
    for (let at = 0; at < 250; at += 1)
      one.read(at % 2 === 0 ? plan() : plan({ changes: [change()] }), T0 + at, null);
    expect(reads()).toHaveLength(100);
    expect(reads()[0]).toEqual({ at: new Date(T0 + 150).toISOString(), status: 'in-sync' });
    expect(reads().at(-1)).toEqual({ at: new Date(T0 + 249).toISOString(), status: 'drift' });
  });
});

it('a suspended environment says so, and still what was found', () => {
  const one = fresh();
  one.read(plan({ changes: [change()] }), T0, null);
  one.know({ kind: 'set', suspended: { at: iso(T0), reason: 'x', until: null } });
  expect([one.state.status, one.state.found]).toEqual(['suspended', 'drift']);
});
