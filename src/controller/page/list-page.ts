import { counted, grouped } from '../../reconciler/model/wording.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { WATCH_STATUSES } from '../../reconciler/model/verdict.ts';
import { markup, type Markup } from '../../reconciler/render/html/markup.ts';
import { chipHtml, softHtml } from '../../reconciler/render/html/parts.ts';
import { LABELS } from '../../reconciler/render/section.ts';
import type { Watching } from '../watch/watching.ts';
import {
  controllerPart,
  elementId,
  environmentAddress,
  partKey,
  partHtml,
  stateKey,
  type LiveView,
  type PagePart,
} from './parts.ts';
import {
  changesIn,
  countsByStatus,
  isToLookAt,
  listAddress,
  pageOfList,
  worstFirst,
  type ListPage,
  type ListQuery,
} from './listing.ts';
import { extraLabels, stateLabel, stripHtml } from './state-label.ts';
import { ageHtml, dueHtml, lastingHtml } from './times.ts';

/** All environments in the order of the list. Thousands are sorted once a moment for all readers. */
export interface Sorted {
  readonly states: readonly WatchState[];
  readonly counts: ReturnType<typeof countsByStatus>;
}

export function sortedStates(watching: Watching): Sorted {
  const states = watching.states();
  return { states: worstFirst(states), counts: countsByStatus(states) };
}

/** The live parts of the list that a query asks for. */
export function listView(
  watching: Watching,
  sorted: Sorted,
  query: ListQuery,
  now: number,
): LiveView {
  const listing = pageOfList(sorted.states, query);
  const rows = listing.states.map((state) => ({
    id: elementId(state.name),
    key: stateKey(state),
    html: () => environmentRow(state, now),
  }));
  return {
    parts: [
      controllerPart(watching, now),
      countsPart(sorted, query),
      emptyPart(sorted, listing, query),
      pagerPart(listing, query),
      ...rows,
    ],
    order: rows.map(({ id }) => id),
  };
}

export function listHtml(view: LiveView, query: ListQuery): Markup {
  const rows = view.parts.filter(({ id }) => view.order?.includes(id));
  return markup`<h1>Environments</h1>
${partHtml(view, 'controller')}${partHtml(view, 'counts')}${searchHtml(query)}${partHtml(view, 'empty')}<div class="sheet">
<table>
<caption class="unseen">Environments, the worst first</caption>
<thead>
<tr><th scope="col">Environment</th><th scope="col">State</th><th scope="col">Last reads</th><th scope="col">Changes</th><th scope="col">Last read</th><th scope="col">Next read</th><th scope="col">Mode</th></tr>
</thead>
<tbody id="rows">
${rows.map(({ html }) => html())}</tbody>
</table>
</div>
${partHtml(view, 'pager')}`;
}

function countsPart({ states, counts }: Sorted, query: ListQuery): PagePart {
  const attention = states.filter(isToLookAt).length;
  return {
    id: 'counts',
    key: partKey(counts, attention, query),
    html: () => {
      const link = (state: ListQuery['state'], inside: Markup): Markup => {
        const current = query.state === state ? markup` aria-current="true"` : null;
        const address = listAddress({ ...query, state, page: 1 });
        return markup`<li><a href="${address}"${current}>${inside}</a></li>\n`;
      };
      return markup`<nav id="counts" aria-label="By state">
<ul>
${link('any', markup`<b>${grouped(states.length)}</b> all`)}${
        attention === 0 ? null : link('attention', markup`<b>${grouped(attention)}</b> to look at`)
      }${counts.map(([status, count]) => {
        const label = LABELS[status];
        return link(status, markup`<b>${grouped(count)}</b> ${chipHtml(label)}`);
      })}</ul>
</nav>
`;
    },
  };
}

function searchHtml({ text, state }: ListQuery): Markup {
  const option = (value: string, words: string): Markup =>
    markup`<option value="${value}"${value === state ? markup` selected` : null}>${words}</option>`;
  return markup`<search>
<form class="search" method="get" action="/">
<p><label for="q">Name, origin or label, such as ring=0</label>
<input id="q" name="q" type="search" value="${text}" maxlength="200" autocomplete="off" spellcheck="false"></p>
<p><label for="state">State</label>
<select id="state" name="state">
${option('any', 'any')}${option('attention', 'to look at')}${WATCH_STATUSES.toReversed().map(
    (status) => option(status, LABELS[status].words),
  )}${option('healing-stopped', 'healing stopped')}${option('held-elsewhere', 'held elsewhere')}
</select></p>
<p><button>Show</button></p>
</form>
</search>
`;
}

/** Why the list is empty; nothing if it is not. */
function emptyPart({ states }: Sorted, { total }: ListPage, query: ListQuery): PagePart {
  return {
    id: 'empty',
    key: partKey(total === 0, states.length === 0),
    html: () => {
      if (total > 0) return markup`<div id="empty" hidden></div>\n`;
      if (states.length === 0)
        return markup`<div id="empty" class="empty"><p><b>No environments yet.</b></p>
<p class="soft">They are listed once the settings file has been read. If the file is there, check the log of setpoint watch.</p></div>
`;
      return markup`<div id="empty" class="empty"><p><b>No environment matches.</b></p>
<p><a href="${listAddress({ ...query, text: '', state: 'any', page: 1 })}">Show all ${grouped(states.length)}</a></p></div>
`;
    },
  };
}

function pagerPart({ total, page, pages, states }: ListPage, query: ListQuery): PagePart {
  return {
    id: 'pager',
    key: partKey(total, page, pages, states.length),
    html: () => {
      if (pages === 1) return markup`<nav id="pager" aria-label="Pages" hidden></nav>\n`;
      const link = (to: number, words: string, rel: string): Markup | null =>
        to < 1 || to > pages
          ? null
          : markup`<a href="${listAddress({ ...query, page: to })}" rel="${rel}">${words}</a> `;
      return markup`<nav id="pager" aria-label="Pages">
<p>${link(page - 1, '← Previous', 'prev')}<span>Page ${grouped(page)} of ${grouped(pages)}, ${counted(total, 'environment')}</span> ${link(page + 1, 'Next →', 'next')}</p>
</nav>
`;
    },
  };
}

/** The roles are repeated because browsers drop them if a style lays a row out as a card. */
function environmentRow(state: WatchState, now: number): Markup {
  const { name, origin, labels, status, settings, lastRead, nextRead, since, reads } = state;
  const label = stateLabel(state);
  const changes = changesIn(state);
  const tags = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const about = [origin, ...tags].filter((text) => text !== null).join(' · ');
  return markup`<tr id="${elementId(name)}" role="row" data-name="${name}" data-status="${label.words}">
<th scope="row" role="rowheader"><a href="${environmentAddress(name)}">${name}</a>${about === '' ? null : softHtml(about)}</th>
<td role="cell" data-head="State">${chipHtml(label)}${
    status === 'not-read'
      ? null
      : markup` <span class="soft since">${lastingHtml(state.suspended?.at ?? since, now)}</span>`
  }${extraLabels(state).map((one) => [' ', chipHtml(one)])}</td>
<td role="cell" data-head="Last reads">${stripHtml(reads)}</td>
<td role="cell" data-head="Changes" class="number">${changes === 0 ? '–' : grouped(changes)}</td>
<td role="cell" data-head="Last read">${ageHtml(lastRead, now)}</td>
<td role="cell" data-head="Next read">${dueHtml(nextRead, now)}</td>
<td role="cell" data-head="Mode">${settings.mode}</td>
</tr>
`;
}
