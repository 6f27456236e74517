import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ErrorReport } from '../model/plan.ts';
import { reported } from '../model/validation.ts';
import { errorText } from '../render/error-text.ts';
import { json } from '../render/json.ts';
import type { Style } from '../render/style.ts';
import { writeAside } from '../host/write-aside.ts';
import { outputsFrom, type Flags, type Output } from './flags.ts';
import type { Io, Stream } from './io.ts';
import { styleFor } from './style-for.ts';

/** What a command says: data on stdout or in files, words on stderr. */
export interface Reporter {
  readonly outputs: readonly Output[];
  readonly style: Style;
  /** A result in every format that was asked for. */
  data(document: unknown, text: (style: Style) => string): Promise<void>;
  /** Text of a result that goes to stdout only where text does, and else to stderr. */
  preview(text: (style: Style) => string): Promise<void>;
  words(text: (style: Style) => string): Promise<void>;
  error(error: ErrorReport, target?: string | null): Promise<void>;
}

export function reporterFor(flags: Flags, io: Io): Reporter {
  const outputs = outputsFrom(flags, io.env);
  const shown = { noColor: flags.color === false, verbose: flags.verbose === true };
  const style = styleFor(io.stdout, io.env, shown);
  const words = styleFor(io.stderr, io.env, shown);
  const textOnStdout = outputs.some(({ format, path }) => format === 'text' && path === null);
  const plain: Style = { color: false, width: null, verbose: true };
  return {
    outputs,
    style,
    data: async (document, text) => {
      for (const { format, path } of outputs) {
        if (path !== null) await writeAside(path, format === 'json' ? json(document) : text(plain));
        else if (format === 'json') await write(io.stdout, json(document));
        else if (flags.quiet !== true) await write(io.stdout, text(style));
      }
    },
    preview: async (text) => {
      if (flags.quiet === true) return;
      await (textOnStdout ? write(io.stdout, text(style)) : write(io.stderr, text(words)));
    },
    words: (text) => write(io.stderr, text(words)),
    error: (error, target = null) => write(io.stderr, errorText(error, words, target)),
  };
}

/** Ends a command that could not begin: the sentence on stderr, and, where JSON was asked for, the error as JSON. */
export async function reportFailure(thrown: unknown, flags: Flags, io: Io): Promise<number> {
  const failure = asSetpointError(thrown);
  const { code, message, hint } = failure;
  const reporter = reporterFor(wellFormed(flags), io);
  const diagnostics = diagnosticsOf(failure);
  const document = {
    error: {
      code,
      message,
      hint,
      ...(diagnostics === null ? {} : { diagnostics: diagnostics.map(reported) }),
    },
  };
  for (const { format, path } of reporter.outputs) {
    if (format !== 'json') continue;
    await (path === null ? write(io.stdout, json(document)) : writeAside(path, json(document)));
  }
  if (diagnostics !== null) {
    const { diagnosticsText } = await import('../render/diagnostics-text.ts');
    await reporter.words((style) => `${diagnosticsText(diagnostics, style)}\n`);
  }
  await reporter.error({ code, message, hint });
  return failure.exitCode;
}

/** The flags without an output that is itself the mistake. */
function wellFormed(flags: Flags): Flags {
  const { output, ...others } = flags;
  const json =
    output?.filter((text) => text === 'json' || text.startsWith('json=')).slice(0, 1) ?? [];
  return json.length === 0 ? others : { ...others, output: json };
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
