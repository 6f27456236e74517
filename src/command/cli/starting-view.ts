import { visible } from '../../reconciler/render/visible.ts';
import type { Io } from './io.ts';
import type { ProgressView } from './progress-view.ts';

/** Receives what a service that is waited for shows, by the environment's name, and null once it answers. */
export type StartingView = (target: string, problem: string | null) => void;

/** Milliseconds between two lines of a log about one environment: for another problem, and for the same. */
const NEWS = 5_000;
const NO_NEWS = 30_000;

/**
 * Shows how long a service is waited for: on a terminal as a line of the progress, elsewhere as lines of a log, few enough for a
 * wait of an hour. `quiet` shows nothing.
 */
export function startingView(
  io: Pick<Io, 'stderr'>,
  progress: ProgressView,
  quiet: boolean,
): StartingView {
  if (quiet) return () => {};
  if (io.stderr.isTTY !== true) return logView(io);
  return (target, problem) => {
    const status = problem ?? 'it answers';
    progress.update(
      target,
      [{ name: 'waiting for the service', status, done: problem === null }],
      'service',
    );
  };
}

interface Shown {
  readonly since: number;
  readonly at: number;
  readonly problem: string;
}

function logView({ stderr }: Pick<Io, 'stderr'>): StartingView {
  const waiting = new Map<string, Shown>();
  const line = (target: string, words: string): void => {
    stderr.write(`${visible(`${target}: ${words}`)}\n`);
  };
  return (target, problem) => {
    const now = performance.now();
    const before = waiting.get(target);
    const seconds = Math.round((now - (before?.since ?? now)) / 1000);
    if (problem === null) {
      waiting.delete(target);
      if (before !== undefined) line(target, `the service answers, after ${seconds} s.`);
      return;
    }
    if (before === undefined) line(target, `waiting for the service: ${problem}.`);
    else {
      const pause = before.problem === problem ? NO_NEWS : NEWS;
      if (now - before.at < pause) return;
      line(target, `still waiting after ${seconds} s: ${problem}.`);
    }
    waiting.set(target, { since: before?.since ?? now, at: now, problem });
  };
}
