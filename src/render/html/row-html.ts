import { markup, type Markup, type Part } from './markup.ts';

/** A titled list of rows; null where there are none. */
export function rowsHtml(title: string, rows: readonly Markup[]): Markup | null {
  if (rows.length === 0) return null;
  return markup`<h3>${title}</h3>
${listHtml(rows)}`;
}

/** Rows that `rowHtml` made. */
export function listHtml(rows: readonly Markup[]): Markup {
  return markup`<ul class="rows">
${rows}</ul>
`;
}

/** A row: a mark beside what it marks, or above it where there is no room. */
export function rowHtml(mark: Markup, ...content: readonly Part[]): Markup {
  return markup`<li>
<p>${mark}</p>
<div>
${content}</div>
</li>
`;
}

/** What is worth a smaller line, apart by dots. */
export function notesHtml(...notes: readonly Part[]): Markup {
  const shown = notes.filter((note) => note !== null);
  return markup`<p class="soft">${shown.map((note, index) => (index === 0 ? note : [' · ', note]))}</p>
`;
}
