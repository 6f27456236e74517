import { visible } from '../render/visible.ts';
import type { SandboxProgress } from '../reconcile/contract.ts';
import type { Stream } from './io.ts';

/** Something that a command waits for: its name, its state, and whether the waiting is over. */
export interface Awaited {
  readonly name: string;
  readonly status: string;
  readonly done: boolean;
}

/**
 * Shows what a command waits for, until `end`; an update after that begins anew. An environment's items of one kind keep their
 * places from update to update.
 */
export interface ProgressView {
  readonly update: (target: string, awaited: readonly Awaited[], kind?: Kind) => void;
  readonly end: () => void;
}

type Kind = 'sandbox' | 'service';

/**
 * On a terminal one line for each item with its state and the seconds, updated in place and erased at the end; elsewhere a new
 * line each time a state changes.
 */
export function progressView(stream: Stream): ProgressView {
  return stream.isTTY === true ? liveView(stream) : plainView(stream);
}

interface Line extends Awaited {
  readonly since: number;
  readonly until: number | null;
}

/** The lines by environment and place, so that an item keeps its line when it gets another name. */
class Lines {
  readonly #lines = new Map<string, Line>();

  /** Updates the lines; returns those whose name or state has changed. */
  take(target: string, awaited: readonly Awaited[], kind: Kind = 'sandbox'): Line[] {
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

/** What does not fit into the columns is cut off; the seconds stay. */
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
    end: () => {},
  };
}

const TICK = 1000;

function liveView(stream: Stream): ProgressView {
  const lines = new Lines();
  let drawn = 0;
  let timer: NodeJS.Timeout | null = null;
  const erase = (): void => {
    if (drawn > 0) stream.write(`\u001B[${drawn}A\u001B[J`);
    drawn = 0;
  };
  const draw = (): void => {
    const columns = (stream.columns ?? 80) - 1;
    const texts = lines.all().map((line) => lineText(line, columns));
    erase();
    stream.write(texts.map((text) => `${text}\n`).join(''));
    drawn = texts.length;
  };
  return {
    update: (...update) => {
      lines.take(...update);
      timer ??= setInterval(draw, TICK).unref();
      draw();
    },
    end: () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      erase();
      lines.clear();
    },
  };
}

const VERBS = {
  start: 'starting',
  resume: 'resuming',
  pause: 'pausing',
  watch: 'watching',
} as const;

/** A sandbox that an apply waits for; it has no id until the service has reported one. */
export function awaitedSandbox({ action, id, spec, status, done }: SandboxProgress): Awaited {
  const which = id ?? `a new sandbox${spec === null ? '' : ` of ${spec}`}`;
  return { name: `${VERBS[action]} ${which}`, status: status ?? 'not listed yet', done };
}
