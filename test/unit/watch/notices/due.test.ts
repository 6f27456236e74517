import { describe, expect, it } from 'vitest';
import type { NoticeEvent, WatchState } from '../../../../src/reconciler/model/watch.ts';
import { Secret } from '../../../../src/reconciler/model/secret.ts';
import {
  decide,
  stateDigest,
  findHealTrouble,
} from '../../../../src/controller/watch/notices/decide.ts';
import type { Receiver } from '../../../../src/controller/watch/notices/receiver.ts';
import { NotifiedStates } from '../../../../src/controller/watch/notices/notified-states.ts';
import { change, environment } from '../../../fixture/documents.ts';
import { receiver } from '../../../fixture/receivers.ts';
import { StateStory } from '../../../fixture/state-story.ts';
import { ago, WATCHED_AT, watchState } from '../../../fixture/watching.ts';

const MINUTE = 60_000;
const HEAL = { ...watchState().settings, mode: 'heal' as const };
const DRIFT = watchState({ found: 'drift', digest: 'd1' });
const IN_SYNC = watchState();
const FAILED = watchState({ found: 'error', digest: 'e1', failures: 3, since: ago(15) });
const iso = (at: number) => new Date(at).toISOString();

type Noticed = Pick<NoticeEvent, 'event' | 'digest'> & Partial<Pick<NoticeEvent, 'result'>>;

/** What a receiver was told of production, each at its minute. */
function toldOf(to: Receiver, ...notices: readonly (Noticed & { readonly minute?: number })[]) {
  const notified = new NotifiedStates();
  for (const { minute = 0, result = 'sent', ...rest } of notices)
    notified.take({
      v: 1,
      at: iso(WATCHED_AT + minute * MINUTE),
      kind: 'notice',
      environment: 'production',
      receiver: to.name,
      result,
      ...rest,
    });
  return notified;
}

const opened = { event: 'opened', digest: 'd1' } as const;
const failing = { event: 'failing', digest: 'e1' } as const;

/** What is due to a receiver that was told this before, `after` milliseconds later. */
function due(to: Receiver, state: WatchState, before: Parameters<typeof toldOf>[1][], after = 0) {
  const all = decide(to, [state], toldOf(to, ...before), WATCHED_AT + after);
  return all.map(({ event, digest }) => `${event} ${digest}`);
}

describe('a receiver that has chosen what it is told', () => {
  it('is told of reads that fail only if that is among it', () => {
    const to = receiver({ statuses: new Set(['drift']) });
    expect(due(to, FAILED, [])).toEqual([]);
    expect(due(to, DRIFT, [])).toEqual(['opened d1']);
  });

  it('is reminded of a state that it heard no change to', () => {
    const to = receiver({ events: new Set(['opened', 'reminder']), reminder: 2 * MINUTE });
    const other = { ...DRIFT, digest: 'd2' };
    expect(due(to, other, [opened], MINUTE)).toEqual([]);
    expect(due(to, other, [opened], 2 * MINUTE)).toEqual(['reminder d2']);
  });

  it('is told of what cannot be healed as of a difference if that is among it, and else not at all', () => {
    const stopped = { at: ago(0), path: 'language', reason: 'x' };
    const events = new Set(['opened', 'resolved'] as const);
    const pending = watchState({ found: 'pending', digest: 'p', settings: HEAL, stopped });
    expect(due(receiver({ events }), pending, [])).toEqual([]);
    expect(due(receiver({ events }), { ...pending, found: 'drift' }, [])).toEqual(['opened p']);
  });

  it('hears anew of what ended without a word, and only if it surely ended since', () => {
    const to = receiver({ events: new Set(['opened', 'failing']) });
    const since = (
      state: WatchState,
      before: typeof opened | typeof failing,
      minute: number | null,
    ) =>
      due(to, { ...state, lastInSync: minute === null ? null : ago(-minute) }, [
        { ...before, minute: 5 },
      ]);
    expect([null, 4, 5, 6].map((minute) => since(DRIFT, opened, minute))).toEqual([
      [],
      [],
      [],
      ['opened d1'],
    ]);
    expect([null, 4, 5, 6].map((minute) => since(FAILED, failing, minute))).toEqual([
      [],
      [],
      [],
      ['failing e1'],
    ]);
  });

  it('hears of an end once it is there, if it hears of ends', () => {
    const later = { ...DRIFT, lastInSync: ago(-6) };
    expect(due(receiver(), later, [{ ...opened, minute: 5 }])).toEqual([]);
    expect(due(receiver(), { ...IN_SYNC, lastInSync: ago(-6) }, [opened, failing])).toEqual([
      'resolved d1',
      'resolved e1',
    ]);
  });
});

describe('nothing is told', () => {
  it('of an environment that was not read yet, whatever was told of it', () => {
    const to = receiver({ statuses: new Set(['drift', 'not-read' as never]) });
    expect(due(to, watchState({ found: 'not-read' }), [opened])).toEqual([]);
    expect(due(to, watchState({ found: 'not-read' }), [])).toEqual([]);
  });

  it('of reads that have failed for less than ten minutes, or three intervals, however many they are', () => {
    const { settings } = FAILED;
    const lasting = (minutes: number, interval: number) =>
      due(
        receiver(),
        { ...FAILED, failures: 50, since: ago(minutes), settings: { ...settings, interval } },
        [],
      );
    for (const interval of [5 * MINUTE, 24 * 60 * MINUTE]) {
      expect(lasting(9.9, interval)).toEqual([]);
      expect(lasting(10, interval)).toEqual(['failing e1']);
    }
    expect(lasting(2.9, MINUTE)).toEqual([]);
    expect(lasting(3, MINUTE)).toEqual(['failing e1']);
    // The clock was set back.
    expect(lasting(-60, MINUTE)).toEqual(['failing e1']);
  });

  it('to a receiver that has no reminder, however long it lasts', () => {
    expect(due(receiver(), DRIFT, [opened], 9000 * MINUTE)).toEqual([]);
    expect(due(receiver(), FAILED, [failing], 9000 * MINUTE)).toEqual([]);
  });

  it('of the end of an environment of which nothing was told', () => {
    const other = receiver({ environments: ['staging'] });
    expect(due(other, DRIFT, [])).toEqual([]);
    expect(due(other, DRIFT, [opened, { ...opened, event: 'resolved' }])).toEqual([]);
  });
});

describe('what is about to be healed', () => {
  const drift = watchState({ found: 'drift', digest: 'd1', settings: HEAL, since: ago(0) });
  const putBack = { at: ago(0), found: 'drift', digest: 'd1', paths: ['language'] } as const;

  it('is told to nobody for a minute, and at once if a clock says that it began later', () => {
    const at = (after: number) => due(receiver(), drift, [], after);
    expect([-1, 0, MINUTE - 1, MINUTE].map(at)).toEqual([['opened d1'], [], [], ['opened d1']]);
  });

  it('is told at once if healing it has failed before', () => {
    const healFailed = { at: ago(0), count: 1, isRefused: false, code: 'tls', message: 'x' };
    const events = new Set(['opened'] as const);
    expect(due(receiver({ events }), { ...drift, healFailed }, [])).toEqual(['opened d1']);
  });

  it('is told to have been healed for ten minutes, and not twice', () => {
    const healed = { ...IN_SYNC, settings: HEAL, putBack };
    const at = (after: number) => due(receiver(), healed, [], after);
    expect([0, 10 * MINUTE - 1, 10 * MINUTE].map(at)).toEqual([['healed d1'], ['healed d1'], []]);
    const before = { event: 'healed', digest: 'd0' } as const;
    expect(due(receiver(), healed, [{ ...before, minute: -1 }])).toEqual(['healed d1']);
    expect(due(receiver(), healed, [before])).toEqual([]);
  });

  it('is not told to have been healed if it is not in sync, or was nothing that the receiver is told of', () => {
    const edit = { ...putBack, found: 'pending' } as const;
    expect(due(receiver(), { ...IN_SYNC, putBack: edit }, [])).toEqual([]);
    expect(due(receiver(), watchState({ found: 'pending', putBack }), [])).toEqual([]);
    expect(due(receiver(), IN_SYNC, [])).toEqual([]);
  });
});

describe('what keeps an environment from being healed', () => {
  const stopped = { at: ago(3), path: 'language', reason: 'x' };
  const healFailed = { at: ago(2), count: 1, isRefused: true, code: 'tls', message: 'x' };
  const drift = watchState({ found: 'drift', settings: HEAL });

  it.each([
    ['nothing', {}, null],
    ['that healing stopped', { stopped, healFailed }, ['healing-stopped', ago(3), ago(3)]],
    ['a refused write', { healFailed }, ['write-refused', 'tls', ago(2)]],
    [
      'a heal that failed',
      { healFailed: { ...healFailed, isRefused: false } },
      ['heal-failed', 'tls', ago(2)],
    ],
    ['nothing in sync', { found: 'in-sync', stopped, healFailed }, null],
    ['nothing while it cannot be read', { found: 'error', stopped, healFailed }, null],
    [
      'nothing that is only detected',
      { settings: watchState().settings, stopped, healFailed },
      null,
    ],
  ] as const)('is %s', (_, more, trouble) => {
    const [event, key, since] = trouble ?? [];
    expect(findHealTrouble({ ...drift, ...more })).toEqual(
      trouble === null ? null : { event, key: `${event} ${key}`, since },
    );
  });

  it('stands behind the digest of the state', () => {
    expect(['d1', `d1:healing-stopped ${ago(3)}`, ''].map(stateDigest)).toEqual(['d1', 'd1', '']);
  });

  it('is told once, and again if it was told of another time', () => {
    const state = { ...drift, digest: 'd1', stopped };
    const key = `healing-stopped ${ago(3)}`;
    const before = { event: 'healing-stopped', digest: `d1:${key}` } as const;
    expect(due(receiver(), state, [opened])).toEqual([`healing-stopped d1:${key}`]);
    expect(due(receiver(), state, [opened, before])).toEqual([]);
    expect(due(receiver(), state, [before, { event: 'changed', digest: 'd2' }])).toEqual([]);
    const ended = { ...opened, event: 'resolved', digest: `d1:${key}` } as const;
    expect(due(receiver(), state, [before, ended])).toEqual([`healing-stopped d1:${key}`]);
  });
});

describe('an issue of which it is not known whether it was kept', () => {
  const to = {
    form: 'github-issue',
    repository: 'a/b',
    token: new Secret('t'),
    apiUrl: null,
  } as const;
  const issues = receiver({ to });
  const begun = { ...opened, result: 'begun' } as const;
  const ending = { ...begun, event: 'resolved' } as const;

  it('is kept again, which a message is not', () => {
    expect(due(issues, DRIFT, [begun])).toEqual(['opened d1']);
    expect(due(receiver(), DRIFT, [begun])).toEqual([]);
    expect(due(issues, DRIFT, [opened])).toEqual([]);
  });

  it('is closed again, with the environment in sync or not told of any more', () => {
    expect(due(issues, { ...IN_SYNC, digest: 's' }, [opened, ending])).toEqual(['resolved s']);
    expect(due(receiver(), IN_SYNC, [opened, ending])).toEqual([]);
    const other = { ...issues, environments: ['staging'] };
    expect(due(other, DRIFT, [opened, ending])).toEqual(['resolved d1']);
    expect(due({ ...other, to: receiver().to }, DRIFT, [opened, ending])).toEqual([]);
  });
});

it('what is told is the state that was decided on, although the next read ends before it is sent', () => {
  const story = new StateStory(WATCHED_AT - MINUTE);
  story.read(environment({ changes: [change()] }), WATCHED_AT);
  story.state = { ...story.state, nextRead: ago(-1) };
  const [found] = decide(receiver(), [story.state], new NotifiedStates(), WATCHED_AT);
  story.read(environment(), WATCHED_AT + 1);
  expect(found?.state).toMatchObject({
    name: 'production',
    status: 'drift',
    found: 'drift',
    nextRead: ago(-1),
  });
  expect([...(found?.state.reads ?? [])]).toEqual([{ at: ago(0), status: 'drift' }]);
  expect(found).toMatchObject({ event: 'opened', end: null });
});

it('both ends of an environment that is gone are told, the latest state of each', () => {
  const notified = toldOf(receiver(), opened, { event: 'changed', digest: 'd2' }, failing);
  const gone = { state: DRIFT, end: 'not-watched' } as const;
  const all = decide(receiver(), [], notified, WATCHED_AT, (name) =>
    name === 'production' ? gone : null,
  );
  expect(all).toMatchObject([
    { event: 'resolved', digest: 'd2', end: 'not-watched' },
    { event: 'resolved', digest: 'e1', end: 'not-watched' },
  ]);
});

it('whoever knows what is gone is asked about what is watched, too, so that its time begins anew', () => {
  const asked: string[] = [];
  const gone = (name: string) => {
    asked.push(name);
    return null;
  };
  const other = { ...IN_SYNC, name: 'staging' };
  decide(receiver(), [DRIFT, other], toldOf(receiver(), opened), WATCHED_AT, gone);
  expect(asked).toEqual(['production']);
});

it('an end says what is over: that something differed, or that it could not be read', () => {
  const ends = (to: Receiver, ...before: Parameters<typeof toldOf>[1][]) =>
    decide(to, [IN_SYNC], toldOf(to, ...before), WATCHED_AT).map(({ end }) => end);
  expect(ends(receiver(), opened, failing)).toEqual(['difference', 'failing']);
  const issue = receiver({
    to: { form: 'github-issue', repository: 'a/b', token: new Secret('t'), apiUrl: null },
  });
  const ending = { ...opened, event: 'resolved', result: 'begun' } as const;
  expect(ends(issue, opened, ending)).toEqual(['difference']);
});
