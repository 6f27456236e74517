import fc from 'fast-check';
import { expect } from 'vitest';
import type { JournalRecord, WatchState } from '../../../src/reconciler/model/watch.ts';
import { planPageHtml } from '../../../src/controller/page/actions.ts';
import { badgeSvg } from '../../../src/controller/page/state-label.ts';
import { environmentHtml, environmentView } from '../../../src/controller/page/environment-page.ts';
import { renderPageFrame } from '../../../src/controller/page/frame.ts';
import { renderListView, listView, sortStates } from '../../../src/controller/page/list-page.ts';
import { sources } from '../../../src/controller/page/page-parts.ts';
import type { Markup } from '../../../src/reconciler/render/html/page.ts';
import { hostile, twins } from '../../fixture/hostile.ts';
import {
  attribute,
  documentOf,
  elementsOf,
  named,
  ofClass,
  textOf,
  type Element,
} from '../../fixture/html-tree.ts';
import { itHolds } from '../../fixture/property-runs.ts';
import { everyState, someHistory } from '../../fixture/watched-fleet.ts';
import { MadeUpWatching, WATCHED_AT } from '../../fixture/watching.ts';

interface Known {
  readonly states: readonly WatchState[];
  readonly records: readonly JournalRecord[];
}

function known(): Known {
  const watching = new MadeUpWatching(...everyState());
  someHistory(watching);
  return { states: everyState(), records: watching.records };
}

/** Words of closed lists are what they were; every other string stays as it was filled. */
function withOurWords(filled: Known, original: Known): Known {
  const states = filled.states.map((state, index) => {
    const own = original.states[index];
    if (own === undefined) throw new Error('A state was lost.');
    const { mode, windows } = own.settings;
    const settings = {
      ...state.settings,
      mode,
      windows: windows === null ? null : state.settings.windows,
    };
    return { ...state, found: own.found, settings };
  });
  const records = filled.records.map((record, index) => {
    const own = original.records[index];
    if (record.kind === 'state' && own?.kind === 'state') return { ...record, before: own.before };
    if (record.kind === 'write' && own?.kind === 'write') return { ...record, by: own.by };
    return record;
  });
  return { states, records };
}

/** Every page about an environment, and all of its live parts. */
function pagesOf({ states, records }: Known): string[] {
  const watching = new MadeUpWatching(...states);
  const query = { text: '', state: 'any', page: 1 } as const;
  const session = { id: 'i', formToken: 't', endsAt: 0, who: '', said: null };
  const page = (main: Markup, title: string): string =>
    renderPageFrame({
      title,
      main,
      live: null,
      now: WATCHED_AT,
      session,
      canLogIn: true,
      here: '/',
    });
  const list = listView(watching, sortStates(watching), query, WATCHED_AT);
  const views = states.map((state) => environmentView(watching, state, records, WATCHED_AT));
  return [
    page(renderListView(list, query), 'Environments'),
    ...views.map((view, index) =>
      page(
        environmentHtml(view, { said: states[index]?.name ?? '', actions: null }),
        states[index]?.name ?? '',
      ),
    ),
    ...states.flatMap(({ name, plan }) =>
      plan === null
        ? []
        : [
            page(
              planPageHtml(name, plan, { at: '', confirm: { session, digest: 'd' }, said: name }),
              name,
            ),
          ],
    ),
    ...Object.values(sources(views.flatMap(({ parts }) => parts))).map(
      (part) => `<!doctype html><title>part</title>${part}`,
    ),
  ];
}

const isLong = ofClass('long');

function isSummaryOfLong({ tagName, parentNode }: Element): boolean {
  return (
    tagName === 'summary' && parentNode !== null && 'attrs' in parentNode && isLong(parentNode)
  );
}

/** An address up to its path: a query may hold anything. */
function whereTo(href: string): string {
  return /^[^?#]+/.exec(href)?.[0] ?? href;
}

itHolds(
  'pages of hostile strings have the elements of harmless ones, and link nowhere but here and to the web',
  10,
  (numRuns) => {
    const original = known();
    fc.assert(
      fc.property(fc.infiniteStream(hostile), (strings) => {
        const [filled, twin] = twins(original, () => String(strings.next().value));
        const pages = pagesOf(withOurWords(filled, original));
        const harmless = pagesOf(withOurWords(twin, original));
        // Two names that are alike are one environment.
        const names = new Set(filled.states.map(({ name }) => name));
        if (names.size === filled.states.length) expect(pages.length).toBe(harmless.length);
        for (const [index, text] of pages.entries()) {
          const tree = documentOf(text);
          // A value that is long is in a fold, and a text that is an address or a time is a link or a time.
          const tags = (page: string): string[] =>
            elementsOf(documentOf(page))
              .filter((one) => !isLong(one) && !isSummaryOfLong(one))
              .map(({ tagName }) => tagName)
              .filter((tag) => tag !== 'a' && tag !== 'time')
              .toSorted();
          if (names.size === filled.states.length)
            expect(new Set(tags(text))).toEqual(new Set(tags(harmless[index] ?? '')));
          for (const link of elementsOf(tree, named('a')))
            expect(whereTo(attribute(link, 'href') ?? '')).toMatch(
              /^(\/(?!\/)|#|https?:\/\/[^@]+$)/,
            );
          for (const element of elementsOf(tree))
            for (const { name } of element.attrs) expect(name).not.toMatch(/^on|^style$|^srcdoc$/);
          expect(elementsOf(tree, named('script')).every((one) => textOf(one) === '')).toBe(true);
        }
      }),
      { numRuns },
    );
  },
);

itHolds('a badge of a hostile name is one picture', 300, (numRuns) => {
  const [state] = everyState();
  fc.assert(
    fc.property(hostile, (name) => {
      if (state === undefined) throw new Error('There is no state.');
      const svg = badgeSvg({ ...state, name });
      const tags = elementsOf(documentOf(`<!doctype html><title>x</title>${svg}`)).map(
        ({ tagName }) => tagName,
      );
      expect(tags.slice(tags.indexOf('svg'))).toEqual([
        'svg',
        'title',
        'path',
        'path',
        'g',
        'text',
        'text',
      ]);
    }),
    { numRuns },
  );
});
