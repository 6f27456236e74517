import { dirname, isAbsolute, join, relative } from 'node:path';
import { counted } from '../model/counted.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { asSetpointError, SetpointError } from '../model/error.ts';
import { diagnostic } from '../desired/report.ts';
import { sourceFile } from '../desired/source-file.ts';
import { baseOf, readTargets, type LoadedFile, type Target } from '../desired/target.ts';
import { isThere, liesIn, readText } from '../host/read-text.ts';
import { DEFAULT_FILE, DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE, type Options } from './options.ts';

/** A settings file that has problems, all of them. */
export class InvalidSettings extends SetpointError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    super('settings-invalid', `The settings have ${counted(errors, 'problem')}.`);
    this.diagnostics = diagnostics;
  }
}

export interface Loaded {
  readonly targets: readonly Target[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads every file, its base too, and all targets in them; with an error among the diagnostics there are none. */
export function loadTargets(options: Options): Loaded {
  const files = [options.file ?? DEFAULT_FILE].flat();
  const read = { serverGiven: options.server !== undefined, several: files.length > 1 };
  const loaded = files.map((file) => loadFile(file, options));
  const parts = loaded.map((file) =>
    'diagnostics' in file ? { targets: [], ...file } : readTargets(file, read),
  );
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  if (diagnostics.some(({ severity }) => severity === 'error')) return { targets: [], diagnostics };
  return { targets: parts.flatMap((part) => part.targets), diagnostics };
}

function loadFile(path: string, options: Options): LoadedFile | { diagnostics: Diagnostic[] } {
  const text = options.text ?? textOf(path, options);
  if (typeof text !== 'string') return text;
  const base = baseOf(path, text);
  if (base === null) return { path, text, base: null };
  const basePath = isAbsolute(base.path) ? base.path : join(dirname(path), base.path);
  if (isAbsolute(base.path) || !liesIn(basePath, '.')) {
    const message = 'There is no such file under the working directory.';
    return {
      diagnostics: [
        base.diagnose(
          message,
          'Name a file by its path from this one; it lies under the folder the command runs in.',
        ),
      ],
    };
  }
  try {
    const baseText = textOf(basePath, options);
    return typeof baseText === 'string'
      ? { path, text, base: { path: shown(basePath), text: baseText } }
      : baseText;
  } catch (thrown) {
    const { message, hint } = asSetpointError(thrown);
    return { diagnostics: [base.diagnose(message, hint)] };
  }
}

function shown(path: string): string {
  const inner = relative('.', path);
  return inner.startsWith('..') ? path : inner;
}

function textOf(path: string, options: Options): string | { diagnostics: Diagnostic[] } {
  const limit = Math.min(options.maxFileSize ?? DEFAULT_FILE_SIZE, LARGEST_FILE_SIZE);
  requireFile(path, options);
  const read = readText(path, limit);
  if ('text' in read) return read.text;
  const [message, hint] =
    read.problem === 'not-utf8'
      ? ['The file is not UTF-8 text.', 'Save it as UTF-8.']
      : [
          `The file is larger than ${limit} bytes.`,
          'Give --max-file-size a larger number, up to 16 MiB.',
        ];
  return {
    diagnostics: [diagnostic(sourceFile(path, ''), 0, { code: read.problem, message, hint })],
  };
}

/** Throws if nobody named a file and the default one is not there. */
export function requireFile(path: string, { file }: Options): void {
  if (file !== undefined || path !== DEFAULT_FILE || isThere(path)) return;
  throw new SetpointError('file-unreadable', `No ${DEFAULT_FILE} in this folder.`, {
    hint: 'Create one with `setpoint init --server URL`, or name one with -f.',
  });
}

/** A file that cannot be read, reported at its first character: there is nothing else to point at. */
export function unreadable(path: string, message: string, hint: string): Diagnostic {
  return diagnostic(sourceFile(path, ''), 0, { code: 'unreadable', message, hint });
}
