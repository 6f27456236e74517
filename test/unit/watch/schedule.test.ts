import { describe, expect, it } from 'vitest';
import { parseFile } from '../../../src/reconciler/desired/parse.ts';
import { member } from '../../../src/reconciler/desired/node.ts';
import { readWatchSettings } from '../../../src/reconciler/desired/blocks/watch.ts';
import {
  isInAnyWindow,
  nextOpening,
  untilFirstRead,
  untilNextRead,
} from '../../../src/controller/watch/schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('how long until the next read', () => {
  it.each([
    [0, 5, 5],
    [1, 5, 5],
    [2, 5, 10],
    [3, 5, 20],
    [4, 5, 40],
    [5, 5, 60],
    [1000, 5, 60],
  ])('after %i failures in a row: %i minutes for an outage, else %i', (failures, down, other) => {
    expect(untilNextRead(5 * MINUTE, failures, 'unreachable', 0.5)).toBe(down * MINUTE);
    expect(untilNextRead(5 * MINUTE, failures, 'unauthorized', 0.5)).toBe(other * MINUTE);
  });

  it('is a tenth more or less, so that environments do not move in step', () => {
    expect(untilNextRead(100_000, 0, '', 0)).toBeCloseTo(90_000);
    expect(untilNextRead(100_000, 0, '', 1)).toBeCloseTo(110_000);
  });

  it('is the interval if nothing was sent, because a reference has no value', () => {
    expect(untilNextRead(MINUTE, 9, 'reference-missing', 0.5)).toBe(MINUTE);
  });

  it('is never shorter than an interval that is longer than the longest back-off', () => {
    expect(untilNextRead(24 * HOUR, 9, 'unreachable', 0.5)).toBe(24 * HOUR);
  });

  it('begins within the first minute, and within the interval; few environments are read at once', () => {
    expect(untilFirstRead(5 * MINUTE, 10_000, 1)).toBe(MINUTE);
    expect(untilFirstRead(10_000, 10_000, 1)).toBe(10_000);
    expect(untilFirstRead(5 * MINUTE, 10_000, 0)).toBe(0);
    expect(untilFirstRead(5 * MINUTE, 3, 1)).toBe(300);
  });
});

function windows(...texts: string[]) {
  const lines = texts.map((text) => `    - "${text}"\n`).join('');
  const text = `version: 1\nwatch:\n  windows:${texts.length === 0 ? ' []\n' : `\n${lines}`}`;
  const { root } = parseFile('settings.yaml', text, undefined);
  if (root?.kind !== 'map') throw new Error('not a file');
  return readWatchSettings(member(root, 'watch')).windows;
}

const at = (text: string): number => Date.parse(text);

describe('windows', () => {
  it('say when the next one opens, by the clock of their zone', () => {
    const [work, night] = ['Mon-Fri 08:00-18:00 Europe/Berlin', '22:00-06:00'];
    const saturday = at('2026-11-28T12:00:00Z');
    expect(nextOpening(windows(work), saturday)).toBe('Mon 08:00 Europe/Berlin');
    expect(nextOpening(windows(work, night), saturday)).toBe('Sat 22:00 UTC');
  });

  it('are always open if there are none, and never if the list is empty', () => {
    expect(isInAnyWindow(null, 0)).toBe(true);
    expect(isInAnyWindow(windows(), 0)).toBe(false);
  });

  it.each([
    ['2026-11-23T06:59:59Z', false],
    ['2026-11-23T07:00:00Z', true],
    ['2026-11-23T16:59:59Z', true],
    ['2026-11-23T17:00:00Z', false],
    ['2026-11-22T12:00:00Z', false],
    ['2026-07-20T06:00:00Z', true],
    ['2026-07-20T16:00:00Z', false],
  ])('of working hours in Berlin at %s: %s', (time, open) => {
    expect(isInAnyWindow(windows('Mon-Fri 08:00-18:00 Europe/Berlin'), at(time))).toBe(open);
  });

  it.each([
    ['2026-11-20T21:59:00Z', false],
    ['2026-11-20T22:00:00Z', true],
    ['2026-11-21T00:00:00Z', true],
    ['2026-11-21T05:59:59Z', true],
    ['2026-11-21T06:00:00Z', false],
    // The night before Friday begins on Thursday.
    ['2026-11-20T05:00:00Z', false],
    ['2026-11-21T22:00:00Z', false],
  ])('over midnight, of the day on which they begin, at %s: %s', (time, open) => {
    expect(isInAnyWindow(windows('Fri 22:00-06:00'), at(time))).toBe(open);
  });

  it('go to the end of a day with 24:00, and with 00:00', () => {
    for (const end of ['24:00', '00:00']) {
      const late = windows(`Sat 20:00-${end}`);
      expect(isInAnyWindow(late, at('2026-11-21T23:59:59Z'))).toBe(true);
      expect(isInAnyWindow(late, at('2026-11-22T00:00:00Z'))).toBe(false);
    }
    expect(isInAnyWindow(windows('00:00-24:00'), at('2026-11-22T00:00:00Z'))).toBe(true);
  });

  it('take days around the end of a week, and several', () => {
    const all = windows('Sat-Mon,Wed 10:00-11:00');
    const open = [22, 23, 24, 25, 26, 27, 28].filter((day) =>
      isInAnyWindow(all, at(`2026-11-${day}T10:30:00Z`)),
    );
    expect(open).toEqual([22, 23, 25, 28]);
  });

  it('follow summer time: an hour that comes twice is open twice, one that is left out is not open', () => {
    const night = windows('02:00-03:00 Europe/Berlin');
    expect(isInAnyWindow(night, at('2026-10-25T00:30:00Z'))).toBe(true);
    expect(isInAnyWindow(night, at('2026-10-25T01:30:00Z'))).toBe(true);
    expect(isInAnyWindow(night, at('2026-10-25T02:00:00Z'))).toBe(false);
    const hours = Array.from({ length: 24 }, (_, hour) => at('2026-03-29T00:00:00Z') + hour * HOUR);
    expect(hours.filter((time) => isInAnyWindow(night, time))).toEqual([]);
  });

  it('know zones that are not whole hours from UTC, and both sides of the date line', () => {
    expect(isInAnyWindow(windows('Mon 00:00-00:30 Asia/Kolkata'), at('2026-11-22T18:45:00Z'))).toBe(
      true,
    );
    expect(
      isInAnyWindow(windows('Mon 00:00-01:00 Pacific/Kiritimati'), at('2026-11-22T10:30:00Z')),
    ).toBe(true);
    expect(
      isInAnyWindow(windows('Sat 23:00-24:00 Pacific/Pago_Pago'), at('2026-11-22T10:30:00Z')),
    ).toBe(true);
  });

  it('are open if one of them is', () => {
    const two = windows('Mon 08:00-09:00', 'Tue 08:00-09:00');
    expect(isInAnyWindow(two, at('2026-11-24T08:30:00Z'))).toBe(true);
    expect(isInAnyWindow(two, at('2026-11-25T08:30:00Z'))).toBe(false);
  });
});
