import { describe, expect, it } from 'vitest';
import type { WatchSettings, WatchState } from '../../../src/model/watch.ts';
import { Environment } from '../../../src/watch/environment.ts';
import { competing, mayHeal, refusedTooOften } from '../../../src/watch/healing.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';

const T0 = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const at = (time: number) => ({ at: new Date(time).toISOString() });

function drifted(settings: Partial<WatchSettings> = {}): Environment {
  const all = { mode: 'heal', interval: MINUTE, windows: null, maxHealsPerHour: 3, ...settings };
  const one = new Environment('production', all as WatchSettings, new Date(T0).toISOString());
  one.read(plan(), T0 - MINUTE, null);
  one.read(plan({ changes: [change()] }), T0, null);
  return one;
}

const reasonOf = (state: WatchState, repeated = true): string | undefined =>
  mayHeal(state, repeated, T0)?.reason;

describe('healing', () => {
  it('is done after two reads', () => {
    expect(mayHeal(drifted(), true, T0)).toBeNull();
    expect(mayHeal(drifted(), false, T0)).toMatchObject({ again: true });
  });

  it('is not done in mode detect, out of windows, suspended, or once it has stopped', () => {
    const suspended = drifted();
    suspended.suspended = { at: '', reason: 'x', until: null };
    const stopped = drifted();
    stopped.stopped = { at: '', path: 'language', reason: 'x' };
    expect(reasonOf(drifted({ mode: 'detect' }))).toBe('Its mode is detect.');
    expect(reasonOf(drifted({ windows: [] }))).toBe('No window is open.');
    expect(reasonOf(suspended)).toBe('It is suspended.');
    expect(reasonOf(stopped)).toBe('Healing has stopped.');
  });

  it.each([
    ['drift', true],
    ['pending', true],
    ['conflict', true],
    ['in-sync', false],
    ['not-read', false],
    ['unknown', false],
    ['refused', false],
    ['error', false],
  ] as const)('of what is %s: %s', (found, heals) => {
    const one = drifted();
    one.found = found;
    expect(mayHeal(one, true, T0) === null).toBe(heals);
  });

  it('stops before one path is healed once more in an hour than it may be', () => {
    const one = drifted();
    for (const minute of [0, 20]) one.wrote(['language'], at(T0 + minute * MINUTE));
    one.wrote(['llm_model'], at(T0 + 30 * MINUTE));
    expect(competing(one, T0 + 40 * MINUTE)).toBeNull();
    one.wrote(['language', 'llm_model'], at(T0 + 40 * MINUTE));
    expect(competing(one, T0 + 50 * MINUTE)).toMatchObject({
      path: 'language',
      reason: expect.stringMatching(
        /^It was healed 3 times within an hour, and somebody set it to "fr" again, about every 16 m, the last time between \S+:00Z and \S+:00Z\./,
      ),
    });
    // The first one is an hour ago.
    expect(competing(one, T0 + 60 * MINUTE)).toBeNull();
  });

  it('that the service refuses is put down to nobody, and tried again as often in an hour', () => {
    const one = drifted();
    const refused = outcome({
      status: 'failed',
      changes: [{ ...change(), result: 'not-sent' }],
      error: { code: 'settings-refused', message: 'No.', hint: '' },
    });
    for (const minute of [0, 10, 20]) {
      one.wrote(['language'], at(T0 + minute * MINUTE));
      expect(refusedTooOften(one, T0 + minute * MINUTE)).toBe(false);
      one.written(refused, T0 + minute * MINUTE);
    }
    expect(competing(one, T0 + 30 * MINUTE)).toBeNull();
    expect(refusedTooOften(one, T0 + 30 * MINUTE)).toBe(true);
    expect(refusedTooOften(one, T0 + 61 * MINUTE)).toBe(false);
    expect(one.healFailed).toEqual({
      ...at(T0),
      count: 3,
      isRefused: true,
      code: 'settings-refused',
      message: 'No.',
    });
    one.read(plan(), T0 + 62 * MINUTE, null);
    expect(one.healFailed).toBeNull();
  });

  it('says the value that somebody sets, and never one that is a secret', () => {
    const one = drifted({ maxHealsPerHour: 1 });
    one.wrote(['language'], at(T0));
    expect(competing(one, T0 + 1)?.reason).toContain('"fr"');
    one.read(plan({ changes: [change({ sensitive: true, before: 'SECRET' })] }), T0 + 2, null);
    expect(competing(one, T0 + 3)?.reason).not.toContain('SECRET');
  });

  it('counts the time that passed, if the clock is set', () => {
    for (const by of [-48, -1, 1, 48].map((hours) => hours * 60 * MINUTE)) {
      const one = drifted();
      for (const minute of [0, 1, 2]) one.wrote(['language'], at(T0 + minute * MINUTE));
      one.clockSet(by);
      expect(competing(one, T0 + by + 3 * MINUTE)?.path).toBe('language');
      expect(competing(one, T0 + by + 61 * MINUTE)).toBeNull();
    }
  });

  it('counts the time since the machine started after a restart of the controller, if it is the same start', () => {
    const up = (boot: string, minutes: number) => ({ up: { boot, ms: minutes * MINUTE } });
    for (const [boot, expected] of [
      ['one', 'language'],
      ['other', undefined],
    ] as const) {
      const one = drifted();
      for (const minute of [0, 1, 2])
        one.wrote(['language'], { ...at(T0 + minute * MINUTE), ...up('one', minute) });
      const next = drifted();
      // The clock was set by two hours between the two.
      const now = T0 + 123 * MINUTE;
      next.restore(one.remembered, { ...at(now), ...up(boot, 3) });
      expect([boot, competing(next, now)?.path]).toEqual([boot, expected]);
      expect(competing(next, now + 58 * MINUTE)).toBeNull();
    }
  });
});
