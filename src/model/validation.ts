import type { Diagnostic } from './diagnostic.ts';
import type { FORMAT_VERSION } from './plan.ts';

/** What `validate` found. schemas/validation.schema.json is its schema. */
export interface ValidationDocument {
  readonly format_version: typeof FORMAT_VERSION;
  readonly kind: 'validation';
  readonly valid: boolean;
  readonly diagnostics: readonly Omit<Diagnostic, 'excerpt'>[];
}
