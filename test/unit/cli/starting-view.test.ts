import { expect, it, onTestFinished, vi } from 'vitest';
import type { Stream } from '../../../src/command/cli/io.ts';
import { progressView, startingView } from '../../../src/command/cli/progress-view.ts';

const REFUSED = 'the connection was refused';

/** A view, what it wrote, and a clock that stands still until it is set. */
function viewOn({ terminal = false, quiet = false } = {}) {
  const written: string[] = [];
  const stderr = {
    isTTY: terminal,
    columns: 60,
    write: (text: string) => written.push(text) > 0,
  } as unknown as Stream;
  let now = 0;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const progress = progressView({ stdout: stderr, stderr });
  onTestFinished(() => {
    progress.end();
    spy.mockRestore();
  });
  const show = startingView({ stderr }, progress, quiet);
  const at = (seconds: number, problem: string | null, target = 'a'): void => {
    now = seconds * 1000;
    show(target, problem);
  };
  return { written, at, progress };
}

it('a log gets a line at the beginning, for news after a pause, every half minute, and at the end', () => {
  const { written, at } = viewOn();
  for (let second = 0; second <= 40; second += 1) at(second, REFUSED);
  at(42, 'status 502');
  at(43, REFUSED);
  at(44, 'status 503');
  at(46, null);
  expect(written).toEqual([
    'a: waiting for the service: the connection was refused.\n',
    'a: still waiting after 30 s: the connection was refused.\n',
    'a: still waiting after 42 s: status 502.\n',
    'a: the service answers, after 46 s.\n',
  ]);
});

it('a log tells environments apart, and a second wait of one from its first', () => {
  const { written, at } = viewOn();
  at(0, REFUSED);
  at(1, REFUSED, 'b');
  at(2, null);
  at(10, 'status 502');
  expect(written).toEqual([
    'a: waiting for the service: the connection was refused.\n',
    'b: waiting for the service: the connection was refused.\n',
    'a: the service answers, after 2 s.\n',
    'a: waiting for the service: status 502.\n',
  ]);
});

it('a terminal shows one line for each environment, as wide as it is, and the seconds', () => {
  const { written, at, progress } = viewOn({ terminal: true });
  at(0, REFUSED);
  at(12, 'the certificate of the service is self-signed');
  expect(written.at(-1)).toBe(
    '\u001B[1A\u001B[2K  a: waiting for the service  the certificate of the s  12s\n',
  );
  progress.end();
  expect(written.at(-1)).toBe('\u001B[1A\u001B[2K');
  at(13, null);
  expect(written.at(-1)).toBe('  a: waiting for the service  it answers  0s\n');
});

it('-q shows nothing', () => {
  const { written, at } = viewOn({ quiet: true });
  at(0, REFUSED);
  at(1, null);
  expect(written).toEqual([]);
});
