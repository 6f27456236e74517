import type { Source } from '../../model/path.ts';
import type { Label } from '../change.ts';
import type { Paint } from '../text.ts';
import { markup, type Markup, type MarkupPart } from './page.ts';

/** A titled list of rows made by `rowHtml`; null if there are none. */
export function rowsHtml(title: string, rows: readonly Markup[]): Markup | null {
  return rows.length === 0 ? null : markup`<h3>${title}</h3>\n${renderRows(rows)}`;
}

export function renderRows(rows: readonly Markup[]): Markup {
  return markup`<ul class="rows">
${rows}</ul>
`;
}

/** A row: a chip next to the text that it marks, or above it if there is no room. */
export function renderLabelRow(label: Label, ...content: readonly MarkupPart[]): Markup {
  return markup`<li>
<p>${chipHtml(label)}</p>
<div>
${content}</div>
</li>
`;
}

/** A smaller line, its parts separated by dots. */
export function softHtml(...parts: readonly MarkupPart[]): Markup {
  const shown = parts.filter((part) => part !== null);
  return markup`<p class="soft">${shown.map((part, index) => (index === 0 ? part : [' · ', part]))}</p>
`;
}

export function refHtml(ref: string | null): Markup | null {
  return ref === null ? null : markup`<code>${ref}</code>`;
}

export function sourceHtml(source: Source | null): Markup | null {
  return source === null
    ? null
    : markup`<code>${source.file}:${source.line}:${source.column}</code>`;
}

/** A mark and words on a ground of their colour, which adds no meaning of its own. */
export function chipHtml({ mark, words, color }: Label): Markup {
  return markup`<span class="chip ${TONES[color]}">${mark === '' ? words : `${mark} ${words}`}</span>`;
}

const TONES: Readonly<Record<Paint, string>> = {
  green: 'good',
  yellow: 'warn',
  red: 'bad',
  cyan: 'note',
  dim: 'plain',
  bold: 'plain',
};
