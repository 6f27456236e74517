import type { DiagnosticReport } from '../../model/validation.ts';
import { codeSpan, shortened } from './code-span.ts';
import type { Entry, Listing } from './fitted.ts';
import { prose } from './prose.ts';
import { table, tableRow } from './table.ts';
import { counted } from '../../model/counted.ts';

/** Problems of settings files as a table; errors are the last to be left out. */
export function diagnosticBlock(diagnostics: readonly DiagnosticReport[]): Listing {
  const rows = diagnostics.map((diagnostic): Entry => ({
    rank: diagnostic.severity === 'error' ? 0 : 1,
    text: () => diagnosticRow(diagnostic),
  }));
  const missing = (count: number): string =>
    `*and ${counted(count, 'more problem')}, see the run*\n\n`;
  return table(['', 'Place', 'Problem', 'What to do'], rows, missing);
}

function diagnosticRow(diagnostic: DiagnosticReport): string {
  const { severity, code, message, hint, file, line, column } = diagnostic;
  return tableRow([
    severity,
    codeSpan(`${shortened(file, 160)}:${line}:${column}`),
    `${prose(message)} ${codeSpan(shortened(code, 60))}`,
    prose(hint),
  ]);
}
