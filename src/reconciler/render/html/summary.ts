import type { OutcomeDocument } from '../../model/outcome.ts';
import type { Merged, PlanDocument } from '../../model/plan.ts';
import { rankAttention, compareRanks } from '../../model/summary.ts';
import { needsAttention } from '../../model/verdict.ts';
import { formatCount } from '../../model/wording.ts';
import type { Section } from '../section.ts';
import type { Wording } from '../change.ts';
import { attentionWords, FEW, isSummed, NOT_WHOLE, summaryLine } from '../summary.ts';
import { sentenceText } from '../wording.ts';
import { markup, type Markup } from './page.ts';
import { chipHtml, softHtml } from './parts.ts';
import { sectionHtml, sectionId } from './section.ts';

/** All environments, counted, and those that need attention with links to their sections, the worst first. */
export function overviewHtml(
  sections: readonly Section[],
  { summary, shard }: Pick<PlanDocument | OutcomeDocument, 'summary' | 'shard'>,
  wording: Wording,
): Markup | null {
  if (!isSummed(summary)) return null;
  const { total, counts, rest } = summaryLine(summary, shard, wording);
  const rows = sections
    .map((section, index) => ({ section, index }))
    .filter(({ section }) => sections.length <= FEW || needsAttention(section.attention.verdict))
    .toSorted(({ section: one }, { section: other }) =>
      compareRanks(rankAttention(other.attention), rankAttention(one.attention)),
    );
  return markup`<nav aria-label="Environments">
<p class="counts">${total}: ${counts.map((count) => [chipHtml({ ...count, mark: '' }), ' '])}</p>
${rest === '' ? null : softHtml(rest)}<ul class="overview">
${rows.map(({ section, index }) => renderSummaryRow(section, index, wording))}</ul>
</nav>
`;
}

function renderSummaryRow(section: Section, index: number, wording: Wording): Markup {
  const { name, verdict, attention, sentence } = section;
  const words = needsAttention(attention.verdict)
    ? attentionWords(attention, wording)
    : sentenceText(sentence);
  return markup`<li><a href="#${sectionId(index)}">${name}</a> ${chipHtml(verdict)} <span class="soft">${words}</span></li>
`;
}

/** The sections; of several environments those that need no attention are folded, at the end. */
export function sectionsHtml(sections: readonly Section[]): Markup {
  const numbered = sections.map((section, index) => ({ section, index }));
  const isBelow = ({ section }: NumberedSection): boolean =>
    sections.length > 1 && isFolded(section);
  const folded = numbered.filter(isBelow);
  const open = numbered.filter((one) => !isBelow(one));
  return markup`${open.map(({ section, index }) => sectionHtml(section, index))}${renderFoldedSections(folded)}`;
}

interface NumberedSection {
  readonly section: Section;
  readonly index: number;
}

function isFolded({ attention: { verdict }, warnings }: Section): boolean {
  return (verdict === 'in-sync' || verdict === 'not-empty') && warnings.length === 0;
}

/** Sections in the fold; a page with tens of thousands is slow to open. */
const MOST_FOLDED = 1000;

function renderFoldedSections(folded: readonly NumberedSection[]): Markup | null {
  if (folded.length === 0) return null;
  const more = folded.length - MOST_FOLDED;
  return markup`<details class="fold rest">
<summary>In sync: ${formatCount(folded.length, 'environment')}</summary>
${folded.slice(0, MOST_FOLDED).map(({ section, index }) => sectionHtml(section, index))}${
    more > 0 ? softHtml(`and ${formatCount(more, 'more environment')} in sync`) : null
  }</details>
`;
}

/** Renders the reasons that a merged report is incomplete, and other notes on it. */
export function renderMergeHtml(merged: Merged | undefined): Markup | null {
  const { problems = [], notes = [] } = merged ?? {};
  if (problems.length + notes.length === 0) return null;
  return markup`<section aria-label="About this report">
${
  problems.length === 0
    ? null
    : markup`<ul class="box bad">
${problems.map((problem) => markup`<li>✗ ${NOT_WHOLE} ${problem}</li>\n`)}</ul>
`
}${notes.map((note) => softHtml(note))}</section>
`;
}
