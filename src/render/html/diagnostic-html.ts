import type { DiagnosticReport } from '../../model/validation.ts';
import { sourceHtml } from './change-html.ts';
import { chipHtml } from './chip-html.ts';
import { markup, type Markup } from './markup.ts';
import { notesHtml, rowHtml } from './row-html.ts';

/** A row a problem: what it is, what to do about it, where it is. */
export function diagnosticHtml(diagnostic: DiagnosticReport): Markup {
  const { severity, code, message, hint } = diagnostic;
  return rowHtml(
    severity === 'error' ? chipHtml('red', '✗ error') : chipHtml('yellow', '! warning'),
    markup`<p>${message}</p>
<p>${hint}</p>
`,
    notesHtml(sourceHtml(diagnostic), code),
  );
}
