import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import { RUNBOOKS } from './runbooks.gen.ts';

/** The runbook of an alert as a page; null if there is none of that name, which may end with `.md`. */
export function runbookHtml(
  name: string,
): { readonly title: string; readonly main: Markup } | null {
  const title = name.replace(/\.md$/, '');
  const text = Object.hasOwn(RUNBOOKS, title) ? RUNBOOKS[title] : undefined;
  if (text === undefined) return null;
  const main = markup`<p class="back"><a href="/">← All environments</a></p>
<h1>${title}</h1>
<section aria-label="Runbook" class="runbook">
${renderRunbookSections(text)}</section>
`;
  return { title, main };
}

/** Its headings, paragraphs, lists and commands: runbooks have no other blocks, which a test holds. */
function renderRunbookSections(text: string): readonly Markup[] {
  return text
    .split('\n\n')
    .slice(1)
    .map((block) => {
      const lines = block.trim().split('\n');
      const [first = ''] = lines;
      if (first.startsWith('## ')) return markup`<h2>${first.slice(3)}</h2>\n`;
      if (first.startsWith('```')) return markup`<pre>${lines.slice(1, -1).join('\n')}</pre>\n`;
      if (first.startsWith('- '))
        return markup`<ul>\n${lines.map((line) => markup`<li>${renderInlineMarkup(line.slice(2))}</li>\n`)}</ul>\n`;
      return markup`<p>${renderInlineMarkup(lines.join(' '))}</p>\n`;
    });
}

/** Code, and links to other runbooks; of a link to another page of the documentation its words. */
function renderInlineMarkup(text: string): readonly Markup[] {
  const parts = text.matchAll(/`([^`]*)`|\*([^*]*)\*|\[([^\]]*)\]\(([^)]*)\)|[^`*[]+/g);
  return [...parts].map(([whole, code, strong, words, target = '']) => {
    if (code !== undefined) return markup`<code>${code}</code>`;
    if (strong !== undefined) return markup`<em>${strong}</em>`;
    if (words === undefined) return markup`${whole}`;
    return runbookLinkTo(words, target.replace(/\.md$/, ''));
  });
}

function runbookLinkTo(words: string, name: string): Markup {
  return Object.hasOwn(RUNBOOKS, name)
    ? markup`<a href="/runbooks/${name}">${words}</a>`
    : markup`${words}`;
}
