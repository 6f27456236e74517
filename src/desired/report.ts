import type { Diagnostic, DiagnosticCode } from '../model/diagnostic.ts';
import { excerpt } from './excerpt.ts';
import { shownPath } from './shown-key.ts';
import { lineOf, locate, type SourceFile } from './source-file.ts';

export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly path?: readonly string[];
  readonly severity?: 'error' | 'warning';
}

/** A finding with its place, before it is told. */
export interface PlacedFinding {
  readonly file: SourceFile;
  readonly at: number;
  readonly finding: Finding & { readonly path: readonly string[] };
}

/** A finding at an offset of a file, as a diagnostic with its place and the line quoted. */
export function diagnostic(file: SourceFile, at: number, finding: Finding): Diagnostic {
  const place = locate(file, at);
  const path = finding.path ?? [];
  return {
    severity: finding.severity ?? 'error',
    code: finding.code,
    message: finding.message,
    hint: finding.hint,
    ...place,
    path: shownPath(path),
    excerpt: excerpt(lineOf(file, place.line), path, place.column),
  };
}
