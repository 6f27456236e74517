import type { Diagnostic, DiagnosticCode } from '../model/diagnostic.ts';
import { excerpt } from './excerpt.ts';
import { lineOf, locate, type SourceFile } from './source-file.ts';

export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly path?: readonly string[];
  readonly severity?: 'error' | 'warning';
}

/** A finding at an offset of a file, as a diagnostic with its place and the line quoted. */
export function diagnostic(file: SourceFile, at: number, finding: Finding): Diagnostic {
  const place = locate(file, at);
  return {
    severity: finding.severity ?? 'error',
    code: finding.code,
    message: finding.message,
    hint: finding.hint,
    ...place,
    path: finding.path ?? [],
    excerpt: excerpt(lineOf(file, place.line)),
  };
}

/** A key as a message may show it: a secret pasted where a key belongs is not repeated. */
export function shownKey(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,39}$/.test(key) && !/[A-Za-z0-9]{24}/.test(key)
    ? key
    : 'a key';
}
