import { formatActionNoun } from '../../reconciler/model/action.ts';
import { groupThousands } from '../../reconciler/model/wording.ts';
import type { Costs } from '../../reconciler/model/proof.ts';
import { costsText } from '../../reconciler/render/section-text.ts';
import { visible } from '../../reconciler/render/text.ts';
import type { EnvironmentsEnded } from '../../reconciler/operations/options.ts';
import type { SandboxProgress } from '../../reconciler/model/progress.ts';
import { eraseBefore, type Io, type Stream } from './io.ts';

/** Something that a command waits for: its name, its state, and whether the waiting is over. */
export interface ProgressItem {
  readonly name: string;
  readonly status: string;
  readonly done: boolean;
}

/**
 * Shows what a command waits for, until `end`; an update after that begins again. An environment's items of one kind keep their places from
 * update to update.
 */
export interface ProgressView {
  readonly update: (target: string, awaited: readonly ProgressItem[], kind?: AwaitedKind) => void;
  /** Shows how many environments have ended. From two seconds on, a terminal shows it as the last line; a log never does. */
  readonly counts: (ended: EnvironmentsEnded) => void;
  readonly end: () => void;
}

type AwaitedKind = 'item' | 'service';

/**
 * On a terminal one line for each item with its state and the seconds, updated in place, and erased at the end and before anything
 * else is written there; elsewhere a new line each time a state changes.
 */
export function progressView({ stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>): ProgressView {
  return stderr.isTTY === true ? liveView(stderr, [stdout, stderr]) : plainView(stderr);
}

interface Line extends ProgressItem {
  readonly since: number;
  readonly until: number | null;
}

/** The lines by environment and place, so that an item keeps its line when it gets another name. */
class Lines {
  readonly #lines = new Map<string, Line>();

  /** Updates the lines; returns those whose name or state has changed. */
  take(target: string, awaited: readonly ProgressItem[], kind: AwaitedKind = 'item'): Line[] {
    const now = performance.now();
    return awaited.flatMap((one, index) => {
      const key = `${target} ${kind} ${index}`;
      const before = this.#lines.get(key);
      const since = before?.since ?? now;
      const until = one.done ? (before?.until ?? now) : null;
      const line = { ...one, name: `${target}: ${one.name}`, since, until };
      this.#lines.set(key, line);
      const same = before?.name === line.name && before.status === line.status;
      return same ? [] : [line];
    });
  }

  all(): Line[] {
    return [...this.#lines.values()];
  }

  clear(): void {
    this.#lines.clear();
  }
}

/** Cuts off what does not fit into the columns, except the seconds. */
function lineText({ name, status, since, until }: Line, columns = Infinity): string {
  const seconds = `  ${Math.round(((until ?? performance.now()) - since) / 1000)}s`;
  const words = Array.from(`  ${visible(name)}  ${visible(status)}`);
  return words.slice(0, columns - seconds.length).join('') + seconds;
}

function plainView(stream: Stream): ProgressView {
  const lines = new Lines();
  return {
    update: (...update) => {
      for (const line of lines.take(...update)) stream.write(`${lineText(line)}\n`);
    },
    counts: () => {},
    end: () => {},
  };
}

const TICK = 1000;

/** Up a line, and erase it: a terminal keeps nothing of it. Erasing the rest of the screen would put it into the history of some. */
const ERASED = '\u001B[1A\u001B[2K';

/** Milliseconds between two drawings that only counts ask for. */
const COUNTED = 100;

function liveView(stream: Stream, terminal: readonly Stream[]): ProgressView {
  const lines = new Lines();
  let began: number | null = null;
  let ended: EnvironmentsEnded | null = null;
  let drawn = 0;
  let drawnAt = -Infinity;
  let timer: NodeJS.Timeout | null = null;
  const erasure = (): string => ERASED.repeat(drawn);
  const erase = (): void => {
    const erasing = erasure();
    drawn = 0;
    if (erasing !== '') stream.write(erasing);
  };
  const draw = (): void => {
    const columns = (stream.columns ?? 80) - 1;
    const now = performance.now();
    const counts = ended === null ? null : formatProgressLine(ended, now - (began ?? now));
    const texts = [
      ...lines.all().map((line) => lineText(line, columns)),
      ...(counts === null ? [] : [counts.slice(0, columns)]),
    ];
    const text = erasure() + texts.map((line) => `${line}\n`).join('');
    drawn = texts.length;
    drawnAt = now;
    if (text !== '') stream.write(text);
  };
  const tick = (): void => {
    timer ??= setInterval(draw, TICK).unref();
    eraseBefore(terminal, erase);
  };
  return {
    update: (...update) => {
      lines.take(...update);
      tick();
      draw();
    },
    counts: (now) => {
      if (now.total < 2) return;
      began ??= performance.now();
      ended = now;
      tick();
      if (performance.now() - drawnAt >= COUNTED) draw();
    },
    end: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      erase();
      lines.clear();
      ended = null;
    },
  };
}

const VERBS = {
  start: 'starting',
  resume: 'resuming',
  pause: 'pausing',
  watch: 'watching',
} as const;

/** Describes the item that an apply waits for; it has no id until the service has reported one. */
export function describeAwaitedItem({
  action,
  id,
  spec,
  status,
  done,
}: SandboxProgress): ProgressItem {
  const which = id ?? `a new ${formatActionNoun('start')}${spec === null ? '' : ` of ${spec}`}`;
  return { name: `${VERBS[action]} ${which}`, status: status ?? 'not listed yet', done };
}

/** A run that takes less shows no counts. */
const SHOWN_AFTER = 2000;

/**
 * `  4,210 of 10,000 environments, 1,950/s, 3 s left, 8 failed`, by the milliseconds that the run has taken. Null if the run is young.
 */
function formatProgressLine(
  { done, total, failed }: EnvironmentsEnded,
  milliseconds: number,
): string | null {
  if (milliseconds < SHOWN_AFTER) return null;
  const perSecond = done / (milliseconds / 1000);
  const pace = done === 0 ? [] : [rateText(perSecond), formatTimeLeft((total - done) / perSecond)];
  const failures = failed === 0 ? [] : [`${groupThousands(failed)} failed`];
  return `  ${[`${groupThousands(done)} of ${groupThousands(total)} environments`, ...pace, ...failures].join(', ')}`;
}

function rateText(perSecond: number): string {
  if (perSecond >= 10) return `${groupThousands(Math.round(perSecond))}/s`;
  return perSecond >= 1 ? `${perSecond.toFixed(1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
}

function formatTimeLeft(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}

/** Reports the cost of trials before a service is asked for them. `quiet` reports nothing. */
export function checksView(
  { stderr }: Pick<Io, 'stderr'>,
  quiet: boolean,
): (target: string, costs: Costs) => void {
  if (quiet) return () => {};
  return (target, costs) => {
    stderr.write(`${visible(`${target}: ${costsText(costs)}`)}\n`);
  };
}

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

interface DisplayedProblem {
  readonly since: number;
  readonly at: number;
  readonly problem: string;
}

function logView({ stderr }: Pick<Io, 'stderr'>): StartingView {
  const waiting = new Map<string, DisplayedProblem>();
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
