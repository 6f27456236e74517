import type { EnvironmentPlan } from '../../model/plan.ts';
import type { Paint } from '../style.ts';
import { chipHtml } from './chip-html.ts';
import { markup, type Markup, type Part } from './markup.ts';

/** One target's part of a page. */
export interface Section extends Pick<EnvironmentPlan, 'name' | 'origin'> {
  readonly verdict: Verdict;
  /** The last line of the text of the same target. */
  readonly sentence: string;
  readonly content: readonly Part[];
}

/** How a target stands, in a word or two. */
export interface Verdict {
  readonly mark: string;
  readonly words: string;
  readonly color: Paint;
}

/** A target's section; `index` is its place in the document, from 0. */
export function sectionHtml(section: Section, index: number): Markup {
  const { name, origin, verdict, sentence, content } = section;
  const id = sectionId(index);
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">${name} ${verdictHtml(verdict)}</h2>
${origin === null ? null : markup`<p class="soft">${origin}</p>\n`}<p class="sentence">${sentence}</p>
${content}</section>
`;
}

/** A name of a document is no id: two could be alike. */
function sectionId(index: number): string {
  return `target-${index + 1}`;
}

function verdictHtml({ mark, words, color }: Verdict): Markup {
  return chipHtml(color, `${mark} ${words}`);
}

/** Where there are several targets: how each stands, and the way to its section. */
export function overviewHtml(sections: readonly Section[]): Markup | null {
  if (sections.length < 2) return null;
  return markup`<nav aria-label="Targets">
<ul class="overview">
${sections.map(overviewItem)}</ul>
</nav>
`;
}

function overviewItem({ name, verdict, sentence }: Section, index: number): Markup {
  return markup`<li><a href="#${sectionId(index)}">${name}</a> ${verdictHtml(verdict)} <span class="soft">${sentence}</span></li>
`;
}
