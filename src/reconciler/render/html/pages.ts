import { formatCount } from '../../model/wording.ts';
import type { FailureDocument } from '../../model/error.ts';
import type { OutcomeDocument } from '../../model/outcome.ts';
import type { PlanDocument, Merged } from '../../model/plan.ts';
import type { DiagnosticReport, ValidationDocument } from '../../model/documents.gen.ts';
import type { Voice, Wording } from '../change.ts';
import { outcomeSections, planSections, type Section } from '../section.ts';
import { FEW, attentionWords, isSummed, NOT_WHOLE, summaryLine } from '../summary.ts';
import { commandFor, driftTitle, sentenceText } from '../wording.ts';
import { markup, type Markup, renderPage, provenanceHtml } from './page.ts';
import { renderRows, renderLabelRow, softHtml, sourceHtml, chipHtml } from './parts.ts';
import { errorHtml, sectionHtml, sectionId } from './section.ts';
import { rankAttention, compareRanks } from '../../model/summary.ts';
import { needsAttention } from '../../model/verdict.ts';

// Each document as a page of its own.

export function planHtml(document: PlanDocument): string {
  return planPage(document, 'plan');
}

/** Renders a plan as drift. */
export function driftHtml(document: PlanDocument): string {
  return planPage(document, 'drift');
}

function planPage(document: PlanDocument, voice: Voice): string {
  const { created_at: at, tool, run } = document;
  const sections = planSections(document, voice);
  return renderPage({
    command: voice,
    shard: document.shard,
    sections,
    heading: planHeading(sections, voice),
    main: mainHtml(sections, document, voice),
    footer: markup`${remedyHtml(sections, voice)}${provenanceHtml({ tool, run, at })}`,
  });
}

export function outcomeHtml(document: OutcomeDocument): string {
  const { finished_at: at, tool, run } = document;
  const sections = outcomeSections(document);
  return renderPage({
    command: 'apply',
    shard: document.shard,
    sections,
    heading: outcomeHeading(sections),
    main: mainHtml(sections, document, 'apply'),
    footer: provenanceHtml({ tool, run, at }),
  });
}

export function validationHtml({ valid, diagnostics }: ValidationDocument): string {
  const count = diagnostics.length === 0 ? '' : `: ${formatCount(diagnostics.length, 'problem')}`;
  const list = markup`<section aria-label="Problems">
${renderRows(diagnostics.map(diagnosticHtml))}</section>
`;
  return renderPage({
    command: 'validate',
    sections: [],
    heading: `${valid ? 'valid' : 'not valid'}${count}`,
    main: diagnostics.length === 0 ? null : list,
    footer: null,
  });
}

/** Renders why a command could not begin. */
export function failureHtml({ error }: FailureDocument): string {
  const { diagnostics = [] } = error;
  const list = diagnostics.length === 0 ? null : renderRows(diagnostics.map(diagnosticHtml));
  return renderPage({
    command: null,
    sections: [],
    heading: 'could not begin',
    main: markup`<section aria-label="Error">
${errorHtml(error)}${list}</section>
`,
    footer: null,
  });
}

function mainHtml(
  sections: readonly Section[],
  document: PlanDocument | OutcomeDocument,
  wording: Wording,
): Markup {
  return markup`${renderMergeHtml(document.merged)}${overviewHtml(sections, document, wording)}${sectionsHtml(sections)}`;
}

function planHeading(sections: readonly Section[], voice: Voice): string {
  const changes = sections.flatMap(({ changes }) => changes.map(({ change }) => change));
  const unread = sections.filter(({ error }) => error !== null).length;
  if (sections.length === 1 && unread > 0) return 'the service could not be read';
  const found =
    changes.length > 0
      ? voice === 'plan'
        ? formatCount(changes.length, 'change')
        : driftTitle(changes)
      : voice === 'plan'
        ? 'no changes'
        : 'no differences';
  if (sections.length === 1) return found;
  const rest = unread > 0 ? `, ${unread} could not be read` : '';
  return `${found} in ${formatCount(sections.length, 'environment')}${rest}`;
}

function outcomeHeading(sections: readonly Section[]): string {
  const [only] = sections;
  if (sections.length === 1 && only !== undefined) return only.verdict.words;
  const applied = sections.filter(({ error }) => error === null).length;
  return `${applied} of ${sections.length} environments applied`;
}

/**
 * Commands that make the service equal to the file, unless a guard would refuse that, or the file equal to the service; null if
 * nothing differs.
 */
function remedyHtml(sections: readonly Section[], voice: Voice): Markup | null {
  const differing = sections.filter(({ changes }) => changes.length > 0);
  if (differing.length === 0) return null;
  const allowed = differing.filter(({ refusals }) => refusals.length === 0);
  const apply =
    allowed.length === 0
      ? null
      : markup`<p>To write the file to the service: <code>${commandFor('apply', listCommandNames(allowed))}</code></p>\n`;
  if (voice === 'plan') return apply;
  return markup`${apply}<p>To bring the service's values into the file: <code>${commandFor('pull', listCommandNames(differing))}</code></p>\n`;
}

/** Lists the names for a command. For many, returns one placeholder: users do not paste a command with all names. */
function listCommandNames(sections: readonly Section[]): string[] {
  return sections.length > FEW ? ['NAME'] : sections.map(({ name }) => name);
}

/** A problem of a settings file: what it is, its remedy and its place. */
function diagnosticHtml(diagnostic: DiagnosticReport): Markup {
  const { severity, code, message, hint } = diagnostic;
  return renderLabelRow(
    severity === 'error'
      ? { mark: '✗', words: 'error', color: 'red' }
      : { mark: '!', words: 'warning', color: 'yellow' },
    markup`<p>${message}</p>
<p>${hint}</p>
`,
    softHtml(sourceHtml(diagnostic), code),
  );
}

/** All environments, counted, and those that need attention with links to their sections, the worst first. */
function overviewHtml(
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
function sectionsHtml(sections: readonly Section[]): Markup {
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
function renderMergeHtml(merged: Merged | undefined): Markup | null {
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
