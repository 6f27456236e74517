import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FailureDocument } from '../model/failure.ts';
import type { ErrorReport } from '../model/plan.ts';
import { reported } from '../model/validation.ts';
import { diagnosticsText, errorText } from '../render/error-text.ts';
import { json } from '../render/json.ts';
import type { Style } from '../render/style.ts';
import { canWrite, checkWritable, writeAside } from '../host/write-aside.ts';
import { askedOutputs, outputsFrom, type Flags, type Output } from './flags.ts';
import { FAILURE_RENDERERS, formatsOf, type Renderers } from './formats.ts';
import type { Io, Stream } from './io.ts';
import { styleFor } from './style-for.ts';

/** What a command says: data on stdout or in files, words on stderr. */
export interface Reporter<D> {
  /** A result in every format that was asked for; 1 where a file could not be written, else 0. */
  data(document: D, text: (style: Style) => string): Promise<number>;
  /** Text that comes before a result: on stdout where text goes there, else on stderr. `always`: though -q was given. */
  preview(text: (style: Style) => string, always: boolean): Promise<void>;
  words(text: (style: Style) => string): Promise<void>;
  error(error: ErrorReport, target?: string | null): Promise<void>;
}

/**
 * Throws before anything is sent if the output is not possible: a format that the command does not have, a file that
 * could not be written later.
 */
export function reporterFor<D>(flags: Flags, io: Io, renderers: Renderers<D> = {}): Reporter<D> {
  const outputs = outputsFrom(flags, io.env, formatsOf(renderers));
  for (const { path } of outputs) if (path !== null) checkWritable(path);
  return reporterTo(outputs, renderers, flags, io);
}

function reporterTo<D>(
  outputs: readonly Output[],
  renderers: Renderers<D>,
  flags: Flags,
  io: Io,
): Reporter<D> {
  const shown = { noColor: flags.color === false, verbose: flags.verbose === true };
  const style = styleFor(io.stdout, io.env, shown);
  const words = styleFor(io.stderr, io.env, shown);
  const textOnStdout = outputs.some(({ format, path }) => format === 'text' && path === null);
  const reporter: Reporter<D> = {
    data: async (document, text) => {
      let failed = 0;
      for (const { format, path } of outputs.toSorted(
        (one, other) => Number(one.path !== null) - Number(other.path !== null),
      )) {
        if (path === null && format === 'text') {
          if (flags.quiet !== true) await write(io.stdout, text(style));
          continue;
        }
        const rendered = await render(format, document, renderers, text);
        if (path === null) {
          await write(io.stdout, rendered);
          continue;
        }
        try {
          await writeAside(path, rendered);
        } catch (thrown) {
          failed = 1;
          await reporter.error(asSetpointError(thrown));
        }
      }
      return failed;
    },
    preview: async (text, always) => {
      if (flags.quiet === true && !always) return;
      await (textOnStdout ? write(io.stdout, text(style)) : write(io.stderr, text(words)));
    },
    words: (text) => write(io.stderr, text(words)),
    error: (error, target = null) => write(io.stderr, errorText(error, words, target)),
  };
  return reporter;
}

const PLAIN: Style = { color: false, width: null, verbose: true };

async function render<D>(
  format: Output['format'],
  document: D,
  renderers: Renderers<D>,
  text: (style: Style) => string,
): Promise<string> {
  if (format === 'text') return text(PLAIN);
  const renderer = format === 'json' ? undefined : await renderers[format]?.();
  return renderer === undefined ? json(document) : renderer(document);
}

/** Ends a command that could not begin: the sentence on stderr, and the error in every other format that was asked for. */
export async function reportFailure(thrown: unknown, flags: Flags, io: Io): Promise<number> {
  const failure = asSetpointError(thrown);
  const { code, message, hint } = failure;
  const diagnostics = diagnosticsOf(failure);
  const listed = diagnostics === null ? {} : { diagnostics: diagnostics.map(reported) };
  const outputs = failureOutputs(flags, io.env);
  const reporter = reporterTo<FailureDocument>(outputs, FAILURE_RENDERERS, flags, io);
  await reporter.data({ error: { code, message, hint, ...listed } }, () => '');
  if (diagnostics !== null) {
    await reporter.words((style) => `${diagnosticsText(diagnostics, style)}\n`);
  }
  await reporter.error({ code, message, hint });
  return failure.exitCode;
}

/** Where an error goes, as far as the flags can be understood: one of them may be the mistake. */
function failureOutputs(flags: Flags, env: Io['env']): Output[] {
  const formats = formatsOf(FAILURE_RENDERERS);
  const outputs = askedOutputs(flags, env).flatMap(({ name, path }): Output[] => {
    const format = formats.find((known) => known !== 'text' && known === name);
    if (format === undefined) return [];
    return path === null || canWrite(path) ? [{ format, path }] : [];
  });
  return outputs.filter(
    ({ path }, index) => path !== null || outputs.findIndex((one) => one.path === null) === index,
  );
}

function diagnosticsOf(failure: SetpointError): readonly Diagnostic[] | null {
  return 'diagnostics' in failure ? (failure.diagnostics as readonly Diagnostic[]) : null;
}

/** Resolves when the stream has taken the text. A reader that went away is no reason to fail before the end. */
export function write(stream: Stream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
