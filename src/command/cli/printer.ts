import {
  asSetpointError,
  type SetpointError,
  type FailureDocument,
} from '../../reconciler/model/error.ts';
import { endOfJson, partOfJson, startOfJson } from '../../reconciler/render/json.ts';
import type { Style } from '../../reconciler/render/text.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';
import { openAside, type AsideFile } from '../../reconciler/host/write-aside.ts';
import { writeText, type Stream } from './io.ts';
import type { OutcomeDocument } from '../../reconciler/model/outcome.ts';
import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';
import type { Voice } from '../../reconciler/render/change.ts';
import type { CommandName, OutputFormat } from './command-table.ts';
import { FORMATS, type Format } from './words.ts';

/** The text of each part of a document. An empty line separates sections; an empty text takes no room. */
export interface TextParts<Head, E, Tail> {
  /** Formats one of `total` environments; empty if it is left to the end. */
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

/** The destination of a text while it is produced. */
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
    await writeText(stream, text);
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

/** Takes the parts of a document one after another, and reports at the end which of them it has stored. */
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

/** Renderers for the formats that not every command has; each is loaded when it is needed. */
export type Renderers<D> = Readonly<
  Partial<Record<WholeFormat, () => Promise<(document: D) => string>>> & Partial<typeof METRICS>
>;

/** The formats that are made of a whole document. */
export type WholeFormat = Exclude<Format, 'text' | 'json' | 'prometheus'>;

/** A renderer for each format of a command, as the table of commands lists them. */
type CommandRenderers<Name extends CommandName, D> = Readonly<
  Record<OutputFormat<Name> & WholeFormat, () => Promise<(document: D) => string>>
> &
  ('prometheus' extends OutputFormat<Name> ? typeof METRICS : unknown);

/** Plans as metrics, which are taken one after another. */
const METRICS = {
  prometheus: async () => (await import('../../reconciler/render/prometheus.ts')).metricsOfPlans,
};

export const PLAN_RENDERERS: CommandRenderers<'plan', PlanDocument> = {
  markdown: async () => (await import('../../reconciler/render/markdown/comments.ts')).planMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).planAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).planHtml,
  ...METRICS,
};

/** Renderers that describe a plan as a finding. */
export const DRIFT_RENDERERS: CommandRenderers<'drift', PlanDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).driftMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).driftAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).driftHtml,
  ...METRICS,
};

export const OUTCOME_RENDERERS: CommandRenderers<'apply', OutcomeDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).outcomeMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).outcomeAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).outcomeHtml,
};

/** Plans in the words of one voice, or outcomes: whichever the documents are. */
export function reportRenderers(
  voice: Voice,
): CommandRenderers<'report', PlanDocument | OutcomeDocument> {
  const plans = voice === 'drift' ? DRIFT_RENDERERS : PLAN_RENDERERS;
  const either =
    (format: OutputFormat<'report'> & WholeFormat) =>
    async (): Promise<(document: PlanDocument | OutcomeDocument) => string> => {
      const [plan, outcome] = await Promise.all([plans[format](), OUTCOME_RENDERERS[format]()]);
      return (document) => (document.kind === 'plan' ? plan(document) : outcome(document));
    };
  return { markdown: either('markdown'), github: either('github'), html: either('html') };
}

export const VALIDATION_RENDERERS: CommandRenderers<'validate', ValidationDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).validationMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).validationAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).validationHtml,
  sarif: async () => (await import('../../reconciler/render/sarif.ts')).validationSarif,
};

/** Renderers for a command that could not begin, instead of its document. */
export const FAILURE_RENDERERS: Renderers<FailureDocument> = {
  markdown: async () =>
    (await import('../../reconciler/render/markdown/comments.ts')).failureMarkdown,
  github: async () =>
    (await import('../../reconciler/render/github/annotations.ts')).failureAnnotations,
  html: async () => (await import('../../reconciler/render/html/pages.ts')).failureHtml,
};

/** Text and JSON, which every command has, and those there are renderers for. */
export function listFormats(renderers: Renderers<never>): readonly Format[] {
  return FORMATS.filter((name) => name === 'text' || name === 'json' || name in renderers);
}
