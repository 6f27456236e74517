import { describe, expect, it } from 'vitest';
import type { Moment } from '../../../src/reconciler/model/watch.ts';
import {
  CLOCK_SET,
  EnvironmentRecords,
} from '../../../src/controller/watch/environment-records.ts';
import {
  computeFoundDigest,
  notReadState,
} from '../../../src/controller/watch/environment-state.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';
import { StateStory } from '../../fixture/state-story.ts';

const T0 = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const named = { environment: 'production' };
const iso = (at: number) => new Date(at).toISOString();
const moment = (minute: number): Moment => ({ at: iso(T0 + minute * MINUTE) });

const DRIFT = plan({ changes: [change()] });
const error = { code: 'settings-refused', message: 'no', hint: 'x' } as const;
const unsent = { requests: { get: 1, post: 0 } };

function fresh(): StateStory {
  return new StateStory(T0);
}

/** One that has drifted, and was written a minute later. */
function wrote(...paths: readonly string[]): StateStory {
  const one = fresh();
  one.read(DRIFT, T0, null);
  one.wrote(paths, moment(1));
  return one;
}

describe('an environment that was not read yet', () => {
  it('has nothing to tell', () => {
    expect(fresh().state).toMatchObject({
      name: 'production',
      labels: {},
      status: 'not-read',
      since: iso(T0),
      digest: '',
      failures: 0,
      heals: [],
      reads: [],
    });
  });

  it('has none of what a read finds at first', () => {
    const one = fresh();
    expect(one.read(DRIFT, T0 + 1, 'c1')).toEqual({
      kind: 'state',
      environment: 'production',
      status: 'drift',
      before: 'not-read',
      digest: computeFoundDigest(DRIFT),
      after: null,
      commit: 'c1',
      plan: DRIFT,
    });
    expect(one.state).toMatchObject({
      since: iso(T0 + 1),
      lastRead: iso(T0 + 1),
      lastInSync: null,
    });
    expect(one.state).toMatchObject({ commit: 'c1', after: null });
  });
});

describe('a read', () => {
  it('that is in sync ends what failed, and one that differs does not', () => {
    const one = wrote('language');
    one.know({ kind: 'not-written', at: T0, error });
    one.read(DRIFT, T0 + 1, null);
    expect(one.state.healFailed).toMatchObject({ code: 'settings-refused' });
    one.read(plan(), T0 + 2, 'c2');
    expect(one.state).toMatchObject({ healFailed: null, lastInSync: iso(T0 + 2), plan: null });
    expect(one.state.commit).toBe('c2');
  });

  it('that fails keeps all that is known of the service, and its failures are counted in a row', () => {
    const one = fresh();
    const failed = plan({ error, origin: 'x', dialect: null, release: 'y' });
    one.read(plan({ release: '1.6' }), T0, null);
    for (const failures of [1, 2]) {
      one.read(failed, T0 + failures, null);
      expect(one.state.failures).toBe(failures);
    }
    expect(one.state).toMatchObject({
      origin: 'https://agents.example.com',
      dialect: 'settings-v0',
      release: '1.6',
      lastInSync: iso(T0),
      lastRead: iso(T0 + 2),
    });
    one.read(plan({ origin: 'https://b', dialect: 'agent-server', release: '1.57' }), T0, null);
    expect(one.state).toMatchObject({
      origin: 'https://b',
      dialect: 'agent-server',
      release: '1.57',
    });
  });

  it('that finds the same of another plan is no event, and its plan is kept', () => {
    const one = fresh();
    one.read(DRIFT, T0, null);
    const again = { ...DRIFT, observed_at: iso(T0) };
    expect(one.read(again, T0 + 1, null)).toBeNull();
    expect(one.state.plan).toBe(again);
  });

  it('that finds another status of the same changes is an event', () => {
    const one = fresh();
    one.read(DRIFT, T0, null);
    const conflict = plan({ changes: [change({ class: 'conflict' })] });
    expect(one.read(conflict, T0 + 1, null)).toMatchObject({
      before: 'drift',
      status: 'conflict',
      after: iso(T0),
    });
  });

  it('is marked with its time, also the hundredth', () => {
    const one = fresh();
    const reads = () => [...one.state.reads];
    for (let at = 0; at < 100; at += 1) {
      one.read(at === 99 ? DRIFT : plan(), T0 + at, null);
      expect(reads().map((mark) => mark.at)).toEqual(
        Array.from({ length: at + 1 }, (_, index) => iso(T0 + index)),
      );
    }
    expect(reads()).toHaveLength(100);
    expect(reads()[0]).toEqual({ at: iso(T0), status: 'in-sync' });
    expect(reads()[99]).toEqual({ at: iso(T0 + 99), status: 'drift' });
    one.read(plan({ error }), T0 + 100, null);
    expect([reads()[0]?.at, reads().at(-1)]).toEqual([
      iso(T0 + 1),
      { at: iso(T0 + 100), status: 'error' },
    ]);
  });
});

it('the next read moves from the clock on that is set by ten seconds, forth or back', () => {
  let set = 0;
  const one = new EnvironmentRecords(notReadState('production'), {
    append: () => Promise.reject(new Error('nothing is written')),
    tell: () => {},
    changed: () => {},
  });
  one.readNext(MINUTE, { now: () => T0 + set, monotonic: () => MINUTE });
  const moved = [CLOCK_SET - 1, CLOCK_SET, 1 - CLOCK_SET, -CLOCK_SET].map((by) => {
    set = by;
    return Date.parse(one.state.nextRead ?? '') - T0 - MINUTE;
  });
  expect(moved).toEqual([0, CLOCK_SET, 0, -CLOCK_SET]);
});

describe('a write', () => {
  it('is a heal of its paths, for an hour', () => {
    const one = wrote('language');
    expect(one.state.lastApply).toBe(moment(1).at);
    one.wrote(['agent'], moment(60));
    expect(one.state.heals).toEqual([
      { ...moment(1), paths: ['language'] },
      { ...moment(60), paths: ['agent'] },
    ]);
    one.wrote(['agent'], moment(61));
    expect(one.state.heals.map(({ at }) => at)).toEqual([moment(60).at, moment(61).at]);
    expect(one.state.lastApply).toBe(moment(61).at);
  });

  it('that was sent has put back what was found, and which paths', () => {
    const one = wrote('language');
    one.know({ kind: 'not-written', at: T0, error });
    one.written(outcome({ changes: [{ ...change(), result: 'converged' }] as never }), T0 + 7);
    expect(one.state.putBack).toEqual({
      at: iso(T0 + 7),
      found: 'drift',
      digest: computeFoundDigest(DRIFT),
      paths: ['language'],
    });
    expect(one.state).toMatchObject({ healFailed: null, heals: [{ paths: ['language'] }] });
  });

  it('of which nothing was sent, or that failed, has put nothing back', () => {
    const nothing = wrote('language');
    nothing.written(outcome(unsent), T0);
    expect(nothing.state).toMatchObject({ putBack: null, heals: [], healFailed: null });
    const failed = wrote('language');
    failed.written(outcome({ status: 'failed', error }), T0 + 7);
    expect(failed.state.putBack).toBeNull();
    expect(failed.state.healFailed).toMatchObject({
      at: iso(T0 + 7),
      count: 1,
      code: 'settings-refused',
    });
  });

  it('of nobody known has put back no path that is known', () => {
    const one = fresh();
    one.written(outcome(), T0);
    expect(one.state.putBack).toMatchObject({ found: 'not-read', paths: [] });
  });
});

it('heals move with a clock that is set', () => {
  const one = wrote('language');
  one.take({ kind: 'clock-set', ...named, by: 5 * MINUTE }, T0);
  expect(one.state.heals).toEqual([{ ...moment(6), paths: ['language'] }]);
});

it('healing goes on as if nothing had been written, once it is resumed', () => {
  const one = wrote('language');
  one.know({ kind: 'not-written', at: T0, error });
  one.take({ kind: 'healing-stopped', ...named, path: 'language', reason: 'x' }, T0);
  one.take({ kind: 'resumed', ...named }, T0);
  expect(one.state).toMatchObject({ stopped: null, healFailed: null, heals: [], found: 'drift' });
});

describe('what is remembered', () => {
  function known(): StateStory {
    const one = wrote('language');
    one.read(plan(), T0 + 2, null);
    one.read(DRIFT, T0 + 3, null);
    one.know({ kind: 'not-written', at: T0 + 4, error });
    one.take({ kind: 'healing-stopped', ...named, path: 'language', reason: 'x' }, T0 + 5);
    const agreement = { salt: 's', places: {}, unmanaged: [] };
    one.know({ kind: 'agreed', address: 'a', agreement });
    return one;
  }

  it('is all that a controller goes on from after a restart', () => {
    const again = fresh();
    again.restore(known().state, moment(10));
    const own = { reads: [], failures: 0 };
    expect(again.state).toEqual({ ...known().state, ...own });
    expect(again.state).toMatchObject({
      status: 'drift',
      digest: computeFoundDigest(DRIFT),
      since: iso(T0 + 3),
      after: iso(T0 + 2),
      plan: DRIFT,
      origin: 'https://agents.example.com',
      lastRead: iso(T0 + 3),
      lastInSync: iso(T0 + 2),
      lastApply: moment(1).at,
      stopped: { path: 'language' },
      healFailed: { count: 1 },
      agreed: { address: 'a' },
    });
    expect(again.state.began).toEqual([
      { of: 'settings language', since: iso(T0 + 3), after: iso(T0 + 2) },
    ]);
  });

  it('goes on as it would have: the same is no event, and what differs began when it did', () => {
    const again = fresh();
    again.restore(known().state, moment(10));
    expect(again.read(DRIFT, T0 + 9, null)).toBeNull();
    const more = plan({ changes: [change(), change({ path: ['agent'] })] });
    expect(again.read(more, T0 + 10, null)).toMatchObject({ before: 'drift', after: iso(T0 + 9) });
    expect(again.state.since).toBe(iso(T0 + 3));
  });

  it('of the service stays what this process has read, if the journal does not say', () => {
    const again = fresh();
    again.read(plan({ origin: 'https://b' }), T0);
    again.restore(notReadState('production'), moment(1));
    expect(again.state).toMatchObject({ origin: 'https://b', found: 'not-read', plan: null });
  });

  it('of heals is told by the clock of now', () => {
    const up = (ms: number) => ({ boot: 'b', ms });
    const one = fresh();
    one.wrote(['language'], { at: iso(T0), up: up(0) });
    const again = fresh();
    again.restore(one.state, { at: iso(T0 + 99 * MINUTE), up: up(MINUTE) });
    expect(again.state.heals).toMatchObject([{ at: iso(T0 + 98 * MINUTE), paths: ['language'] }]);
  });
});

describe('the digest of a state', () => {
  const unknown = [{ path: ['llm_api_key'], reason: 'x', ref: null }];
  const refusals = [{ rule: 'max-changes' as const, message: 'too many', path: [], hint: '' }];

  it.each([
    ['a resource', plan({ changes: [change({ resource: 'sandbox' })] })],
    ['a path', plan({ changes: [change({ path: ['agent'] })] })],
    ['an action', plan({ changes: [change({ action: 'set' })] })],
    ['a former value', plan({ changes: [change({ before: 'de' })] })],
    ['a declared value', plan({ changes: [change({ after: 'de' })] })],
    ['what cannot be compared', { ...DRIFT, unknown }],
    ['a rule that refuses', { ...DRIFT, refusals }],
    ['an error', { ...DRIFT, error }],
  ])('is another one for %s', (_, other) => {
    expect(computeFoundDigest(other)).toMatch(/^[0-9a-f]{32}$/);
    expect(computeFoundDigest(other)).not.toBe(computeFoundDigest(DRIFT));
  });

  it('follows which values cannot be compared and which rules refuse, not in which words', () => {
    const of = (path: string, reason: string) =>
      computeFoundDigest(plan({ unknown: [{ path: [path], reason, ref: null }] }));
    expect(of('a', 'x')).toBe(of('a', 'y'));
    expect(of('a', 'x')).not.toBe(of('b', 'x'));
    const refused = (rule: 'max-changes' | 'frozen', message: string) =>
      computeFoundDigest({ ...DRIFT, refusals: [{ rule, message, path: [], hint: '' }] });
    expect(refused('frozen', 'x')).toBe(refused('frozen', 'y'));
    expect(refused('frozen', 'x')).not.toBe(refused('max-changes', 'x'));
  });

  it('in sync is empty only if all was compared', () => {
    expect(computeFoundDigest(plan())).toBe('');
    expect(computeFoundDigest(plan({ unknown }))).not.toBe('');
  });
});
