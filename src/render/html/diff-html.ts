import type { Json } from '../../model/value.ts';
import { counted } from '../../model/counted.ts';
import { nestedDiff } from '../nested-diff.ts';
import { markup, type Markup } from './markup.ts';
import { WHOLE } from './value-html.ts';

const FOLD_AFTER = 16;

/** What differs between two nested values, a line an element; what is above sixteen lines opens. */
export function diffHtml(before: Json, after: Json): Markup {
  const lines = nestedDiff(before, after, WHOLE);
  const more = lines.slice(FOLD_AFTER);
  if (more.length === 0) return linesHtml(lines);
  return markup`${linesHtml(lines.slice(0, FOLD_AFTER))}<details>
<summary>${counted(more.length, 'more line')}</summary>
${linesHtml(more)}</details>
`;
}

function linesHtml(lines: readonly string[]): Markup {
  return markup`<pre>${lines.map(lineHtml)}</pre>
`;
}

/** The marks stay, so that nothing is told by colour alone. */
function lineHtml(line: string): Markup {
  if (line.startsWith('+')) return markup`<ins>${line}\n</ins>`;
  return line.startsWith('-') ? markup`<del>${line}\n</del>` : markup`<span>${line}\n</span>`;
}
