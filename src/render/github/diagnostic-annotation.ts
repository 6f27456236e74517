import type { DiagnosticReport } from '../../model/validation.ts';
import type { Annotation } from './command.ts';

/** A problem at its place. */
export function diagnosticAnnotation(diagnostic: DiagnosticReport): Annotation {
  const { severity, code, message, hint, file, line, column } = diagnostic;
  return {
    level: severity,
    weight: 1,
    title: code,
    lines: [message, hint],
    place: { file, line, column },
  };
}
