import {
  asSetpointError,
  nextCommand,
  type SetpointError,
  computeErrorExitCode,
  worstExitCode,
  type FailureDocument,
  type ErrorReport,
} from '../../reconciler/model/error.ts';
import { type Diagnostic, toReportedDiagnostic } from '../../reconciler/model/diagnostic.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import { diagnosticsText, errorText } from '../../reconciler/render/error-text.ts';
import { renderJson } from '../../reconciler/render/json.ts';
import type { Style } from '../../reconciler/render/text.ts';
import { optimizeInSmallPieces, findTracer } from '../../reconciler/host/this-process.ts';
import { canWrite, checkWritable, writeAside } from '../../reconciler/host/write-aside.ts';
import type { Parts } from '../../reconciler/operations/redacting.ts';
import { readNamedOutputs, parseReportOutputs, type Output, type ReportFlags } from './flags.ts';
import {
  FAILURE_RENDERERS,
  listFormats,
  type Renderers,
  collectingPrinter,
  jsonPrinter,
  textPrinter,
  toFile,
  toStream,
  wholePrinter,
  type Collector,
  type Printer,
  type TextParts,
} from './printer.ts';
import { hintForCommand, styleFor, writeText, type Io } from './io.ts';

/** The output of a command: data to stdout or to files, words to stderr. */
export interface Reporter<D> {
  /** A result in every format of -o; resolves to 1 if a file could not be written, else to 0. */
  data(document: D, text: (style: Style) => string): Promise<number>;
  /**
   * A result in every format of -o, printed while `make` hands it on, with the errors of its environments. Resolves to the exit
   * code: the worst of all environments and of what was written. If `make` fails, no file of the result remains.
   */
  inParts<Head extends object, E extends FinishedEnvironment, Tail>(
    shown: ShownParts<Head, E, Tail>,
    make: (parts: Parts<Head, E>) => Promise<Tail>,
  ): Promise<number>;
  /** Text before a result: to stdout if text goes there, else to stderr. `always` prints it even with -q. */
  preview(text: (style: Style) => string, always: boolean): Promise<void>;
  words(text: (style: Style) => string): Promise<void>;
  error(error: ErrorReport, target?: string | null): Promise<void>;
}

interface FinishedEnvironment {
  readonly name: string;
  readonly error: ErrorReport | null;
}

/** The last environment that was not started, and how many were not. */
interface SkippedEnvironments {
  readonly name: string;
  readonly error: ErrorReport;
  readonly count: number;
}

interface ShownParts<Head, E, Tail> extends TextParts<Head, E, Tail> {
  /** The exit code of an environment without an error. Default: 0. */
  readonly codeOf?: (environment: E) => number;
}

/**
 * Throws before anything is sent if an output is not possible: a format that the command does not have, or a file that cannot be
 * written.
 */
export function reporterFor<D>(
  flags: ReportFlags,
  io: Io,
  renderers: Renderers<D> = {},
): Reporter<D> {
  const outputs = parseReportOutputs(flags, listFormats(renderers));
  for (const { path } of outputs) if (path !== null) checkWritable(path);
  return reporterTo(outputs, renderers, flags, io);
}

function reporterTo<D>(
  outputs: readonly Output[],
  renderers: Renderers<D>,
  flags: ReportFlags,
  io: Io,
): Reporter<D> {
  const shown = { noColor: flags.color === false, verbose: flags.verbose === true };
  const style = styleFor(io.stdout, io.env, shown);
  const words = styleFor(io.stderr, io.env, shown);
  const textOnStdout = outputs.some(({ format, path }) => format === 'text' && path === null);
  const reporting: Reporting<D> = {
    outputs,
    renderers,
    flags,
    stdout: io.stdout,
    style,
    words: (text) => writeText(io.stderr, text(words)),
    // The message of an error that was thrown is in no copy of its members.
    error: ({ code, message, hint }, target = null) => {
      const report = { code, message, hint };
      const shown = { ...report, hint: hintForCommand(report, io) };
      return writeText(io.stderr, errorText(shown, words, target));
    },
  };
  return {
    data: (document, text) => reportDocument(reporting, document, text),
    inParts: (shown, make) => reportParts(reporting, shown, make),
    preview: async (text, always) => {
      if (flags.quiet === true && !always) return;
      await (textOnStdout ? writeText(io.stdout, text(style)) : writeText(io.stderr, text(words)));
    },
    words: reporting.words,
    error: reporting.error,
  };
}

interface Reporting<D> extends Pick<Reporter<D>, 'words' | 'error'> {
  readonly outputs: readonly Output[];
  readonly renderers: Renderers<D>;
  readonly flags: ReportFlags;
  readonly stdout: Io['stdout'];
  /** The style of stdout. */
  readonly style: Style;
}

async function reportDocument<D>(
  { outputs, renderers, flags, stdout, style, error }: Reporting<D>,
  document: D,
  text: (style: Style) => string,
): Promise<number> {
  let failed = 0;
  for (const { format, path } of outputs.toSorted(
    (one, other) => Number(one.path !== null) - Number(other.path !== null),
  )) {
    if (path === null && format === 'text') {
      if (flags.quiet !== true) await writeText(stdout, text(style));
      continue;
    }
    const rendered = await render(format, document, renderers, text);
    if (path === null) {
      await writeText(stdout, rendered);
      continue;
    }
    try {
      await writeAside(path, rendered);
    } catch (thrown) {
      failed = 1;
      await error(asSetpointError(thrown));
    }
  }
  return failed;
}

async function reportParts<D, Head extends object, E extends FinishedEnvironment, Tail>(
  reporting: Reporting<D>,
  shown: ShownParts<Head, E, Tail>,
  make: (parts: Parts<Head, E>) => Promise<Tail>,
): Promise<number> {
  const isVerbose = reporting.flags.verbose === true;
  let code = 0;
  let errors = 0;
  // Environments that were not started share one error.
  let skipped: SkippedEnvironments | null = null;
  const note = (other: number): void => {
    code = worstExitCode([code, other]);
  };
  const printers = createPrinters(reporting, shown, async (error) => {
    note(error.exitCode);
    await reporting.error(error);
  });
  const parts: Parts<Head, E> = {
    begin: async (head, total) => {
      if (total >= MANY) optimizeInSmallPieces();
      for (const printer of printers) await printer.begin(head, total);
    },
    environment: async (part) => {
      for (const printer of printers) await printer.environment(part);
      const { name, error } = part;
      note(error === null ? (shown.codeOf?.(part) ?? 0) : computeErrorExitCode(error));
      if (error === null) return;
      if (error.code === 'skipped') {
        skipped = { error, name, count: (skipped?.count ?? 0) + 1 };
        return;
      }
      errors += 1;
      if (errors > MOST_ERRORS && !isVerbose) return;
      for (const printer of printers) await printer.flush();
      await reporting.error(error, name);
    },
  };
  try {
    const tail = await make(parts);
    for (const printer of printers) await printer.end(tail);
  } catch (thrown) {
    for (const printer of printers) await printer.discard();
    throw thrown;
  }
  const more = isVerbose ? 0 : errors - MOST_ERRORS;
  if (more > 0) await reporting.words(() => describeUnprinted(more));
  if (skipped !== null) {
    const { error, name, count }: SkippedEnvironments = skipped;
    await reporting.error(error, count === 1 ? name : formatCount(count, 'environment'));
  }
  return code;
}

/** A printer for each output of a result in parts. `failed` gets the error of a file that cannot be written. */
function createPrinters<D, Head extends object, E extends FinishedEnvironment, Tail>(
  { outputs, renderers, flags, stdout, style }: Reporting<D>,
  shown: ShownParts<Head, E, Tail>,
  failed: (error: SetpointError) => Promise<void>,
): Printer<Head, E, Tail>[] {
  return outputs.flatMap(({ format, path }): Printer<Head, E, Tail>[] => {
    if (path === null && format === 'text' && flags.quiet === true) return [];
    const mode = format === 'prometheus' ? SHARED : PRIVATE;
    const to = path === null ? toStream(stdout) : toFile(path, mode, failed);
    if (format === 'text') return [textPrinter(to, shown, path === null ? style : PLAIN)];
    if (format === 'json') return [jsonPrinter(to)];
    const { prometheus } = renderers;
    if (format === 'prometheus' && prometheus !== undefined) {
      const start = async () => (await prometheus())() as unknown as Collector<Head, E>;
      return [collectingPrinter(to, start)];
    }
    return [wholePrinter(to, (document) => render(format, document as D, renderers, () => ''))];
  });
}

/** The modes of files. Another user, that of node_exporter, reads metrics. */
const PRIVATE = 0o600;
const SHARED = 0o644;

/** From this number of environments on, a run takes long enough for V8 to optimise. */
const MANY = 100;

/** Environments whose errors are printed, unless the output is verbose: a summary counts the others. */
const MOST_ERRORS = 20;

function describeUnprinted(count: number): string {
  const environments = formatCount(count, 'more environment');
  return `setpoint: ${environments} failed.\n  To see each error, use -v or -o json.\n`;
}

const PLAIN: Style = { color: false, width: null, verbose: true };

async function render<D>(
  format: Output['format'],
  document: D,
  renderers: Renderers<D>,
  text: (style: Style) => string,
): Promise<string> {
  if (format === 'text') return text(PLAIN);
  const renderer =
    format === 'json' || format === 'prometheus' ? undefined : await renderers[format]?.();
  return renderer === undefined ? renderJson(document) : renderer(document);
}

/** Ends a command that could not begin: the sentence to stderr, and the error in every other format of -o. */
export async function reportFailure(thrown: unknown, flags: ReportFlags, io: Io): Promise<number> {
  const failure = asSetpointError(thrown);
  const { code, message } = failure;
  const hint = hintForCommand(failure, io);
  (await findTracer()).failed(code);
  const diagnostics = findFailureDiagnostics(failure);
  const listed = diagnostics === null ? {} : { diagnostics: diagnostics.map(toReportedDiagnostic) };
  const outputs = failureOutputs(flags);
  const reporter = reporterTo<FailureDocument>(outputs, FAILURE_RENDERERS, flags, io);
  const error = { code, message, hint, ...nextCommand(code), ...listed };
  await reporter.data({ error }, () => '');
  if (diagnostics !== null) {
    await reporter.words((style) => `${diagnosticsText(diagnostics, style)}\n`);
  }
  await reporter.error({ code, message, hint });
  return failure.exitCode;
}

/** The outputs of an error. One of the flags may be the mistake, so those that are not valid are skipped. */
function failureOutputs(flags: ReportFlags): Output[] {
  const formats = listFormats(FAILURE_RENDERERS);
  const outputs = readNamedOutputs(flags).flatMap(({ name, path }): Output[] => {
    const format = formats.find((known) => known !== 'text' && known === name);
    if (format === undefined) return [];
    return path === null || canWrite(path) ? [{ format, path }] : [];
  });
  return outputs.filter(
    ({ path }, index) => path !== null || outputs.findIndex((one) => one.path === null) === index,
  );
}

function findFailureDiagnostics(failure: SetpointError): readonly Diagnostic[] | null {
  return 'diagnostics' in failure ? (failure.diagnostics as readonly Diagnostic[]) : null;
}

/** Prints the errors of a document's environments. Resolves to the worst exit code of theirs, of `codeOf` and of `written`. */
export async function conclude<T extends FinishedEnvironment>(
  reporter: Pick<Reporter<never>, 'error'>,
  environments: readonly T[],
  written: number,
  codeOf: (environment: T) => number = () => 0,
): Promise<number> {
  for (const { name, error } of environments) {
    if (error !== null) await reporter.error(error, name);
  }
  const codes = environments.map((environment) =>
    environment.error === null ? codeOf(environment) : computeErrorExitCode(environment.error),
  );
  return worstExitCode([written, ...codes]);
}

/** Hands on a document that is there as a whole. */
export async function handOn<
  D extends {
    readonly environments: readonly { readonly name: string }[];
    readonly run: unknown;
    readonly summary: unknown;
  },
>(
  { environments, run, summary, ...head }: D,
  parts: Parts<Omit<D, 'environments' | 'run' | 'summary'>, D['environments'][number]>,
): Promise<Pick<D, 'run' | 'summary'>> {
  await parts.begin(head, environments.length);
  for (const environment of environments) await parts.environment(environment);
  return { run, summary };
}
