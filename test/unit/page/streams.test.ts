import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { computeViewVersion, type LiveView } from '../../../src/controller/page/page-parts.ts';
import { Streams } from '../../../src/controller/page/streams.ts';
import { markup } from '../../../src/reconciler/render/html/page.ts';
import { longWatched } from '../../fixture/watched-fleet.ts';
import { MadeUpWatching } from '../../fixture/watching.ts';

/** A reader who takes what is sent only if a test says so. */
class Reader extends EventEmitter {
  readonly written: string[] = [];
  writableLength = 0;
  destroyed = false;
  ended = false;
  stuck = false;

  writeHead(): this {
    return this;
  }

  write(text: string): boolean {
    this.written.push(text);
    if (this.stuck) this.writableLength += text.length;
    return !this.stuck;
  }

  end(): this {
    this.ended = true;
    return this;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  get events(): string[] {
    return this.written.filter((text) => text.includes('\ndata:'));
  }
}

let watching: MadeUpWatching;
let streams: Streams;
let failures: unknown[];
let content: string;
let computed: number;

beforeEach(() => {
  vi.useFakeTimers();
  watching = new MadeUpWatching(longWatched());
  failures = [];
  content = 'first';
  computed = 0;
  streams = new Streams(watching, 'boot', (thrown) => failures.push(thrown));
});
afterEach(() => {
  streams.close();
  vi.useRealTimers();
});

function view(): LiveView {
  const text = content;
  return {
    parts: [{ id: 'a', key: text, html: () => markup`<p id="a">${text}</p>` }],
    order: null,
  };
}

async function open(
  key = 'k',
  compute: () => Promise<LiveView | null> = async () => view(),
  isAllowed = () => true,
  name = 'one client',
) {
  const reader = new Reader();
  const source = {
    key,
    view: () => {
      computed += 1;
      return compute();
    },
  };
  const version = computeViewVersion(view(), 'boot');
  await streams.open(source, reader as unknown as ServerResponse, version, {
    name,
    isAllowed,
  });
  return reader;
}

/** Something changes; the time that follows passes. */
async function change(text: string, milliseconds = 1100): Promise<void> {
  content = text;
  watching.set('production', {});
  await vi.advanceTimersByTimeAsync(milliseconds);
}

it('a reader gets what has changed, and nothing if nothing has', async () => {
  const reader = await open();
  await change('first');
  expect(reader.events).toEqual([]);
  await change('second');
  expect(reader.events).toHaveLength(1);
  expect(reader.events[0]).toContain('second');
});

it('a reader whose session has ended gets nothing more, and its stream ends within the pause of keeping alive', async () => {
  let isAllowed = true;
  const reader = await open('k', undefined, () => isAllowed);
  await change('first');
  isAllowed = false;
  await change('second');
  expect(reader.events).toEqual([]);
  expect(reader.ended).toBe(true);
  isAllowed = true;
  const idle = await open('k', undefined, () => isAllowed);
  isAllowed = false;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(idle.ended).toBe(true);
});

it('a burst is one event', async () => {
  const reader = await open();
  for (let count = 0; count < 1000; count++) await change(`state ${count}`, 0);
  await vi.advanceTimersByTimeAsync(1000);
  expect(reader.events).toHaveLength(1);
  expect(reader.events[0]).toContain('state 999');
});

it('streams of the same source are computed once', async () => {
  for (let count = 0; count < 10; count++) await open();
  await open('another');
  computed = 0;
  await change('second');
  expect(computed).toBe(2);
});

it('a reader who does not take what is sent is sent nothing more, and then what is shown by then', async () => {
  const reader = await open();
  reader.stuck = true;
  for (let count = 0; count < 30; count++) await change(`state ${count}`);
  expect(reader.events).toHaveLength(1);
  reader.stuck = false;
  reader.writableLength = 0;
  await change('the last');
  expect(reader.events).toHaveLength(2);
  expect(reader.events[1]).toContain('the last');
});

it('and is cut off after a minute', async () => {
  const reader = await open();
  reader.stuck = true;
  await change('second');
  await vi.advanceTimersByTimeAsync(50_000);
  expect(reader.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(reader.destroyed).toBe(true);
});

it('a silent stream is kept open', async () => {
  const reader = await open();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reader.written.filter((text) => text === ':\n\n')).toHaveLength(4);
});

it('a stream whose subject is gone, or cannot be computed, ends, and the others go on', async () => {
  const gone = await open('gone', async () => (content === 'first' ? view() : null));
  const broken = await open('broken', async () => {
    if (content === 'first') return view();
    throw new Error('broken');
  });
  const well = await open('well');
  await change('second');
  expect([gone.ended, broken.ended, well.ended]).toEqual([true, true, false]);
  expect(well.events).toHaveLength(1);
  expect(failures).toHaveLength(1);
});

it('of too many, the oldest one of the reader with most of them ends: one client keeps nobody out', async () => {
  const others = [
    await open('k', undefined, undefined, 'a'),
    await open('k', undefined, undefined, 'b'),
  ];
  const greedy: Reader[] = [];
  for (let count = 0; count < 300; count += 1) greedy.push(await open());
  const late = await open('k', undefined, undefined, 'c');
  await change('second');
  for (const one of [...others, late]) expect([one.ended, one.events.length]).toEqual([false, 1]);
  expect(greedy.filter(({ ended }) => !ended)).toEqual(greedy.slice(-97));
});
