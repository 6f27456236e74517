import type { ErrorReport } from './plan.ts';
import type { DiagnosticReport } from './validation.ts';

/** What a command prints as JSON if it could not begin: usage, files, references. */
export interface FailureDocument {
  readonly error: ErrorReport & { readonly diagnostics?: readonly DiagnosticReport[] };
}
