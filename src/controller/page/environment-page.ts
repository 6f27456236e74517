import { ALERT_OF_STATUS, ALERT_OF_TROUBLE } from '../../reconciler/model/alert-names.ts';
import { formatCount } from '../../reconciler/model/wording.ts';
import type { JournalRecord, WatchState } from '../../reconciler/model/watch.ts';
import { markup, type Markup, type MarkupPart } from '../../reconciler/render/html/page.ts';
import { chipHtml } from '../../reconciler/render/html/parts.ts';
import { ageText } from '../../reconciler/render/change.ts';
import { LABELS } from '../../reconciler/render/section.ts';
import { commandFor, formatUncomparedCount } from '../../reconciler/render/wording.ts';
import { isHealable, whyNotHealed } from '../watch/healing.ts';
import type { Watching } from '../watch/watching.ts';
import {
  controllerPart,
  partKey,
  partHtml,
  runbookLink,
  computeStateKey,
  type LiveView,
} from './page-parts.ts';
import {
  commitHtml,
  renderFoundPlan,
  type Commits,
  historyHtml,
  renderWebLink,
  recordLink,
} from './history-html.ts';
import { countStateChanges } from './listing.ts';
import { extraLabels, stripWithAxisHtml, countUnknownValues } from './state-label.ts';
import { betweenText, lastingHtml, renderRelativeTime } from './times.ts';

/** The live parts of an environment's page. `records` are its latest records. */
export function environmentView(
  watching: Watching,
  state: WatchState,
  records: readonly JournalRecord[],
  now: number,
): LiveView {
  const why = whyNotHealed(state, watching.conditions.list(), now);
  return {
    parts: [
      controllerPart(watching, now),
      {
        id: 'state',
        key: partKey(computeStateKey(state), why),
        html: () => renderState(state, why, now),
      },
      {
        id: 'facts',
        key: computeStateKey(state),
        html: () => factsHtml(state, watching.health, now),
      },
      {
        id: 'reads',
        key: partKey(state.lastRead, records.length, records[0]),
        html: () => readsHtml(state, records),
      },
      {
        id: 'found',
        key: partKey(state.digest, state.found, state.plan),
        html: () => renderLastRead(state, now),
      },
      {
        id: 'history',
        key: partKey(records.length, records[0]),
        html: () => historySectionHtml(records, watching.health, now),
      },
    ],
    order: null,
  };
}

/** `actions` are the forms, or null if the reader may not act. */
export function environmentHtml(
  view: LiveView,
  { said, actions }: { readonly said: string | null; readonly actions: Markup | null },
): Markup {
  return markup`<p class="back"><a href="/">← All environments</a></p>
${said === null ? null : markup`<p class="box note said" role="status">${said}</p>\n`}${partHtml(view, 'controller')}${partHtml(view, 'state')}${partHtml(view, 'found')}${actions}${partHtml(view, 'facts')}${partHtml(view, 'reads')}${partHtml(view, 'history')}`;
}

function renderState(state: WatchState, why: string | null, now: number): Markup {
  const { name, since, suspended, stopped, healFailed, heldBy } = state;
  const label = LABELS[state.status];
  const boxes = [
    suspended === null
      ? null
      : renderAlertBox('plain', [
          markup`<b>Suspended</b>${suspended.by === undefined ? null : [' by ', suspended.by]} since ${renderRelativeTime(suspended.at, now)}${suspended.until === null ? ', until it is resumed' : [', until ', renderRelativeTime(suspended.until, now)]}: ${suspended.reason}`,
          'Healing and notices are off.',
        ]),
    stopped === null
      ? null
      : renderAlertBox('bad', [
          markup`<b>Healing has stopped</b> since ${renderRelativeTime(stopped.at, now)} at <code>${stopped.path}</code>: ${stopped.reason}`,
          'Settle who writes this value; then resume the environment.',
        ]),
    healFailed === null
      ? null
      : renderAlertBox('bad', [
          markup`<b>${healFailed.isRefused ? 'The service refuses what healing writes' : 'Healing fails'}</b>, ${formatCount(healFailed.count, 'time')} in a row since ${renderRelativeTime(healFailed.at, now)}: ${healFailed.message}`,
        ]),
    heldBy === null
      ? null
      : renderAlertBox('plain', [
          markup`<b>Held elsewhere</b>: ${heldBy} has the lock. This controller reads, and does not write.`,
        ]),
  ];
  return markup`<section id="state" aria-labelledby="name" data-name="${name}" data-status="${label.words}">
<h1 id="name">${name} ${[label, ...extraLabels(state, now)].map((one) => [chipHtml(one), ' '])}</h1>
<p class="sentence">${sentenceHtml(state, now)}${why === null || boxes.some((box) => box !== null) ? null : markup` Not healed: ${why}.`} ${runbookLink(findAlertName(state))}</p>
${boxes}</section>
`;

  function sentenceHtml({ status, found }: WatchState, at: number): MarkupPart {
    if (found === 'not-read' || status === 'not-read')
      return 'This controller has not read it yet.';
    const { words } = LABELS[found];
    const count = countStateChanges(state);
    const unknown = countUnknownValues(state);
    const which = count > 1 ? 'the first made' : 'made';
    const made = state.after === null ? '' : `, ${which} ${betweenText(state.after, since)}`;
    return [
      `${words.charAt(0).toUpperCase()}${words.slice(1)} `,
      lastingHtml(since, at),
      count === 0 ? '.' : `: ${formatCount(count, 'change')}${made}.`,
      unknown === 0 || found === 'error' ? '' : ` ${formatUncomparedCount(unknown)}.`,
    ];
  }
}

/** The alert about what is wrong with an environment; undefined if nothing is. */
function findAlertName({ found, stopped, healFailed }: WatchState): string | undefined {
  if (stopped !== null) return ALERT_OF_TROUBLE['healing-stopped'];
  if (healFailed !== null && found !== 'error') return ALERT_OF_TROUBLE['heal-failed'];
  return ALERT_OF_STATUS[found];
}

/** The commands that end a difference, for who may not act here or works in a terminal. */
function mendHtml({ name, found, plan }: WatchState): Markup | null {
  const differs = isHealable(found) && plan !== null && plan.changes.length > 0;
  if (!differs) return null;
  const command = (verb: 'apply' | 'pull'): Markup => {
    const text = commandFor(verb, [name]);
    return markup`<code>${text}</code><button class="copy" type="button" data-copy="${text}">Copy</button>`;
  };
  return markup`<p class="mend">${command('apply')} writes the file to the service; ${command('pull')} writes the values of the service into the file.</p>
`;
}

function factsHtml(state: WatchState, commits: Commits, now: number): Markup {
  const { settings, failures } = state;
  const tags = Object.entries(state.labels).map(([key, value]) => [
    markup`<code class="tag">${key}=${value}</code>`,
    ' ',
  ]);
  const facts: readonly (readonly [string, MarkupPart])[] = [
    ['Last read', state.lastRead === null ? 'never' : renderRelativeTime(state.lastRead, now)],
    ['Next read', state.nextRead === null ? '–' : renderRelativeTime(state.nextRead, now)],
    [
      'Last in sync',
      state.lastInSync === null ? 'never seen' : renderRelativeTime(state.lastInSync, now),
    ],
    [
      'Last apply',
      state.lastApply === null ? 'none known' : renderRelativeTime(state.lastApply, now),
    ],
    ...(failures === 0 ? [] : [['Failed', `${formatCount(failures, 'read')} in a row`] as const]),
    ['Mode', modeText(settings)],
    ...(settings.interval === null ? [] : [['Interval', ageText(settings.interval, ' ')] as const]),
    ['Compared with', commitHtml(state.commit, commits) ?? 'files without a commit'],
    ['Service', state.origin === null ? 'unknown' : renderWebLink(state.origin)],
    ...(state.dialect === null
      ? []
      : [
          [
            'API',
            `${state.dialect}${state.release === null ? '' : `, release ${state.release}`}`,
          ] as const,
        ]),
    ...(tags.length === 0 ? [] : [['Labels', tags] as const]),
  ];
  return markup`<section id="facts" aria-labelledby="facts-title">
<h2 id="facts-title">Facts</h2>
<dl class="facts">
${facts.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>
</section>
`;
}

function renderAlertBox(tone: string, sentences: readonly MarkupPart[]): Markup {
  return markup`<div class="box ${tone}">
${sentences.map((sentence) => markup`<p>${sentence}</p>\n`)}</div>
`;
}

function modeText({ mode, windows, maxHealsPerHour }: WatchState['settings']): string {
  if (mode === 'detect') return 'detect: differences are reported, and nothing is written';
  const when =
    windows === null ? 'at any time' : `in ${windows.map(({ text }) => text).join(', ')}`;
  return `heal ${when}, at most ${formatCount(maxHealsPerHour, 'time')} an hour`;
}

function readsHtml({ reads }: WatchState, records: readonly JournalRecord[]): Markup {
  return markup`<section id="reads" aria-labelledby="reads-title">
<h2 id="reads-title">Last reads</h2>
${stripWithAxisHtml(reads, (at) => recordLink(records, at))}
<p class="soft">The latest is at the right; times are UTC. The higher a bar, the worse; a low green one is in sync. A bar leads to its record in the history.</p>
</section>
`;
}

function renderLastRead(state: WatchState, now: number): Markup {
  const { plan, found, lastRead, settings } = state;
  const body =
    plan === null
      ? markup`<p>${found === 'not-read' ? 'Nothing yet.' : 'The service has what the file declares.'}</p>\n`
      : renderFoundPlan(plan, lastRead ?? new Date(now).toISOString(), {
          isTitled: countStateChanges(state) > 0,
          writes: settings.mode === 'heal',
        });
  return markup`<section id="found" aria-labelledby="found-title">
<h2 id="found-title">Result of the last read</h2>
${body}${mendHtml(state)}</section>
`;
}

function historySectionHtml(
  records: readonly JournalRecord[],
  commits: Commits,
  now: number,
): Markup {
  return markup`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${historyHtml(records, commits, now)}</section>
`;
}
