import { namesListed } from '../../reconciler/model/wording.ts';
import type { EnvironmentPlan } from '../../reconciler/model/plan.ts';
import type { JournalRecord, NoticeEvent, WriteEvent } from '../../reconciler/model/watch.ts';
import { markup, type Markup, type MarkupPart } from '../../reconciler/render/html/page.ts';
import { renderLabelRow, softHtml } from '../../reconciler/render/html/parts.ts';
import { sectionBodyHtml } from '../../reconciler/render/html/section.ts';
import { historyRows, type ShownRecord } from '../../reconciler/render/history-rows.ts';
import { isAboutWrite } from '../../reconciler/model/error.ts';
import { outcomeSection, planSection, LABELS } from '../../reconciler/render/section.ts';
import type { Label } from '../../reconciler/render/change.ts';
import { visible } from '../../reconciler/render/text.ts';
import { describeRecord } from '../../reconciler/render/record-text.ts';
import type { Health } from '../watch/watching.ts';
import { clockText, renderRelativeTime } from './times.ts';

/** Renders the journal of an environment, newest first. The findings and writes of a record are folded below it. */
export function historyHtml(
  records: readonly JournalRecord[],
  commits: Commits,
  now: number,
): Markup {
  const rows = historyRows(records)
    .map((row) =>
      row.kind === 'record'
        ? recordHtml(row.record, commits, now)
        : noticesHtml(row.notices, row.at, now),
    )
    .filter((row) => row !== null)
    .slice(0, MOST_ROWS);
  if (rows.length === 0)
    return markup`<p class="soft">Nothing yet: the journal has a line for each change of state and each write.</p>\n`;
  return markup`<ol class="rows">
${rows}</ol>
`;
}

const MOST_ROWS = 50;

/** The id of what the history shows of a state that began at a time. */
function recordId(at: string): string {
  return `at-${Date.parse(at)}`;
}

/** Returns the link to the history of a state; null if the history does not go back so far. `records` are newest first. */
export function recordLink(records: readonly JournalRecord[], at: string): string | null {
  const shown = records.slice(0, MOST_ROWS);
  const found = shown.find((record) => record.kind === 'state' && record.at <= at);
  return found === undefined ? null : `#${recordId(found.at)}`;
}

function noticesHtml(notices: readonly NoticeEvent[], at: string, now: number): Markup | null {
  const [first] = notices;
  if (first === undefined) return null;
  const receivers = namesListed(notices.map(({ receiver }) => receiver));
  return renderLabelRow(
    NOTICES[first.result],
    markup`<p>${first.event}, to ${receivers}</p>\n`,
    softHtml(renderRelativeTime(at, now)),
  );
}

function recordHtml(record: ShownRecord, commits: Commits, now: number): Markup | null {
  const at =
    record.kind === 'state'
      ? markup`<span id="${recordId(record.at)}">${renderRelativeTime(record.at, now)}</span>`
      : renderRelativeTime(record.at, now);
  switch (record.kind) {
    case 'state':
      return renderStateEvent(record, commits, at);
    case 'write':
      return writeHtml(record, commits, at);
    case 'suspended':
      return renderLabelRow(
        LABELS.suspended,
        markup`<p>${record.reason}</p>\n`,
        softHtml(
          at,
          record.until === null ? null : `until ${clockText(record.until)}`,
          byHtml(record),
        ),
      );
    case 'resumed':
      return renderLabelRow(RESUMED, softHtml(at, byHtml(record)));
    case 'healing-stopped':
      return renderLabelRow(
        HEALING_STOPPED,
        markup`<p><code class="name">${record.path}</code>: ${record.reason}</p>\n`,
        softHtml(at),
      );
    case 'writing':
      return renderLabelRow(
        WRITING,
        markup`<p><code class="name">${describeRecord(record).detail}</code></p>\n`,
        softHtml(at, commitHtml(record.commit, commits)),
      );
    case 'clock-set':
      return renderLabelRow(
        CLOCK_SET,
        markup`<p>${describeRecord(record).title}</p>\n`,
        softHtml(at),
      );
    case 'files':
    case 'started':
    case 'stopped':
      return null;
  }
}

function byHtml({ by }: { readonly by?: string | undefined }): string | null {
  return by === undefined ? null : `by ${by}`;
}

const WRITING: Label = { mark: '→', words: 'writing', color: 'dim' };
const CLOCK_SET: Label = { mark: '!', words: 'clock set', color: 'yellow' };
const RESUMED: Label = { mark: '▸', words: 'resumed', color: 'cyan' };
const HEALING_STOPPED: Label = { mark: '■', words: 'stopped', color: 'red' };
const NOTICES: Readonly<Record<'sent' | 'failed' | 'begun' | 'unknown', Label>> = {
  sent: { mark: '✉', words: 'notified', color: 'dim' },
  failed: { mark: '✗', words: 'not notified', color: 'red' },
  begun: { mark: '?', words: 'perhaps notified', color: 'dim' },
  unknown: { mark: '?', words: 'perhaps notified', color: 'dim' },
};

function renderStateEvent(
  record: Extract<ShownRecord, { kind: 'state' }>,
  commits: Commits,
  at: Markup,
): Markup {
  const { status, before, after, commit, plan } = record;
  const what = describeRecord(record).detail;
  return renderLabelRow(
    LABELS[status],
    markup`<p>was ${LABELS[before].words}${what === null ? null : [', now ', what]}</p>\n`,
    softHtml(
      at,
      after === null || status === 'in-sync' ? null : `made after the read at ${clockText(after)}`,
      commitHtml(commit, commits),
    ),
    plan === null ? null : renderFold('What was found', renderFoundPlan(plan, record.at)),
  );
}

function writeHtml(
  record: WriteEvent & { readonly at: string },
  commits: Commits,
  at: Markup,
): Markup {
  const { by, commit, actor, url, outcome } = record;
  const section = outcomeSection(outcome);
  return renderLabelRow(
    section.verdict,
    markup`<p>${by === 'apply' ? 'Written by setpoint apply' : actor === null ? 'Healed by the controller' : 'Written by the controller'}${actor === null ? null : [' for ', actor]}: ${section.headline}</p>\n`,
    softHtml(at, commitHtml(commit, commits), url === null ? null : renderWebLink(url)),
    outcome.changes.length === 0 && outcome.error === null
      ? null
      : renderFold('What was written', sectionBodyHtml(section)),
  );
}

function renderFold(title: string, content: Markup): Markup {
  return markup`<details class="fold">
<summary>${title}</summary>
${content}</details>
`;
}

/**
 * The findings of a read. `isTitled`: the title already has the number of differences. `writes`: a write may follow, so its warnings are
 * shown.
 */
export function renderFoundPlan(
  plan: EnvironmentPlan,
  at: string,
  { isTitled = false, writes = false } = {},
): Markup {
  const section = planSection(plan, 'drift', { created_at: at });
  const warnings = section.warnings.filter((one) => writes || !isAboutWrite(one));
  const sentence = isTitled ? null : { ...section.sentence, rest: '' };
  return markup`${sectionBodyHtml({ ...section, warnings, sentence })}${
    section.caveat === ''
      ? null
      : markup`<p class="soft">Some of these may be edits of the file: they have been there since the first read.</p>\n`
  }`;
}

/** The address at which a browser shows a commit, and the known facts of commits. */
export type Commits = Pick<Health, 'commits' | 'commitInfos'>;

/** The first characters of a commit, its subject and author; all characters on request. */
export function commitHtml(commit: string | null, known: Commits): Markup | null {
  if (commit === null) return null;
  const info = known.commitInfos.get(commit);
  if (info === undefined) return commitIdHtml(commit, known.commits);
  const by = info.author === '' ? null : markup` by <bdi>${info.author}</bdi>`;
  return markup`${commitIdHtml(commit, known.commits)} <bdi>${info.subject}</bdi><span class="soft">${by}</span>`;
}

function commitIdHtml(commit: string, commits: string | null): Markup {
  if (!/^[\da-f]{40,64}$/.test(commit))
    return markup`<span>commit <code title="${commit}">${commit}</code></span>`;
  const short = markup`<code title="${commit}">${commit.slice(0, 10)}</code>`;
  if (commits === null) return markup`<span>commit ${short}</span>`;
  return markup`<span>commit <a href="${commits}${commit}" rel="noreferrer noopener">${short}</a></span>`;
}

/** A link if the address is one of the web without a name and password, and reads as what it leads to. */
export function renderWebLink(text: string): MarkupPart {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '') return text;
  if (visible(url.href) !== url.href) return text;
  return markup`<a href="${url.href}" rel="noreferrer noopener">${text === url.origin ? text : url.href}</a>`;
}
