import { expect, it, onTestFinished, vi } from 'vitest';
import { writeText, type Stream } from '../../../src/command/cli/io.ts';
import { progressView } from '../../../src/command/cli/progress-view.ts';

const ERASED = '\u001B[1A\u001B[2K';

/** A view of a command whose two streams lead to one terminal, or to a log; and a clock that stands still until it is set. */
function terminalOf({ isTTY = true, columns = 80 } = {}) {
  const written: string[] = [];
  const stream = (): Stream =>
    ({
      isTTY,
      columns,
      write: (text: string, done?: () => void) => {
        written.push(text);
        done?.();
        return true;
      },
    }) as unknown as Stream;
  const io = { stdout: stream(), stderr: stream() };
  let now = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const view = progressView(io);
  onTestFinished(() => {
    view.end();
    spy.mockRestore();
  });
  const counts = (seconds: number, done: number, failed = 0, total = 10_000): void => {
    now = seconds * 1000;
    view.counts({ done, total, failed });
  };
  return { io, written, view, counts };
}

it('a terminal shows how far a run is, how fast, and what has failed, from two seconds on', () => {
  const { written, counts, view } = terminalOf();
  counts(0, 0);
  counts(1.9, 1900);
  expect(written).toEqual([]);
  counts(2, 4000);
  counts(2.05, 4100);
  counts(3, 6000, 8);
  view.end();
  expect(written).toEqual([
    '  4,000 of 10,000 environments, 2,000/s, 3 s left\n',
    `${ERASED}  6,000 of 10,000 environments, 2,000/s, 2 s left, 8 failed\n`,
    ERASED,
  ]);
});

it('says how long a slow run takes', () => {
  const { written, counts } = terminalOf();
  counts(0, 0);
  counts(10, 0);
  counts(20, 1);
  counts(120, 300);
  counts(3600, 900);
  expect(written.map((text) => text.replace(ERASED, ''))).toEqual([
    '  0 of 10,000 environments\n',
    '  1 of 10,000 environments, 3.0/min, 56 h left\n',
    '  300 of 10,000 environments, 2.5/s, 65 min left\n',
    '  900 of 10,000 environments, 15.0/min, 11 h left\n',
  ]);
});

it('what is written in between takes the place of the line, on either stream', async () => {
  const { io, written, counts } = terminalOf();
  counts(0, 0);
  counts(2, 100);
  await writeText(io.stdout, 'a section\n');
  await writeText(io.stdout, 'another\n');
  counts(3, 200);
  await writeText(io.stderr, 'an error\n');
  expect(written).toEqual([
    '  100 of 10,000 environments, 50/s, 4 min left\n',
    ERASED,
    'a section\n',
    'another\n',
    '  200 of 10,000 environments, 67/s, 3 min left\n',
    ERASED,
    'an error\n',
  ]);
});

it('is below the lines of what is waited for, and no wider than the terminal', () => {
  const { written, counts, view } = terminalOf({ columns: 30 });
  counts(0, 0);
  counts(2, 100);
  view.update('prod', [{ name: 'starting x', status: 'STARTING', done: false }]);
  expect(written).toEqual([
    '  100 of 10,000 environments,\n',
    `${ERASED}  prod: starting x  START  0s\n  100 of 10,000 environments,\n`,
  ]);
});

it('a log gets no counts, and neither does a run of one environment', () => {
  const log = terminalOf({ isTTY: false });
  log.counts(0, 0);
  log.counts(5, 5000);
  log.view.end();
  expect(log.written).toEqual([]);
  const single = terminalOf();
  single.counts(0, 0, 0, 1);
  single.counts(5, 1, 0, 1);
  single.view.end();
  expect(single.written).toEqual([]);
});
