import { asSetpointError, type SetpointError } from '../../reconciler/model/error.ts';
import { endOfJson, partOfJson, startOfJson } from '../../reconciler/render/json.ts';
import type { Style } from '../../reconciler/render/style.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/system-clock.ts';
import { openAside, type AsideFile } from '../../reconciler/host/write-aside.ts';
import { write, type Stream } from './io.ts';

/** How the parts of a document read as text. Sections are separated by an empty line; an empty text takes no room. */
export interface TextParts<Head, E, Tail> {
  /** Of `total` environments; empty if it is left to the end. */
  readonly section: (part: E, head: Head, total: number, style: Style) => string;
  readonly ending: (tail: Tail, head: Head, style: Style) => string;
}

/** Takes a document in parts, and prints each part as soon as it can be printed. */
export interface Printer<Head, E, Tail> {
  readonly begin: (head: Head, total: number) => Promise<void>;
  readonly environment: (part: E) => Promise<void>;
  /** Prints what is held back, so that what is written elsewhere comes after it. */
  readonly flush: () => Promise<void>;
  readonly end: (tail: Tail) => Promise<void>;
  /** Gives up a document that did not end: no file of it remains. */
  readonly discard: () => Promise<void>;
}

/** Where a text goes while it is made. */
interface Destination {
  readonly open: () => Promise<void>;
  readonly write: (text: string) => Promise<void>;
  readonly flush: () => Promise<void>;
  readonly end: () => Promise<void>;
  readonly discard: () => Promise<void>;
}

/** Characters that are held back before they are written, and for how many milliseconds, unless a person watches. */
const HELD = 64 * 1024;
const HELD_FOR = 200;

/** A stream of the process. A terminal gets each part at once. */
export function toStream(stream: Stream): Destination {
  let held = '';
  let written = -Infinity;
  let timer: NodeJS.Timeout | null = null;
  const flush = async (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (held === '') return;
    const text = held;
    held = '';
    written = SYSTEM_CLOCK.monotonic();
    await write(stream, text);
  };
  return {
    open: async () => {},
    write: async (text) => {
      held += text;
      const isDue = held.length >= HELD || SYSTEM_CLOCK.monotonic() - written >= HELD_FOR;
      if (stream.isTTY === true || isDue) await flush();
      else timer ??= setTimeout(() => void flush(), HELD_FOR).unref();
    },
    flush,
    end: flush,
    discard: flush,
  };
}

/** A file that takes its place when the document has ended. After a failure, which removes it, nothing more is written to it. */
export function toFile(
  path: string,
  mode: number,
  failed: (error: SetpointError) => Promise<void>,
): Destination {
  let file: AsideFile | null = null;
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      file = null;
      await failed(asSetpointError(thrown));
    }
  };
  return {
    open: () =>
      guarded(async () => {
        file = await openAside(path, { mode });
      }),
    write: (text) => guarded(async () => file?.write(text)),
    flush: async () => {},
    end: () => guarded(async () => file?.finish()),
    discard: async () => file?.discard(),
  };
}

export function textPrinter<Head, E, Tail>(
  to: Destination,
  { section, ending }: TextParts<Head, E, Tail>,
  style: Style,
): Printer<Head, E, Tail> {
  let head: Head;
  let total = 0;
  let isFirst = true;
  const next = async (text: string): Promise<void> => {
    if (text === '') return;
    await to.write(isFirst ? text : `\n${text}`);
    isFirst = false;
  };
  return {
    ...to,
    begin: async (begun, count) => {
      head = begun;
      total = count;
      await to.open();
    },
    environment: (part) => next(section(part, head, total, style)),
    end: async (tail) => {
      await next(ending(tail, head, style));
      await to.end();
    },
  };
}

export function jsonPrinter<Head, E, Tail>(to: Destination): Printer<Head, E, Tail> {
  let isFirst = true;
  return {
    ...to,
    begin: async (head) => {
      await to.open();
      await to.write(startOfJson(head, 'environments'));
    },
    environment: async (part) => {
      await to.write(partOfJson(part, isFirst));
      isFirst = false;
    },
    end: async (tail) => {
      await to.write(endOfJson(tail, isFirst));
      await to.end();
    },
  };
}

/** Keeps all parts, for a format that begins with what only the end of a document shows. */
export function wholePrinter<Head, E, Tail>(
  to: Destination,
  render: (document: Head & { readonly environments: readonly E[] } & Tail) => Promise<string>,
): Printer<Head, E, Tail> {
  let head: Head;
  const environments: E[] = [];
  return {
    ...to,
    begin: async (begun) => {
      head = begun;
      await to.open();
    },
    environment: async (part) => {
      environments.push(part);
    },
    end: async (tail) => {
      await to.write(await render({ ...head, environments, ...tail }));
      await to.end();
    },
  };
}

/** Takes the parts of a document one after another, and says at the end what it has kept of them. */
export interface Collector<Head, E> {
  readonly add: (part: E) => void;
  readonly text: (head: Head) => Iterable<string>;
}

/** For a format that is made of all parts and needs little of each. */
export function collectingPrinter<Head, E, Tail>(
  to: Destination,
  start: () => Promise<Collector<Head, E>>,
): Printer<Head, E, Tail> {
  let collected: { readonly head: Head; readonly collector: Collector<Head, E> } | null = null;
  return {
    ...to,
    begin: async (head) => {
      collected = { head, collector: await start() };
      await to.open();
    },
    environment: async (part) => collected?.collector.add(part),
    end: async () => {
      let held = '';
      for (const text of collected?.collector.text(collected.head) ?? []) {
        held += text;
        if (held.length < HELD) continue;
        await to.write(held);
        held = '';
      }
      await to.write(held);
      await to.end();
    },
  };
}
