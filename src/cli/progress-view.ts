import { visible } from '../render/visible.ts';
import type { Stream } from './io.ts';

/** Something that is waited for: what it is, the state it reads, and whether it is waited for no more. */
export interface Awaited {
  readonly name: string;
  readonly status: string;
  readonly done: boolean;
}

/** Shows what is waited for, until `end`. A target's things keep their places from update to update. */
export interface ProgressView {
  readonly update: (target: string, awaited: readonly Awaited[]) => void;
  readonly end: () => void;
}

/**
 * On a terminal one line for each with its state and the seconds, kept up to date in place and gone at the end; elsewhere a
 * line each time a state is another one. Plain words on stderr: nothing in them is a result.
 */
export function progressView(stream: Stream): ProgressView {
  return stream.isTTY === true ? liveView(stream) : plainView(stream);
}

interface Line extends Awaited {
  readonly since: number;
  readonly until: number | null;
}

/** The lines by target and place, so that what is given a name keeps its line. */
class Lines {
  readonly #lines = new Map<string, Line>();

  /** Takes what is new; returns the lines whose name or state is another than before. */
  take(target: string, awaited: readonly Awaited[]): Line[] {
    const now = performance.now();
    return awaited.flatMap((one, index) => {
      const key = `${target} ${index}`;
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
}

function lineText({ name, status, since, until }: Line): string {
  const seconds = Math.round(((until ?? performance.now()) - since) / 1000);
  return `  ${visible(name)}  ${visible(status)}  ${seconds}s`;
}

function plainView(stream: Stream): ProgressView {
  const lines = new Lines();
  return {
    update: (target, awaited) => {
      for (const line of lines.take(target, awaited)) stream.write(`${lineText(line)}\n`);
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
    const texts = lines.all().map((line) => Array.from(lineText(line)).slice(0, columns).join(''));
    erase();
    stream.write(texts.map((text) => `${text}\n`).join(''));
    drawn = texts.length;
  };
  return {
    update: (target, awaited) => {
      lines.take(target, awaited);
      timer ??= setInterval(draw, TICK).unref();
      draw();
    },
    end: () => {
      if (timer !== null) clearInterval(timer);
      erase();
    },
  };
}
