import type { ValidationDocument } from '../../model/validation.ts';
import { commands } from './command.ts';
import { diagnosticAnnotation } from './diagnostic-annotation.ts';

/** What `validate` found as annotations on the places. */
export function validationAnnotations({ diagnostics }: ValidationDocument): string {
  return commands(diagnostics.map(diagnosticAnnotation));
}
