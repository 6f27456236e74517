import type { FailureDocument } from '../../model/failure.ts';
import { commands } from './command.ts';
import { diagnosticAnnotation } from './diagnostic-annotation.ts';

/** What kept a command from beginning as annotations, the problems of files on their places. */
export function failureAnnotations({ error }: FailureDocument): string {
  const { message, hint, diagnostics = [] } = error;
  return commands([
    { level: 'error', weight: 0, title: 'setpoint', lines: [message, hint], place: null },
    ...diagnostics.map(diagnosticAnnotation),
  ]);
}
