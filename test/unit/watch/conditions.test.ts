import { describe, expect, it } from 'vitest';
import { CONDITION_KINDS } from '../../../src/reconciler/model/watch.ts';
import { Conditions, NONE_YET, overText } from '../../../src/controller/watch/conditions.ts';

/** Conditions of a controller whose clock a test sets, and what was logged of them. */
function made() {
  const clock = { now: 0 };
  const logged: string[] = [];
  const conditions = new Conditions(
    () => clock.now,
    ({ severity, message }) => logged.push(`${severity}: ${message}`),
  );
  return { clock, logged, conditions };
}

describe('a condition', () => {
  it('is logged when it begins, changes and ends, and has lasted since it began', () => {
    const { clock, logged, conditions } = made();
    clock.now = 1000;
    conditions.set('files', 'It is not YAML.');
    clock.now = 2000;
    conditions.set('files', 'It is not YAML.');
    conditions.set('files', 'It is empty.');
    expect(conditions.list()).toEqual([
      {
        kind: 'files',
        receiver: null,
        message:
          'The settings files cannot be used; the last good ones remain in effect. It is empty.',
        since: '1970-01-01T00:00:01.000Z',
      },
    ]);
    conditions.set('files', null);
    expect(conditions.list()).toEqual([]);
    expect(logged).toEqual([
      'warning: The settings files cannot be used; the last good ones remain in effect. It is not YAML.',
      'warning: The settings files cannot be used; the last good ones remain in effect. It is empty.',
      'info: The settings files can be used again.',
    ]);
  });

  it('that comes back within the same trouble is not logged again, and anew after its end it is', () => {
    const { logged, conditions } = made();
    for (const problem of ['A.', 'B.', 'A.', 'B.']) conditions.set('locks', problem);
    expect(logged).toHaveLength(2);
    conditions.set('locks', null);
    conditions.set('locks', 'A.');
    expect(logged.slice(2)).toEqual([
      'info: The locks can be used again.',
      'warning: A. Nothing is healed without a lock.',
    ]);
  });

  it('that never began has no end', () => {
    const { logged, conditions } = made();
    conditions.set('journal', null);
    expect(logged).toEqual([]);
  });

  it('is told apart by its part, and is over with the last of them', () => {
    const { logged, conditions } = made();
    conditions.set('journal', 'The disk is full.');
    conditions.set('journal', 'A line cannot be read.', 'history');
    expect(conditions.list().map(({ message }) => message)).toEqual([
      'The disk is full. Until it can be written again, nothing is healed and no notices of environments are sent.',
      'A line cannot be read. What happened before is not shown.',
    ]);
    conditions.set('journal', null);
    expect(conditions.has('journal')).toBe(true);
    expect(logged.filter((one) => one.startsWith('info'))).toEqual([]);
    conditions.set('journal', null, 'history');
    expect(conditions.has('journal')).toBe(false);
    expect(logged.at(-1)).toBe('info: The journal can be written again.');
  });

  it('leaves somebody waiting for news in vain if nothing can be kept or told, or nothing was ever known', () => {
    const { conditions } = made();
    for (const kind of ['suspensions', 'files', 'git'] as const) {
      conditions.set(kind, 'It is a folder.');
      expect(conditions.areSilencing, kind).toBe(false);
      conditions.set(kind, 'It is a folder.', NONE_YET);
      expect(conditions.areSilencing, kind).toBe(true);
      conditions.set(kind, null, NONE_YET);
      expect(conditions.areSilencing, kind).toBe(false);
    }
    for (const kind of ['journal', 'locks'] as const) {
      conditions.set(kind, 'It is a folder.');
      expect(conditions.areSilencing, kind).toBe(true);
      conditions.set(kind, null);
    }
  });

  it('of one kind says nothing of another', () => {
    const { conditions } = made();
    conditions.set('suspensions', 'It is a folder.');
    expect(CONDITION_KINDS.filter((kind) => conditions.has(kind))).toEqual(['suspensions']);
    expect(conditions.list()[0]?.message).toBe(
      'It is a folder. Nothing is healed until the suspensions are known; the last known ones remain in effect.',
    );
  });
});

describe('receivers', () => {
  it('each have their own trouble, which ends by itself', () => {
    const { logged, conditions } = made();
    conditions.set('receiver', 'It answers 500.', 'team');
    conditions.set('receiver', 'It answers 500.', 'ops');
    expect(conditions.list().map(({ receiver, message }) => [receiver, message])).toEqual([
      ['team', 'It answers 500.'],
      ['ops', 'It answers 500.'],
    ]);
    conditions.set('receiver', null, 'team');
    expect(logged).toEqual([
      'warning: It answers 500.',
      'warning: It answers 500.',
      'info: The receiver team takes notices again.',
    ]);
    expect(conditions.list()).toHaveLength(1);
  });

  it('are known once they were taken, also if nothing is wrong with them', () => {
    const { conditions } = made();
    conditions.set('receiver', null, 'team');
    conditions.set('receiver', 'x', 'ops');
    conditions.set('receiver', null, 'ops');
    conditions.set('files', 'x');
    expect(conditions.receivers).toEqual(['team', 'ops']);
  });
});

it('conditions are listed in the order of their kinds, whenever they began', () => {
  const { conditions } = made();
  for (const kind of CONDITION_KINDS.toReversed()) conditions.set(kind, 'x');
  expect(conditions.list().map(({ kind }) => kind)).toEqual(CONDITION_KINDS);
});

it('each kind says that it is right again', () => {
  expect(CONDITION_KINDS.map((kind) => overText(kind, 'team'))).toEqual([
    'The journal can be written again.',
    'The locks can be used again.',
    'The suspensions can be read again.',
    'The settings files can be used again.',
    'The settings files can be used again.',
    'The SettingsTargets can be listed again.',
    'Environments are read on time again.',
    'The certificate and the token of the page can be read again.',
    'The receiver team takes notices again.',
  ]);
});
