import type { Refusal } from '../../model/guard.ts';
import { formatPath, type Path } from '../../model/path.ts';
import type { ErrorReport, Unknown, Warning } from '../../model/plan.ts';
import { counted } from '../../model/counted.ts';
import { refusalSentence } from '../refusal-text.ts';
import { groupedWarnings } from '../warning-order.ts';
import { unknownHtml } from './change-html.ts';
import { markup, type Markup } from './markup.ts';
import { notesHtml, rowsHtml } from './row-html.ts';

/** What happened, and what to do. */
export function errorHtml(error: ErrorReport | null): Markup | null {
  if (error === null) return null;
  return markup`<div class="box bad">
<p><strong>✗ ${error.message}</strong></p>
<p>${error.hint}</p>
${notesHtml(markup`<code>${error.code}</code>`)}</div>
`;
}

/** Why an apply would refuse the plan, or has refused it. */
export function refusalsHtml(refusals: readonly Refusal[], heading: string): Markup | null {
  if (refusals.length === 0) return null;
  return markup`<h3>${heading}</h3>
<ul class="box bad">
${refusals.map((refusal) => markup`<li>✗ ${refusalSentence(refusal)}</li>\n`)}</ul>
`;
}

/** What is worth knowing, what a write would lose before all others. */
export function warningsHtml(warnings: readonly Warning[]): Markup | null {
  if (warnings.length === 0) return null;
  return markup`<h3>Warnings</h3>
<ul class="box warn">
${groupedWarnings(warnings).map(({ message }) => markup`<li>! ${message}</li>\n`)}</ul>
`;
}

export function unknownsHtml(unknown: readonly Unknown[]): Markup | null {
  return rowsHtml('Could not be compared', unknown.map(unknownHtml));
}

export function unmanagedHtml(unmanaged: readonly Path[]): Markup | null {
  if (unmanaged.length === 0) return null;
  return markup`<details class="fold">
<summary>Not managed: ${counted(unmanaged.length, 'value')}</summary>
<ul>
${unmanaged.map((path) => markup`<li><code>${formatPath(path)}</code></li>\n`)}</ul>
</details>
`;
}
