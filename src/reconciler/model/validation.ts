import type { Diagnostic } from './diagnostic.ts';
import type { FORMAT_VERSION } from './plan.ts';

/** What `validate` found. schemas/validation.schema.json is its schema. */
export interface ValidationDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'validation';
  readonly valid: boolean;
  readonly diagnostics: readonly DiagnosticReport[];
}

/** A diagnostic as documents carry it: without the quoted line. */
export type DiagnosticReport = Omit<Diagnostic, 'excerpt'>;

export function reported(diagnostic: Diagnostic): DiagnosticReport {
  const { severity, code, message, hint, file, line, column, path } = diagnostic;
  return { severity, code, message, hint, file, line, column, path };
}
