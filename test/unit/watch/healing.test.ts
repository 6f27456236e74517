import { describe, expect, it } from 'vitest';
import type { WatchSettings, WatchState } from '../../../src/reconciler/model/watch.ts';
import {
  healsAfter,
  shiftHealTimes,
  recent,
  isRefusedTooOften,
  adjustHealTimes,
  whyStopHealing,
} from '../../../src/controller/watch/heal-limits.ts';
import {
  addHealFailure,
  isStanding,
  whyMustNotHeal,
} from '../../../src/controller/watch/healing.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';
import { StateStory } from '../../fixture/state-story.ts';

const T0 = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const named = { environment: 'production' };
const at = (time: number) => ({ at: new Date(time).toISOString() });

function drifted(settings: Partial<WatchSettings> = {}): StateStory {
  const one = new StateStory(T0, { mode: 'heal', ...settings });
  one.read(plan(), T0 - MINUTE, null);
  one.read(plan({ changes: [change()] }), T0, null);
  return one;
}

const reasonOf = (state: WatchState): string | undefined =>
  whyMustNotHeal(state, 'paths', T0)?.words;

describe('healing', () => {
  it('is done after two reads', () => {
    expect(whyMustNotHeal(drifted().state, 'paths', T0)).toBeNull();
    expect(whyMustNotHeal(drifted().state, 'no', T0)).toEqual({
      words: 'one read only: the next one confirms it',
      again: true,
    });
  });

  it('is not done in mode detect, out of windows, suspended, or once it has stopped', () => {
    const suspended = drifted();
    suspended.know({ kind: 'set', suspended: { at: '', reason: 'x', until: null } });
    const stopped = drifted();
    stopped.take({ kind: 'healing-stopped', ...named, path: 'language', reason: 'x' }, T0);
    expect(whyMustNotHeal(drifted({ mode: 'detect' }).state, 'paths', T0)).toEqual({
      words: 'detect only',
      again: false,
    });
    expect(reasonOf(drifted({ windows: [] }).state)).toBe('window closed until it opens again');
    expect(reasonOf(suspended.state)).toBe('suspended');
    expect(reasonOf(stopped.state)).toBe('healing stopped');
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
    expect(reasonOf({ ...drifted().state, found })).toBe(
      heals ? undefined : 'nothing is to be healed',
    );
  });

  it('removes nothing that a service keeps by name, unless the file says so', () => {
    const removing = (resource: string, removes: boolean): StateStory => {
      const one = drifted({ removes });
      const removal = change({ resource, path: ['secrets', 'JIRA'], action: 'remove' });
      one.read(plan({ changes: [change(), removal] }), T0, null);
      return one;
    };
    expect(reasonOf(removing('secret', false).state)).toBe(
      'it would remove secrets.JIRA, which watch.remove does not allow',
    );
    expect(reasonOf(removing('secret', true).state)).toBeUndefined();
    expect(reasonOf(removing('settings', false).state)).toBeUndefined();
    expect(reasonOf(removing('active profile', false).state)).toBeUndefined();
  });

  it('stops before one path is healed once more in an hour than it may be', () => {
    const one = drifted();
    for (const minute of [0, 20]) one.wrote(['language'], at(T0 + minute * MINUTE));
    expect(whyStopHealing(one.state, T0 + 40 * MINUTE)).toBeNull();
    one.wrote(['language', 'llm_model'], at(T0 + 40 * MINUTE));
    expect(whyStopHealing(one.state, T0 + 50 * MINUTE)).toMatchObject({
      path: 'language',
      reason: expect.stringMatching(
        /^It was healed 3 times within an hour, and another client set it to "fr" again, about every 16 m, the last time between \S+:00Z and \S+:00Z\./,
      ),
    });
    // The first one is an hour ago.
    expect(whyStopHealing(one.state, T0 + 60 * MINUTE)).toBeNull();
  });

  it('stops before the environment is healed once more, whatever the paths were', () => {
    const one = drifted();
    for (const [index, path] of ['agent', 'llm_model', 'mcp_config.a'].entries())
      one.wrote([path], at(T0 + 10 * index * MINUTE));
    expect(whyStopHealing(one.state, T0 + 50 * MINUTE)).toEqual({
      path: 'language',
      reason:
        'The environment was healed 3 times within an hour (agent, llm_model, mcp_config.a), and another client changed it again, ' +
        'about every 16 m, now at language. The server does not report which one: look for another pipeline, a user or a start script that writes it.',
    });
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
      expect(isRefusedTooOften(one.state, T0 + minute * MINUTE)).toBe(false);
      one.written(refused, T0 + minute * MINUTE);
    }
    expect(whyStopHealing(one.state, T0 + 30 * MINUTE)).toBeNull();
    expect(isRefusedTooOften(one.state, T0 + 30 * MINUTE)).toBe(true);
    expect(isRefusedTooOften(one.state, T0 + 61 * MINUTE)).toBe(false);
    expect(one.state.healFailed).toEqual({
      ...at(T0),
      count: 3,
      isRefused: true,
      code: 'settings-refused',
      message: 'No.',
    });
    one.read(plan(), T0 + 62 * MINUTE, null);
    expect(one.state.healFailed).toBeNull();
  });

  it('says the value that somebody sets, and never one that is a secret', () => {
    const one = drifted({ maxHealsPerHour: 1 });
    const other = change({ path: ['llm_model'], before: 'theirs' });
    one.read(plan({ changes: [other, change()] }), T0 + MINUTE, null);
    one.wrote(['language'], at(T0));
    expect(whyStopHealing(one.state, T0 + 2 * MINUTE)?.reason).toBe(
      'It was healed 1 time within an hour, and another client set it to "fr" again, about every 2 m, ' +
        'the last time between 2026-03-01T11:59:00Z and 2026-03-01T12:00:00Z. The server does not report which one: ' +
        'look for another pipeline, a user or a start script that writes it.',
    );
    one.read(
      plan({ changes: [change({ sensitive: true, before: 'SECRET' })] }),
      T0 + 2 * MINUTE,
      null,
    );
    const hidden = whyStopHealing(one.state, T0 + 3 * MINUTE)?.reason;
    expect(hidden).toContain('another client set it to a value that is not shown again');
    expect(hidden).not.toContain('SECRET');
  });

  it('knows of no last time that another writer came, if nothing was read before', () => {
    const one = new StateStory(T0, { mode: 'heal', maxHealsPerHour: 1 });
    one.read(plan({ changes: [change()] }), T0, null);
    one.wrote(['language'], at(T0));
    expect(whyStopHealing(one.state, T0 + MINUTE)?.reason).toContain('about every 1 m. The server');
  });

  it('competes with nobody while no plan is known', () => {
    const one = new StateStory(T0, { mode: 'heal', maxHealsPerHour: 1 });
    one.wrote(['language'], at(T0));
    expect(whyStopHealing(one.state, T0)).toBeNull();
    expect(isRefusedTooOften(one.state, T0)).toBe(false);
  });

  it('counts the time that passed, if the clock is set', () => {
    for (const by of [-48, -1, 1, 48].map((hours) => hours * 60 * MINUTE)) {
      const one = drifted();
      for (const minute of [0, 1, 2]) one.wrote(['language'], at(T0 + minute * MINUTE));
      one.take({ kind: 'clock-set', ...named, by }, T0);
      expect(whyStopHealing(one.state, T0 + by + 3 * MINUTE)?.path).toBe('language');
      expect(whyStopHealing(one.state, T0 + by + 61 * MINUTE)).toBeNull();
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
      next.restore(one.state, { ...at(now), ...up(boot, 3) });
      expect([boot, whyStopHealing(next.state, now)?.path]).toEqual([boot, expected]);
      expect(whyStopHealing(next.state, now + 58 * MINUTE)).toBeNull();
    }
  });
});

describe('a heal that has ended', () => {
  const heal = { ...at(T0), paths: ['language'] };
  const earlier = { ...at(T0 - MINUTE), paths: ['language'] };
  const kept = { ...change(), result: 'verified' } as const;
  const refused = { ...change(), result: 'not-sent' } as const;

  it('counts if it was sent, and as not kept if the service stored nothing of it', () => {
    const sent = { get: 1, post: 1 };
    expect(healsAfter([], { requests: sent, changes: [kept] })).toEqual([]);
    expect(healsAfter([earlier, heal], { requests: sent, changes: [kept] })).toEqual([
      earlier,
      heal,
    ]);
    expect(healsAfter([earlier, heal], { requests: sent, changes: [refused, kept] })).toEqual([
      earlier,
      heal,
    ]);
    expect(healsAfter([earlier, heal], { requests: sent, changes: [refused] })).toEqual([
      earlier,
      { ...heal, kept: false },
    ]);
    expect(healsAfter([earlier, heal], { requests: { get: 1, post: 0 }, changes: [kept] })).toEqual(
      [earlier],
    );
  });

  const error = (code: string) => ({ code, message: `It is ${code}.`, hint: '' });

  it('ends the failures before it if it succeeded', () => {
    const before = addHealFailure(null, { error: error('unreachable') }, at(T0).at);
    expect(before).toMatchObject({ count: 1, isRefused: false });
    expect(addHealFailure(before, { error: null }, at(T0 + 1).at)).toBeNull();
  });

  it('adds to the failures before it, which began when the first did', () => {
    const before = addHealFailure(null, { error: error('unreachable') }, at(T0).at);
    const after = addHealFailure(before, { error: error('bad-response') }, at(T0 + MINUTE).at);
    expect(after).toEqual({
      ...at(T0),
      count: 2,
      isRefused: false,
      code: 'bad-response',
      message: 'It is bad-response.',
    });
  });

  it.each(['interrupted', 'contended', 'lock-lost'])(
    'with %s neither failed nor succeeded',
    (code) => {
      expect(addHealFailure(null, { error: error(code) }, at(T0).at)).toBeNull();
      const before = addHealFailure(null, { error: error('unreachable') }, at(T0).at);
      expect(addHealFailure(before, { error: error(code) }, at(T0 + 1).at)).toBe(before);
    },
  );

  it.each([
    ['what the service answers as invalid', 'settings-refused', 1, [refused], true],
    ['a write that nothing was sent of', 'settings-refused', 0, [refused], false],
    ['a write of which something was stored', 'settings-refused', 1, [refused, kept], false],
    ['an answer that did not come', 'unreachable', 1, [refused], false],
    ['a write without changes', 'bad-response', 1, [], true],
  ] as const)('is refused by the service: %s', (_, code, post, changes, isRefused) => {
    const attempt = { error: error(code), changes, requests: { get: 1, post } };
    expect(addHealFailure(null, attempt, at(T0).at)?.isRefused).toBe(isRefused);
  });

  it('is refused by nobody if it is not known what was sent', () => {
    const attempt = { error: error('settings-refused'), changes: [refused] };
    expect(addHealFailure(null, attempt, at(T0).at)?.isRefused).toBe(false);
    const unknown = { error: error('settings-refused'), requests: { get: 1, post: 1 } };
    expect(addHealFailure(null, unknown, at(T0).at)?.isRefused).toBe(true);
  });

  it('stands until somebody changes something, if no read can tell that it is over', () => {
    const standing = (code: string): boolean => isStanding({ code });
    const ends = { 3: 'reference-missing', 5: 'guard-refused', 6: 'not-covered' };
    expect(Object.values(ends).filter((code) => !standing(code))).toEqual([]);
    expect(['unreachable', 'unauthorized', 'bad-response'].filter(standing)).toEqual([]);
  });
});

describe('the times of heals', () => {
  const up = (boot: string, ms: number) => ({ up: { boot, ms } });
  const heal = { ...at(T0), ...up('one', 5 * MINUTE), paths: ['language'] };

  it('are those of the last hour', () => {
    const now = (minutes: number, boot = 'one') => ({
      ...at(T0 + 9_000 * MINUTE),
      ...up(boot, (5 + minutes) * MINUTE),
    });
    expect(recent([heal], now(0))).toEqual([heal]);
    expect(recent([heal], now(59.9))).toEqual([heal]);
    expect(recent([heal], now(60))).toEqual([]);
    // After another start of the machine, or with a time since the start that went back, only the time of day is left.
    expect(recent([heal], now(1, 'other'))).toEqual([]);
    expect(recent([heal], now(-1))).toEqual([]);
    expect(recent([heal], { ...at(T0 + 59 * MINUTE) })).toEqual([heal]);
    expect(recent([{ ...at(T0), paths: [] }], now(1))).toEqual([]);
  });

  it('are told as the clock of now tells them, and move with it', () => {
    const now = { ...at(T0 + 90 * MINUTE), ...up('one', 15 * MINUTE) };
    expect(adjustHealTimes([heal], now)).toEqual([{ ...heal, ...at(T0 + 80 * MINUTE) }]);
    expect(shiftHealTimes([heal], -MINUTE)).toEqual([{ ...heal, ...at(T0 - MINUTE) }]);
  });
});
