import { formatCount } from '../../model/wording.ts';
import type { Remainder } from '../../model/outcome.ts';
import { formatPath } from '../../model/path.ts';
import { type Unknown, formatChangeName, type ChangeClass } from '../../model/plan.ts';
import type { ErrorReport } from '../../model/error.ts';
import type { Proof } from '../../model/proof.ts';
import { PROOF_LABELS, findUnlistedError, type Section } from '../section.ts';
import {
  refusalSentence,
  refusalTitle,
  requestCounts,
  sentenceText,
  type Sentence,
  formatServiceVersion,
} from '../wording.ts';
import { waysSentences } from '../../model/uncompared.ts';
import { markup, type Markup, type MarkupPart } from './page.ts';
import { chipHtml, refHtml, renderLabelRow, rowsHtml, softHtml, sourceHtml } from './parts.ts';
import type { Json } from '../../model/value.ts';
import {
  IN_THE_FILE,
  ON_THE_SERVICE,
  type ShownChange,
  type Side,
  inlineValue,
  isTooLong,
  diffNested,
} from '../change.ts';
import { PLAIN, WHOLE, type Paint } from '../text.ts';

/** An environment's section; `index` is its position in the document, from 0. */
export function sectionHtml(section: Section, index: number): Markup {
  const { name, origin, verdict } = section;
  const about = [origin, formatServiceVersion(section)].filter((text) => text !== null).join(', ');
  const id = sectionId(index);
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">${name} ${chipHtml(verdict)}</h2>
${about === '' ? null : softHtml(about)}${sectionBodyHtml(section)}</section>
`;
}

/** Renders a section below its title. Drift is a table, the file's values next to the service's. */
export function sectionBodyHtml(
  section: Omit<Section, 'sentence'> & { readonly sentence: Sentence | null },
): Markup {
  const { command, organization, seen, sentence, changes, unknown, remaining, proofs } = section;
  return markup`${sentence === null ? null : markup`<p class="sentence">${sentenceText(sentence)}</p>\n`}${[
    organization === null ? null : softHtml(organization),
    seen === null ? null : softHtml(`Against the service ${seen}.`),
    legendHtml(section),
    errorHtml(findUnlistedError(section)),
    renderBox(refusalTitle(section), BAD, section.refusals.map(refusalSentence)),
    rowsHtml('Not as requested', remaining.map(remainderHtml)),
    renderBox(
      'Warnings',
      WARN,
      section.warnings.map(({ message }) => message),
    ),
    command === 'drift' ? differencesHtml(changes) : rowsHtml('Changes', changes.map(changeHtml)),
    rowsHtml('Could not be compared', unknown.map(unknownHtml)),
    ...waysSentences(section.ways, command).map((sentence) => softHtml(sentence)),
    rowsHtml('Checked by the service', (proofs ?? []).map(proofHtml)),
    renderUnmanagedHtml(section),
    requestsHtml(section),
  ]}`;
}

/** Not the name: two could be alike. */
export function sectionId(index: number): string {
  return `environment-${index + 1}`;
}

function legendHtml({ changes }: Pick<Section, 'changes'>): Markup | null {
  return changes.every(({ change }) => change.class === undefined)
    ? null
    : softHtml(
        'pending: the file has changed since it was last applied; drift: the service has; conflict: both have.',
      );
}

/** Renders an error and its remedy. */
export function errorHtml(error: ErrorReport | null): Markup | null {
  if (error === null) return null;
  return markup`<div class="box bad">
<p><strong>✗ ${error.message}</strong></p>
<p>${error.hint}</p>
${softHtml(markup`<code>${error.code}</code>`)}</div>
`;
}

const BAD = { tone: 'bad', mark: '✗' } as const;
const WARN = { tone: 'warn', mark: '!' } as const;

/** Titled sentences in a box. */
function renderBox(
  title: string,
  { tone, mark }: typeof BAD | typeof WARN,
  sentences: readonly string[],
): Markup | null {
  if (sentences.length === 0) return null;
  return markup`<h3>${title}</h3>
<ul class="box ${tone}">
${sentences.map((sentence) => markup`<li>${mark} ${sentence}</li>\n`)}</ul>
`;
}

function remainderHtml({ expected, actual, reason, hint, ...place }: Remainder): Markup {
  return renderLabelRow(
    { mark: '!', words: 'remains', color: 'red' },
    markup`<p><code class="name">${formatChangeName(place)}</code>: ${reason}</p>
<div class="values">expected ${valueHtml('ins', expected)}</div>
<div class="values">found ${valueHtml('del', actual)}</div>
`,
    softHtml(hint),
  );
}

function unknownHtml({ path, reason, ref }: Unknown): Markup {
  return renderLabelRow(
    { mark: '?', words: 'unknown', color: 'cyan' },
    markup`<p><code class="name">${formatPath(path)}</code></p>\n`,
    softHtml(reason, refHtml(ref)),
  );
}

function proofHtml({ path, status, found }: Proof): Markup {
  return renderLabelRow(
    PROOF_LABELS[status],
    markup`<p><code class="name">${formatPath(path)}</code></p>\n`,
    softHtml(found),
  );
}

function renderUnmanagedHtml({
  unmanaged,
  unlisted,
}: Pick<Section, 'unmanaged' | 'unlisted'>): Markup | null {
  if (unmanaged.length === 0) return null;
  return markup`<details class="fold">
<summary>Not in the file, left alone: ${formatCount(unmanaged.length, 'value')}</summary>
<ul>
${unmanaged.map((path) => markup`<li><code>${formatPath(path)}</code></li>\n`)}</ul>
${unlisted === null ? null : softHtml(unlisted)}</details>
`;
}

function requestsHtml({ requests, dialect }: Pick<Section, 'requests' | 'dialect'>): Markup | null {
  if (requests === null) return null;
  const { requests: sent, allowed } = requests;
  const lifted = allowed.length === 0 ? null : `lifted by --allow: ${allowed.join(', ')}`;
  return softHtml(requestCounts(sent, dialect), lifted);
}

const MOST_LINES = 16;

/** Renders a change of a plan or an outcome: path, both values, reason and source. */
function changeHtml(shown: ShownChange): Markup {
  const { change, name, label, reason, result } = shown;
  const { ref, source } = change;
  return renderLabelRow(
    label,
    markup`<p><code class="name">${name}</code>${[classHtml(change), result === null ? null : [' ', chipHtml(result)]]}</p>\n`,
    valuesHtml(shown),
    softHtml(reason, refHtml(ref), sourceHtml(source)),
  );
}

/** Renders the kind of a change since the last apply, behind its name. */
function classHtml({ class: kind }: ShownChange['change']): MarkupPart {
  return kind === undefined
    ? null
    : [' ', chipHtml({ mark: '', words: kind, color: CLASSES[kind] })];
}

/** Differences as a table: what differs, what the file has and what the service has. A nested value is one cell, with its lines. */
function differencesHtml(changes: readonly ShownChange[]): Markup | null {
  if (changes.length === 0) return null;
  return markup`<table class="differences" role="table">
<caption class="unseen">Differences</caption>
<thead role="rowgroup">
<tr role="row"><th scope="col" role="columnheader">Path</th><th scope="col" role="columnheader">${capitalizeFirst(IN_THE_FILE)}</th><th scope="col" role="columnheader">${capitalizeFirst(ON_THE_SERVICE)}</th></tr>
</thead>
<tbody role="rowgroup">
${changes.map(differenceHtml)}</tbody>
</table>
`;
}

/** The roles are repeated because browsers drop them if a style lays a row out as a card. */
function differenceHtml(shown: ShownChange): Markup {
  const { change, name, reason, label } = shown;
  const { ref, source } = change;
  const about = [reason === label.words ? null : reason, refHtml(ref), sourceHtml(source)];
  return markup`<tr role="row">
<th scope="row" role="rowheader"><code class="name">${name}</code>${classHtml(change)}${about.every((part) => part === null) ? null : softHtml(...about)}</th>
${cellsHtml(shown)}</tr>
`;
}

function cellsHtml({ values, label }: ShownChange): Markup {
  switch (values.kind) {
    case 'none':
    case 'arrow':
      return markup`<td role="cell" colspan="2">${chipHtml(label)}</td>\n`;
    case 'sides':
      return markup`<td role="cell" data-head="${capitalizeFirst(IN_THE_FILE)}">${sideHtml('ins', values.file)}</td>
<td role="cell" data-head="${capitalizeFirst(ON_THE_SERVICE)}">${sideHtml('del', values.service)}</td>
`;
    case 'diff': {
      const { before, after } = values;
      return markup`<td role="cell" colspan="2"><p class="sides"><del>--- ${ON_THE_SERVICE}${before === null ? ': none' : ''}</del> <ins>+++ ${IN_THE_FILE}${after === null ? ': none' : ''}</ins></p>
${isTooLong(before, after) ? bothHtml(before, after) : diffHtml(before, after)}</td>
`;
    }
  }
}

function capitalizeFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const CLASSES: Readonly<Record<ChangeClass, Paint>> = {
  pending: 'dim',
  drift: 'cyan',
  conflict: 'red',
};

function valuesHtml({ values }: ShownChange): Markup | null {
  switch (values.kind) {
    case 'none':
    case 'sides':
      return null;
    case 'arrow':
      return arrowHtml(values.before, sideHtml('ins', values.after));
    case 'diff':
      return isTooLong(values.before, values.after)
        ? arrowHtml(values.before, valueHtml('ins', values.after))
        : diffHtml(values.before, values.after);
  }
}

function arrowHtml(before: Json, after: Markup): Markup {
  const from = before === null ? null : [valueHtml('del', before), ' → '];
  return markup`<div class="values">${from}${after}</div>\n`;
}

function bothHtml(before: Json, after: Json): Markup {
  return markup`<div class="values">${before === null ? null : valueHtml('del', before)} ${after === null ? null : valueHtml('ins', after)}</div>\n`;
}

/** A diff of two nested values; the lines that are too many are in a fold. */
function diffHtml(before: Json, after: Json): Markup {
  const lines = diffNested(before, after, WHOLE);
  const more = lines.slice(MOST_LINES);
  if (more.length === 0) return linesHtml(lines);
  return markup`${linesHtml(lines.slice(0, MOST_LINES))}<details>
<summary>${formatCount(more.length, 'more line')}</summary>
${linesHtml(more)}</details>
`;
}

function linesHtml(lines: readonly string[]): Markup {
  return markup`<pre>${lines.map(lineHtml)}</pre>
`;
}

/** The marks stay, so that nothing depends on colour alone. */
function lineHtml(line: string): Markup {
  if (line.startsWith('+')) return markup`<ins>${line}\n</ins>`;
  return line.startsWith('-') ? markup`<del>${line}\n</del>` : markup`<span>${line}\n</span>`;
}

function sideHtml(element: 'ins' | 'del', side: Side): Markup {
  return 'words' in side ? spanHtml(element, side.words) : valueHtml(element, side.value);
}

/** A value as JSON on a line; a long one opens. */
function valueHtml(element: 'ins' | 'del', value: Json): Markup {
  const whole = inlineValue(value, WHOLE);
  const shortened = inlineValue(value, PLAIN);
  if (shortened === whole) return spanHtml(element, whole);
  return markup`<details class="long">
<summary>${spanHtml(element, shortened)}</summary>
${spanHtml(element, whole)}
</details>
`;
}

/** `del` for what was there, `ins` for what comes in its place. */
function spanHtml(element: 'ins' | 'del', text: string): Markup {
  return element === 'ins'
    ? markup`<ins class="value">${text}</ins>`
    : markup`<del class="value">${text}</del>`;
}
