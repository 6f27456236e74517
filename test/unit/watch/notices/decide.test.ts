import { describe, expect, it } from 'vitest';
import type { NoticeEvent, WatchState } from '../../../../src/reconciler/model/watch.ts';
import { Secret } from '../../../../src/reconciler/model/secret.ts';
import { parseSelector } from '../../../../src/reconciler/model/selector.ts';
import { decide } from '../../../../src/controller/watch/notices/decide.ts';
import { describeDueNotice } from '../../../../src/controller/watch/notices/message.ts';
import type { Receiver } from '../../../../src/controller/watch/notices/receiver.ts';
import { NotifiedStates } from '../../../../src/controller/watch/notices/notified-states.ts';
import { receiver } from '../../../fixture/receivers.ts';
import { ago, WATCHED_AT, watchState } from '../../../fixture/watching.ts';

const MINUTE = 60_000;
const DRIFT = watchState({ found: 'drift', digest: 'd1' });
const OTHER = watchState({ found: 'drift', digest: 'd2' });
const IN_SYNC = watchState();
const FAILED = watchState({ found: 'error', digest: 'e1', failures: 3, since: ago(15) });

/** Tells, as time goes on by a minute, and returns what was told each time. */
function story(to: Receiver, ...states: readonly WatchState[]): string[] {
  const notified = new NotifiedStates();
  return states.map((state, index) => {
    const now = WATCHED_AT + index * MINUTE;
    const due = decide(to, [state], notified, now);
    for (const { event, digest } of due) take(notified, to, { event, digest, at: now });
    return due.map(({ event, digest }) => `${event} ${digest}`).join(', ');
  });
}

function take(
  notified: NotifiedStates,
  { name }: Receiver,
  {
    at,
    ...rest
  }: Pick<NoticeEvent, 'event' | 'digest'> & { at: number; result?: NoticeEvent['result'] },
): void {
  notified.take({
    v: 1,
    at: new Date(at).toISOString(),
    kind: 'notice',
    environment: 'production',
    receiver: name,
    result: 'sent',
    ...rest,
  });
}

describe('a receiver is told', () => {
  it('once that something is open, once of each state after it, and once that it is resolved', () => {
    expect(story(receiver(), IN_SYNC, DRIFT, DRIFT, OTHER, OTHER, DRIFT, IN_SYNC, IN_SYNC)).toEqual(
      ['', 'opened d1', '', 'changed d2', '', '', 'resolved d2', ''],
    );
  });

  it('again of the same state once it was resolved in between', () => {
    expect(story(receiver(), DRIFT, IN_SYNC, DRIFT)).toEqual([
      'opened d1',
      'resolved d1',
      'opened d1',
    ]);
  });

  it('of reads that fail only once they have for a while, and not that what differed is resolved', () => {
    const once = watchState({ found: 'error', digest: 'e1', failures: 1 });
    expect(story(receiver(), DRIFT, once, FAILED, FAILED, DRIFT, IN_SYNC)).toEqual([
      'opened d1',
      '',
      'failing e1',
      '',
      'resolved e1',
      'resolved d1',
    ]);
  });

  it('of both at once, if both end at once', () => {
    expect(story(receiver(), DRIFT, FAILED, IN_SYNC).at(-1)).toBe('resolved d1, resolved e1');
  });

  it('that something is resolved if it has another status, of which it is not told', () => {
    const pending = watchState({ found: 'pending', digest: 'p' });
    expect(story(receiver(), DRIFT, pending)).toEqual(['opened d1', 'resolved d1']);
  });

  it('of what it was told before, after the time of its reminder', () => {
    const reminded = receiver({ reminder: 2 * MINUTE });
    expect(story(reminded, DRIFT, DRIFT, DRIFT, DRIFT, DRIFT)).toEqual([
      'opened d1',
      '',
      'reminder d1',
      '',
      'reminder d1',
    ]);
    expect(story(reminded, FAILED, FAILED, FAILED)).toEqual(['failing e1', '', 'reminder e1']);
  });

  it('nothing while an environment is suspended, and afterwards what is so then', () => {
    const suspended = { at: '', reason: 'maintenance', until: null };
    const states = [DRIFT, { ...OTHER, suspended }, { ...IN_SYNC, suspended }, OTHER];
    expect(story(receiver(), ...states)).toEqual(['opened d1', '', '', 'changed d2']);
  });

  it('nothing by a controller that does not hold the lock, or has not read the environment yet', () => {
    expect(story(receiver(), { ...DRIFT, heldBy: 'another' }, DRIFT)).toEqual(['', 'opened d1']);
    expect(story(receiver(), { ...DRIFT, nextRead: null }, DRIFT)).toEqual(['', 'opened d1']);
  });

  it.each([
    [{ environments: ['prod*'] }, 'opened d1'],
    [{ environments: ['staging', 'eu-*'] }, ''],
    [{ environments: [] }, ''],
    [{ selector: parseSelector('tier=prod') }, 'opened d1'],
    [{ selector: parseSelector('tier!=prod') }, ''],
    [{ statuses: new Set(['conflict'] as const) }, ''],
    [{ events: new Set(['failing'] as const) }, ''],
  ])('of what it has chosen: %j', (chosen, notified) => {
    const state = watchState({ ...DRIFT, labels: { tier: 'prod' } });
    expect(story(receiver(chosen), state)).toEqual([notified]);
  });

  it('anew that something is open if it does not hear that it is resolved', () => {
    const to = receiver({ events: new Set(['opened']) });
    const later = new Date(WATCHED_AT + MINUTE).toISOString();
    expect(story(to, DRIFT, DRIFT, { ...DRIFT, lastInSync: later })).toEqual([
      'opened d1',
      '',
      'opened d1',
    ]);
  });
});

describe('of healing a receiver is told', () => {
  const HEAL = { ...watchState().settings, mode: 'heal' as const };
  const at = (minute: number) => new Date(WATCHED_AT + minute * MINUTE).toISOString();
  const drift = watchState({ found: 'drift', digest: 'd1', settings: HEAL, since: at(0) });
  const inSync = watchState({ settings: HEAL });
  const putBack = { at: at(0), found: 'drift', digest: 'd1', paths: ['language'] } as const;
  const stopped = { at: at(2), path: 'language', reason: 'x' };
  const healFailed = {
    at: at(2),
    count: 1,
    isRefused: true,
    code: 'settings-refused',
    message: 'x',
  };

  it('nothing of what is about to be healed, and that it was, once', () => {
    const healed = { ...inSync, putBack };
    expect(story(receiver(), drift, healed, healed)).toEqual(['', 'healed d1', '']);
  });

  it('that it differs if it is not healed within a minute, and then that it is resolved, and no more', () => {
    const healed = { ...inSync, putBack: { ...putBack, at: at(1) } };
    expect(story(receiver(), drift, drift, healed, healed)).toEqual([
      '',
      'opened d1',
      'resolved d1',
      '',
    ]);
  });

  it.each([
    ['a window is closed', { ...HEAL, windows: [] }],
    ['it is only to be detected', { ...HEAL, mode: 'detect' as const }],
  ])('at once that it differs if %s', (_, settings) => {
    expect(story(receiver(), { ...drift, settings })).toEqual(['opened d1']);
  });

  it('that it stopped, once for each time, also if it was told before that it differs', () => {
    const later = { ...drift, stopped: { ...stopped, at: at(5) } };
    const one = { ...drift, stopped };
    expect(story(receiver(), drift, drift, one, one, later, inSync)).toEqual([
      '',
      'opened d1',
      `healing-stopped d1:healing-stopped ${at(2)}`,
      '',
      `healing-stopped d1:healing-stopped ${at(5)}`,
      `resolved d1:healing-stopped ${at(5)}`,
    ]);
  });

  it('that it differs otherwise while healing is stopped', () => {
    const one = { ...drift, stopped };
    expect(story(receiver(), one, { ...one, digest: 'd2' })).toEqual([
      `healing-stopped d1:healing-stopped ${at(2)}`,
      'changed d2',
    ]);
  });

  it('that it fails, or that the write is refused, also of edits of the file, and that this is over', () => {
    const pending = watchState({ found: 'pending', digest: 'p', settings: HEAL });
    const unsent = { ...healFailed, isRefused: false, code: 'guard-refused' };
    expect(
      story(
        receiver(),
        pending,
        { ...pending, healFailed },
        { ...pending, healFailed: unsent },
        inSync,
      ),
    ).toEqual([
      '',
      'write-refused p:write-refused settings-refused',
      'heal-failed p:heal-failed guard-refused',
      'resolved p:heal-failed guard-refused',
    ]);
  });
});

describe('an end is told', () => {
  it('of an environment that is gone, once, and of nothing that was not told', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), { event: 'opened', digest: 'd1', at: WATCHED_AT });
    const gone = { state: DRIFT, end: 'left-files' } as const;
    const due = () => decide(receiver(), [], notified, WATCHED_AT, () => gone);
    expect(due()).toMatchObject([{ event: 'resolved', digest: 'd1', end: 'left-files' }]);
    expect(decide(receiver(), [], notified, WATCHED_AT, () => null)).toEqual([]);
    take(notified, receiver(), { event: 'resolved', digest: 'd1', at: WATCHED_AT });
    expect(due()).toEqual([]);
  });

  it('to a receiver whose patterns do not name the environment any more', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), { event: 'opened', digest: 'd1', at: WATCHED_AT });
    const other = receiver({ environments: ['staging'] });
    expect(decide(other, [DRIFT], notified, WATCHED_AT)).toMatchObject([
      { event: 'resolved', end: 'not-selected' },
    ]);
  });

  it.each([
    [IN_SYNC, 'difference', /^is in sync again/],
    [
      watchState({ found: 'pending' }),
      'difference',
      /^differs in another way than before, and has/,
    ],
    [watchState({ found: 'drift' }), 'failing', /^had failed, and has drift: it was changed on/],
    [IN_SYNC, 'failing', /^had failed, and is in sync now/],
    [DRIFT, 'left-files', /^is no longer in the settings files/],
    [DRIFT, 'not-watched', /^is no longer watched here/],
    [DRIFT, 'not-selected', /^is no longer among the environments of this receiver/],
  ] as const)('in words that are true', (state, end, words) => {
    expect(
      describeDueNotice({ state, event: 'resolved', track: 'difference', digest: 'd', end }),
    ).toMatch(words);
  });
});

describe('what was told', () => {
  const begun = { event: 'opened', digest: 'd1', at: WATCHED_AT, result: 'begun' } as const;
  const due = (notified: NotifiedStates) =>
    decide(receiver(), [DRIFT], notified, WATCHED_AT).length;

  it('counts as soon as it is begun, and no more if it surely was not taken', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), begun);
    expect(due(notified)).toBe(0);
    take(notified, receiver(), { ...begun, result: 'failed' });
    expect(due(notified)).toBe(1);
    take(notified, receiver(), begun);
    take(notified, receiver(), { ...begun, result: 'unknown' });
    expect(due(notified)).toBe(0);
  });

  it('survives in as few records as it needs', () => {
    const notified = new NotifiedStates();
    for (const digest of ['d1', 'd2', 'd3'])
      take(notified, receiver(), {
        event: digest === 'd1' ? 'opened' : 'changed',
        digest,
        at: WATCHED_AT,
      });
    take(notified, receiver(), { event: 'failing', digest: 'e1', at: WATCHED_AT });
    const again = new NotifiedStates();
    for (const record of notified.records()) again.take(record);
    expect(notified.records()).toHaveLength(4);
    expect(again.of('team', 'production')).toEqual(notified.of('team', 'production'));
    take(notified, receiver(), { event: 'resolved', digest: 'd3', at: WATCHED_AT });
    take(notified, receiver(), { event: 'resolved', digest: 'e1', at: WATCHED_AT });
    expect(notified.records()).toEqual([]);
  });

  it('survives with what has begun, so that its end is taken for nothing else', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), { event: 'failing', digest: 'e1', at: WATCHED_AT });
    take(notified, receiver(), begun);
    take(notified, receiver(), { ...begun, event: 'resolved', digest: 'e1' });
    const again = new NotifiedStates(notified.records());
    expect(again.of('team', 'production')).toEqual(notified.of('team', 'production'));
    for (const one of [notified, again]) {
      take(one, receiver(), { ...begun, result: 'sent' });
      take(one, receiver(), { ...begun, event: 'resolved', digest: 'e1', result: 'sent' });
      expect(due(one)).toBe(0);
      expect(one.of('team', 'production')).toMatchObject({ failing: null, isPending: false });
    }
  });

  it('survives with what was told before something that has begun and is not taken', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), { ...begun, result: 'sent' });
    take(notified, receiver(), { ...begun, event: 'resolved' });
    const again = new NotifiedStates(notified.records());
    take(again, receiver(), { ...begun, event: 'resolved', result: 'failed' });
    expect(due(again)).toBe(0);
  });

  it('is not ended by a late result of another notice', () => {
    const notified = new NotifiedStates();
    take(notified, receiver(), begun);
    take(notified, receiver(), { ...begun, event: 'resolved', digest: 'd0', result: 'sent' });
    take(notified, receiver(), { ...begun, result: 'sent' });
    take(notified, receiver(), { ...begun, event: 'resolved', digest: 'd0', result: 'unknown' });
    expect(due(notified)).toBe(0);
  });

  it('of an issue that may not have been closed is tried after a restart, and then no more', () => {
    const issues = receiver({
      to: { form: 'github-issue', repository: 'a/b', token: new Secret('t'), apiUrl: null },
    });
    const notified = new NotifiedStates();
    const resolved = { ...begun, event: 'resolved' } as const;
    for (const one of [begun, resolved]) take(notified, issues, one);
    const again = new NotifiedStates(notified.records());
    const found = decide(issues, [IN_SYNC], again, WATCHED_AT);
    expect(found).toMatchObject([{ event: 'resolved' }]);
    const last = { ...resolved, digest: found[0]?.digest ?? '' };
    take(again, issues, last);
    take(again, issues, { ...last, result: 'sent' });
    expect(decide(issues, [IN_SYNC], again, WATCHED_AT)).toEqual([]);
  });
});
