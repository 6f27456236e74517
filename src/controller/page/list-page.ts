import { formatCount, groupThousands } from '../../reconciler/model/wording.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { countStatuses, WATCH_STATUSES } from '../../reconciler/model/verdict.ts';
import { markup, type Markup } from '../../reconciler/render/html/page.ts';
import { describeHosts, type CauseGroup } from '../../reconciler/render/cause-groups.ts';
import { chipHtml, softHtml } from '../../reconciler/render/html/parts.ts';
import { LABELS } from '../../reconciler/render/section.ts';
import type { Session } from './access.ts';
import { formTokenHtml } from './frame.ts';
import { commitHtml } from './history-html.ts';
import { suspensionInShort, whatDiffers, whyNotHealed } from '../watch/healing.ts';
import type { Watching } from '../watch/watching.ts';
import {
  controllerPart,
  elementId,
  environmentAddress,
  partKey,
  partHtml,
  computeStateKey,
  type LiveView,
  type PagePart,
} from './page-parts.ts';
import {
  causeId,
  isAttentionDue,
  listAddress,
  pageOfList,
  worstFirst,
  type ListPage,
  type ListQuery,
} from './listing.ts';
import { isFlapping } from '../watch/flapping.ts';
import { extraLabels, FLAPPING, stripHtml } from './state-label.ts';
import { ageHtml, dueHtml, lastingHtml } from './times.ts';

/** All environments in the order of the list, sorted once for all readers. */
export interface SortedStates {
  readonly states: readonly WatchState[];
  readonly counts: ReturnType<typeof countStatuses>;
}

export function sortStates(watching: Watching): SortedStates {
  const states = watching.states();
  return { states: worstFirst(states), counts: countStatuses(states) };
}

/** The live parts of the list that a query asks for. `canAct`: its rows have the actions of a reader who may act. */
export function listView(
  watching: Watching,
  sorted: SortedStates,
  query: ListQuery,
  now: number,
  canAct = false,
): LiveView {
  const listing = pageOfList(sorted.states, query, now);
  const problems = watching.conditions.list();
  const rows = listing.rows.map((row) => {
    if (!('members' in row)) {
      const why = whyNotHealed(row, problems, now);
      const key = partKey(computeStateKey(row), why, canAct);
      return { id: elementId(row.name), key, html: () => environmentRow(row, why, now, canAct) };
    }
    const { members, cause } = row;
    const shown = members.slice(0, MOST_MEMBERS).map(({ name, since }) => [name, since]);
    const key = partKey(
      cause,
      describeHosts(members),
      members.length,
      shown,
      computeStateKey(members[0]),
      canAct,
    );
    return { id: groupId(row), key, html: () => groupRow(row, now, canAct) };
  });
  return {
    parts: [
      controllerPart(watching, now),
      commitPart(watching, now),
      countsPart(sorted, listing, query, now),
      emptyPart(sorted, listing),
      pagerPart(listing, query),
      ...rows,
    ],
    order: rows.map(({ id }) => id),
  };
}

/** Renders the list. `session` is that of a reader who may act, else null; `result` is the text of the last action. */
export function renderListView(
  view: LiveView,
  query: ListQuery,
  session: Session | null = null,
  result: string | null = null,
): Markup {
  const ids = new Set(view.order);
  const rows = view.parts.filter(({ id }) => ids.has(id));
  const several = listAddress({ ...query, page: 1 }).slice(1);
  return markup`<h1 class="unseen">Environments</h1>
${result === null ? null : markup`<p class="box note said" role="status">${result}</p>\n`}${partHtml(view, 'controller')}${partHtml(view, 'commit')}<div class="choose">
${partHtml(view, 'counts')}${searchHtml(query)}</div>
${partHtml(view, 'empty')}<div class="sheet">
<table>
<caption class="unseen">Environments, the worst first</caption>
<thead>
<tr><th scope="col">Environment</th><th scope="col">State</th><th scope="col">What</th><th scope="col">Last reads</th><th scope="col">Last read</th><th scope="col">Next read</th>${session === null ? null : markup`<th scope="col"><span class="unseen">Action</span></th>`}</tr>
</thead>
<tbody id="rows">
${rows.map(({ html }) => html())}</tbody>
</table>
</div>
${partHtml(view, 'pager')}${
    session === null
      ? null
      : markup`<form id="${ROW_FORM}" method="post" action="/read">${formTokenHtml(session)}<input type="hidden" name="back" value="${listAddress(query)}"></form>
<p class="several"><a href="/suspend${several}">Suspend or resume all that are listed</a></p>
`
  }`;
}

/** The commit that environments are compared with, who made it and what for. */
function commitPart({ health }: Watching, now: number): PagePart {
  const { commit, commits, commitInfos } = health;
  const info = commit === null ? undefined : commitInfos.get(commit);
  return {
    id: 'commit',
    key: partKey(commit, commits, info),
    html: () =>
      commit === null
        ? markup`<p id="commit" hidden></p>\n`
        : markup`<p id="commit">${commitHtml(commit, health)}${info === undefined ? null : markup` <span class="soft">${ageHtml(info.committedAt, now)}</span>`}</p>\n`,
  };
}

function countsPart(
  { states, counts }: SortedStates,
  { hidden }: ListPage,
  query: ListQuery,
  now: number,
): PagePart {
  const attention = states.filter((one) => isAttentionDue(one, isFlapping(one, now))).length;
  const flapping = states.filter((one) => isFlapping(one, now)).length;
  return {
    id: 'counts',
    key: partKey(counts, attention, flapping, query, hidden > 0),
    html: () => {
      const link = (state: ListQuery['state'], inside: Markup): Markup => {
        const isUsual = query.state === 'usual' && state === (hidden > 0 ? 'attention' : 'any');
        const current = query.state === state || isUsual ? markup` aria-current="true"` : null;
        const address = listAddress({ ...query, state, cause: '', page: 1 });
        return markup`<li><a href="${address}"${current}>${inside}</a></li>\n`;
      };
      return markup`<nav id="counts" aria-label="By state">
<ul>
${link('any', markup`<b>${groupThousands(states.length)}</b> all`)}${
        attention === 0
          ? null
          : link('attention', markup`<b>${groupThousands(attention)}</b> need attention`)
      }${counts.map(([status, count]) => {
        const label = LABELS[status];
        return link(status, markup`<b>${groupThousands(count)}</b> ${chipHtml(label)}`);
      })}${
        flapping === 0
          ? null
          : link('flapping', markup`<b>${groupThousands(flapping)}</b> ${chipHtml(FLAPPING)}`)
      }</ul>
</nav>
`;
    },
  };
}

function searchHtml({ text, state, cause = '' }: ListQuery): Markup {
  const option = (value: string, words: string): Markup =>
    markup`<option value="${value}"${value === state ? markup` selected` : null}>${words}</option>`;
  return markup`<search>
<form class="search" method="get" action="/">
<p><label for="q">Search</label>
<input id="q" name="q" type="search" value="${text}" placeholder="name, origin, ring=0" maxlength="200" autocomplete="off" spellcheck="false"></p>
<p><label for="state">State</label>
<select id="state" name="state">
${option('usual', 'needs attention first')}${option('any', 'any')}${option('attention', 'need attention')}${WATCH_STATUSES.toReversed().map(
    (status) => option(status, LABELS[status].words),
  )}${option('flapping', 'flapping')}${option('healing-stopped', 'healing stopped')}${option('held-elsewhere', 'held elsewhere')}
</select></p>
<p>${cause === '' ? null : markup`<input type="hidden" name="cause" value="${cause}">`}<button>Show</button></p>
</form>
</search>
`;
}

/** Renders the reason why the list is empty; nothing if it is not. */
function emptyPart({ states }: SortedStates, { total, hidden }: ListPage): PagePart {
  return {
    id: 'empty',
    key: partKey(total === 0, states.length === 0, hidden),
    html: () => {
      if (total > 0) return markup`<div id="empty" hidden></div>\n`;
      if (states.length === 0)
        return markup`<div id="empty" class="empty"><p><b>No environments yet.</b></p>
<p class="soft">They are listed once the settings file has been read. If the file is there, check the log of setpoint watch.</p></div>
`;
      if (hidden > 0)
        return markup`<div id="empty" class="empty"><p><b>Nothing needs attention.</b></p></div>\n`;
      return markup`<div id="empty" class="empty"><p><b>No environment matches.</b></p>
<p><a href="${listAddress({ state: 'any' })}">Show all ${groupThousands(states.length)}</a></p></div>
`;
    },
  };
}

function pagerPart({ total, page, pages, hidden }: ListPage, query: ListQuery): PagePart {
  return {
    id: 'pager',
    key: partKey(total, page, pages, hidden),
    html: () => {
      const rest =
        hidden === 0
          ? null
          : markup`<p>${formatCount(hidden, 'other environment')} ${hidden === 1 ? 'needs' : 'need'} nothing. <a href="${listAddress({ ...query, state: 'any', page: 1 })}">Show all</a></p>\n`;
      if (pages === 1 && rest !== null)
        return markup`<nav id="pager" aria-label="Pages">\n${rest}</nav>\n`;
      if (pages === 1) return markup`<nav id="pager" aria-label="Pages" hidden></nav>\n`;
      const link = (to: number, words: string, rel: string): Markup | null =>
        to < 1 || to > pages
          ? null
          : markup`<a href="${listAddress({ ...query, page: to })}" rel="${rel}">${words}</a> `;
      return markup`<nav id="pager" aria-label="Pages">
${rest}<p>${link(page - 1, '← Previous', 'prev')}<span>Page ${groupThousands(page)} of ${groupThousands(pages)}, ${formatCount(total, 'environment')}</span> ${link(page + 1, 'Next →', 'next')}</p>
</nav>
`;
    },
  };
}

/** Renders a row. The roles are repeated, because browsers drop them if a style shows a row as a card. */
function environmentRow(
  state: WatchState,
  why: string | null,
  now: number,
  canAct: boolean,
): Markup {
  const { name, origin, labels, status, lastRead, nextRead, since, reads, suspended } = state;
  const label = LABELS[status];
  const reason = why ?? (suspended === null ? null : suspensionInShort(suspended));
  const tags = Object.entries(labels).map(([key, value]) => [
    markup`<a class="tag" href="${listAddress({ text: `${key}=${value}` })}">${key}=${value}</a>`,
    ' ',
  ]);
  return markup`<tr id="${elementId(name)}" role="row" data-name="${name}" data-status="${label.words}">
<th scope="row" role="rowheader"><a href="${environmentAddress(name)}">${name}</a>${origin === null && tags.length === 0 ? null : softHtml([tags, origin])}</th>
<td role="cell" data-head="State">${chipHtml(label)}${
    status === 'not-read'
      ? null
      : markup` <span class="soft since">${lastingHtml(suspended?.at ?? since, now)}</span>`
  }${extraLabels(state, now).map((one) => [' ', chipHtml(one)])}</td>
${differencesCell([whatDiffers(state), reason ?? ''])}<td role="cell" data-head="Last reads"><a href="${environmentAddress(name)}#reads" tabindex="-1">${stripHtml(reads)}</a></td>
<td role="cell" data-head="Last read">${ageHtml(lastRead, now)}</td>
<td role="cell" data-head="Next read">${dueHtml(nextRead, now)}</td>
${canAct ? readCell(`${environmentAddress(name)}/read`, name) : null}</tr>
`;
}

/** The form that the buttons of rows send: it has the token of the session, which rows, shared by all readers, have not. */
const ROW_FORM = 'of-rows';

function readCell(address: string, what: string): Markup {
  return markup`<td role="cell" data-head="Action"><button form="${ROW_FORM}" formaction="${address}" aria-label="Read ${what} now">Read now</button></td>
`;
}

/** Renders the differences and why they are not healed, a line each. The title and the page of the environment have all of it. */
function differencesCell([what, reason]: readonly [string, string]): Markup {
  const lines = [what === '' ? null : what, reason === '' ? null : reason].filter(
    (line) => line !== null,
  );
  if (lines.length === 0) return markup`<td role="cell" data-head="What"></td>\n`;
  return markup`<td role="cell" data-head="What" title="${lines.join(' · ')}">${lines.map((line) => markup`<p${line === reason ? markup` class="why"` : null}>${line}</p>`)}</td>
`;
}

/** Members that a group shows when it is opened; the list of its cause has all. */
const MOST_MEMBERS = 20;

function groupId({ key }: CauseGroup<WatchState>): string {
  return elementId(`failed ${key}`);
}

/** Renders environments that failed for one cause as one row, which opens to show each of them. */
function groupRow(group: CauseGroup<WatchState>, now: number, canAct: boolean): Markup {
  const { key, cause, members } = group;
  const [first] = members;
  const label = LABELS[first.status];
  const query = { state: first.status, cause: causeId(key) } as const;
  const name = formatCount(members.length, 'environment');
  const shown = members.slice(0, MOST_MEMBERS);
  const all =
    shown.length === members.length ? 'List them' : `List all ${groupThousands(members.length)}`;
  return markup`<tr id="${groupId(group)}" role="row" class="group" data-name="${name}" data-status="${label.words}">
<th scope="row" role="rowheader"><details><summary>${name}</summary>
<ul>
${shown.map((one) => markup`<li><a href="${environmentAddress(one.name)}">${one.name}</a> <span class="soft">${lastingHtml(one.since, now)}</span></li>\n`)}</ul>
<p><a href="${listAddress(query)}">${all}</a></p></details></th>
<td role="cell" data-head="State">${chipHtml(label)} <span class="soft since">${lastingHtml(first.since, now)}</span></td>
${differencesCell([cause, describeHosts(members)])}<td role="cell" data-head="Last reads">${stripHtml(first.reads)}</td>
<td role="cell" data-head="Last read">${ageHtml(first.lastRead, now)}</td>
<td role="cell" data-head="Next read">${dueHtml(first.nextRead, now)}</td>
${canAct ? readCell(`/read${listAddress(query).slice(1)}`, `these ${name}`) : null}</tr>
`;
}
