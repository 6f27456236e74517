import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ErrorReport } from '../model/plan.ts';
import { reported } from '../model/validation.ts';
import { errorText } from '../render/error-text.ts';
import { json } from '../render/json.ts';
import type { Style } from '../render/style.ts';
import { canWrite, checkWritable, writeAside } from '../host/write-aside.ts';
import { outputsFrom, type Flags, type Output } from './flags.ts';
import type { Io, Stream } from './io.ts';
import { styleFor } from './style-for.ts';

/** What a command says: data on stdout or in files, words on stderr. */
export interface Reporter {
  /** A result in every format that was asked for; 1 where a file could not be written, else 0. */
  data(document: unknown, text: (style: Style) => string): Promise<number>;
  /** Text that comes before a result: on stdout where text goes there, else on stderr. `always`: though -q was given. */
  preview(text: (style: Style) => string, always: boolean): Promise<void>;
  words(text: (style: Style) => string): Promise<void>;
  error(error: ErrorReport, target?: string | null): Promise<void>;
}

/** Throws where a file that was asked for could not be written later: before anything is sent. */
export function reporterFor(flags: Flags, io: Io): Reporter {
  const outputs = outputsFrom(flags, io.env);
  for (const { path } of outputs) if (path !== null) checkWritable(path);
  return reporterTo(outputs, flags, io);
}

function reporterTo(outputs: readonly Output[], flags: Flags, io: Io): Reporter {
  const shown = { noColor: flags.color === false, verbose: flags.verbose === true };
  const style = styleFor(io.stdout, io.env, shown);
  const words = styleFor(io.stderr, io.env, shown);
  const textOnStdout = outputs.some(({ format, path }) => format === 'text' && path === null);
  const reporter: Reporter = {
    data: async (document, text) => {
      let failed = 0;
      for (const { format, path } of outputs.toSorted(
        (one, other) => Number(one.path !== null) - Number(other.path !== null),
      )) {
        if (path === null) {
          if (format === 'json') await write(io.stdout, json(document));
          else if (flags.quiet !== true) await write(io.stdout, text(style));
          continue;
        }
        try {
          await writeAside(path, format === 'json' ? json(document) : text(PLAIN));
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

/** Ends a command that could not begin: the sentence on stderr, and, where JSON was asked for, the error as JSON. */
export async function reportFailure(thrown: unknown, flags: Flags, io: Io): Promise<number> {
  const failure = asSetpointError(thrown);
  const { code, message, hint } = failure;
  const diagnostics = diagnosticsOf(failure);
  const listed = diagnostics === null ? {} : { diagnostics: diagnostics.map(reported) };
  const reporter = reporterTo(jsonOutputs(flags, io.env), flags, io);
  await reporter.data({ error: { code, message, hint, ...listed } }, () => '');
  if (diagnostics !== null) {
    const { diagnosticsText } = await import('../render/diagnostics-text.ts');
    await reporter.words((style) => `${diagnosticsText(diagnostics, style)}\n`);
  }
  await reporter.error({ code, message, hint });
  return failure.exitCode;
}

/** The outputs that want JSON, as far as the flags can be understood: one of them may be the mistake. */
function jsonOutputs(flags: Flags, env: Io['env']): Output[] {
  const asked =
    flags.output ?? (env['SETPOINT_OUTPUT'] === undefined ? [] : [env['SETPOINT_OUTPUT']]);
  const files = asked.flatMap((text) =>
    text.startsWith('json=') && canWrite(text.slice(5)) ? [text.slice(5)] : [],
  );
  const paths = [...(asked.includes('json') ? [null] : []), ...files];
  return paths.map((path) => ({ format: 'json', path }));
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
