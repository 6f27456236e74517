import { formatCount } from '../../model/wording.ts';
import type { Remainder } from '../../model/outcome.ts';
import { formatPath } from '../../model/path.ts';
import { type Unknown, formatChangeName } from '../../model/plan.ts';
import { type ErrorReport } from '../../model/error.ts';
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
import { changeHtml, differencesHtml, valueHtml } from './change.ts';
import { markup, type Markup } from './page.ts';
import { chipHtml, refHtml, renderLabelRow, rowsHtml, softHtml } from './parts.ts';

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
