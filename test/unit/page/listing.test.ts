import { describe, expect, it } from 'vitest';
import { WATCH_STATUSES } from '../../../src/reconciler/model/verdict.ts';
import {
  causeId,
  isAttentionDue,
  listAddress,
  pageOfList,
  listQuery,
  matching,
  worstFirst,
} from '../../../src/controller/page/listing.ts';
import { countStatuses } from '../../../src/reconciler/model/verdict.ts';
import { stripHtml, stripWithAxisHtml } from '../../../src/controller/page/state-label.ts';
import { Throttle } from '../../../src/controller/page/access.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { environment } from '../../fixture/documents.ts';
import { PLAIN } from '../../../src/reconciler/render/text.ts';
import { statusText } from '../../../src/reconciler/render/status-text.ts';
import { createWatchedDocument, createWatchedReport } from '../../../src/controller/page/api.ts';
import { ago, WATCHED_AT, watchState } from '../../fixture/watching.ts';
import { everyState, fleet, longWatched, reads } from '../../fixture/watched-fleet.ts';

const query = (text: string) => listQuery(new URLSearchParams(text));
const names = (text: string) =>
  matching(worstFirst(everyState()), query(text), WATCHED_AT).map(({ name }) => name);

describe('the list', () => {
  it('has the worst first, then where healing has stopped, then those that have lasted longest', () => {
    expect(names('')).toEqual([
      'eu-production',
      'us-production',
      'staging',
      'demo',
      'canary',
      'integration',
      'partners',
      'new-team',
      'load-test',
      'research',
      'sandbox',
    ]);
  });

  it.each([
    ['q=prod', ['eu-production', 'us-production']],
    ['q=PROD+region%3Deu', ['eu-production']],
    ['q=ring%3D0', ['canary']],
    ['q=agents.example.com+sandbox', ['sandbox']],
    ['q=nothing', []],
    ['state=drift', ['demo', 'canary']],
    ['state=healing-stopped', ['demo']],
    ['state=held-elsewhere', ['integration']],
    ['state=drift&q=ring%3D0', ['canary']],
    ['state=in-sync', ['research', 'sandbox']],
    ['state=suspended', ['load-test']],
  ])('?%s', (text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  it('has those that other clients keep changing as a state of their own, also in sync and while others are quiet', () => {
    const flips = [ago(6), ago(4), ago(2)];
    const all = [
      watchState({ name: 'calm', flips: [ago(30), ago(20), ago(15)] }),
      watchState({ name: 'flapping', flips }),
      watchState({ name: 'suspended', status: 'suspended', flips }),
      watchState({ name: 'twice', flips: flips.slice(1) }),
    ];
    const found = (text: string) => matching(all, query(text), WATCHED_AT).map(({ name }) => name);
    expect(found('state=flapping')).toEqual(['flapping', 'suspended']);
    expect(found('state=attention')).toEqual(['flapping']);
    expect(all.map((one) => createWatchedReport(one, [], WATCHED_AT).flapping)).toEqual([
      false,
      true,
      true,
      false,
    ]);
    const reports = all.map((one) => createWatchedReport(one, [], WATCHED_AT));
    expect(statusText(createWatchedDocument(null, reports, WATCHED_AT), false, PLAIN)).toMatch(
      /flapping +✓ in sync, flapping[^]*; 2 flapping\./,
    );
  });

  it('counts what is to be looked at by what is not as declared, unless somebody has suspended it', () => {
    expect(names('state=attention')).toEqual(
      everyState()
        .filter((one) => isAttentionDue(one, false))
        .map(({ name }) => name)
        .toSorted((a, b) => names('').indexOf(a) - names('').indexOf(b)),
    );
    expect(names('state=attention')).not.toContain('load-test');
    expect(names('state=attention')).toContain('demo');
  });

  it('counts every environment once', () => {
    const counts = countStatuses(everyState());
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(everyState().length);
    expect(counts.map(([status]) => status)).toEqual(WATCH_STATUSES.toReversed());
  });

  it('comes in pages that hold every environment once', () => {
    const sorted = worstFirst(fleet(250));
    const pages = [1, 2, 3].map((page) =>
      pageOfList(sorted, { text: ' ', state: 'any', page }, WATCHED_AT),
    );
    expect(pages.map(({ rows }) => rows.length)).toEqual([100, 100, 50]);
    expect(pages.flatMap(({ rows }) => rows)).toEqual(sorted);
    expect(pageOfList(sorted, { text: ' ', state: 'any', page: 99 }, WATCHED_AT)).toEqual(pages[2]);
  });
});

describe('the usual list of many', () => {
  it('has those to look at; those that fail for one cause behind one gateway are one row', () => {
    const down = fleet(12).map((state) => {
      const error = { code: 'unreachable', message: 'No route.', hint: '' };
      return { ...state, status: 'error', plan: environment({ status: 'error', error }) } as const;
    });
    const sorted = worstFirst([...down, ...fleet(300).slice(12)]);
    const { rows, hidden, total } = pageOfList(
      sorted,
      { text: '', state: 'usual', page: 1 },
      WATCHED_AT,
    );
    expect(rows[0]).toMatchObject({ cause: 'No route' });
    const [first] = rows;
    expect(first !== undefined && 'members' in first ? first.members : []).toHaveLength(12);
    expect(rows.slice(1).every((row) => 'name' in row && isAttentionDue(row, false))).toBe(true);
    expect([hidden + total, rows.length]).toEqual([300, total - 11]);
    expect(
      pageOfList(sorted.slice(0, 15), { text: '', state: 'usual', page: 1 }, WATCHED_AT).hidden,
    ).toBe(0);
  });

  it('groups failures of one cause, whatever their services and requests are, and no others', () => {
    const failure = (message: string, code = 'unreachable') =>
      environment({ status: 'error', error: { code, message, hint: '' } });
    const states = fleet(12).map((state, index) => {
      const cause = index < 8 ? 'was refused' : 'was closed';
      const message = `The connection ${cause}: GET https://s${index}.example.com:84${index}/api/settings, ${index + 2} tries in all.`;
      const since = ago(10 + ((index * 7) % 12));
      return { ...state, since, status: 'error' as const, plan: failure(message) };
    });
    const usual = { text: '', state: 'usual', page: 1 } as const;
    const { rows } = pageOfList(worstFirst(states), usual, WATCHED_AT);
    expect(rows.map((row) => ('cause' in row ? [row.cause, row.members.length] : row))).toEqual(
      expect.arrayContaining([
        ['The connection was refused', 8],
        ['The connection was closed', 4],
      ]),
    );
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      if (!('members' in row)) throw new Error('an environment alone');
      const { members } = row;
      const ages = members.map(({ since }) => since);
      expect(ages).toEqual(ages.toSorted());
      const query = { ...usual, state: 'error', cause: causeId(row.key) } as const;
      expect(listQuery(new URLSearchParams(listAddress(query).slice(2)))).toEqual(query);
      const listed = pageOfList(worstFirst(states), query, WATCHED_AT);
      expect(listed.rows).toEqual(members);
    }
    const two = worstFirst(states).filter(({ plan }) => plan?.error?.message.includes('closed'));
    expect(pageOfList(two.slice(0, 2), usual, WATCHED_AT).rows).toEqual(two.slice(0, 2));
  });
});

describe('a query', () => {
  it.each(['/', '/?q=a+b', '/?q=ring%3D0&state=drift&page=3', '/?state=attention'])(
    '%s',
    (address) => {
      expect(listAddress(query(address.slice(2)))).toBe(address);
    },
  );

  it.each(['state=__proto__', 'state=x', 'page=0', 'page=-1', 'page=1.5', 'page=x', 'q='])(
    '%s counts as not given',
    (text) => {
      expect(listAddress(query(text))).toBe('/');
    },
  );

  it('is bounded', () => {
    expect(query(`q=${'x'.repeat(5000)}`).text).toHaveLength(200);
  });
});

describe('the strip of the last reads', () => {
  it('says in words what it shows', () => {
    expect(markupSource(stripHtml(reads('drift', 40, 2)))).toContain(
      'aria-label="Last 40 reads: 38 in sync, 2 drift. The latest: drift."',
    );
  });

  it('shows the last hundred', () => {
    const strip = markupSource(stripHtml([...reads('error', 3, 3), ...reads('in-sync', 100)]));
    expect(strip).toContain('Last 100 reads: 100 in sync.');
    expect(strip).not.toContain('class="bad"');
  });

  it('says that there are none', () => {
    expect(markupSource(stripHtml([]))).toContain('no reads yet');
  });

  it('has times below it if it has room, and each state leads to its record', () => {
    const marks = [...reads('in-sync', 60), ...reads('drift', 40, 40)].map((mark, index) => ({
      ...mark,
      at: new Date(WATCHED_AT - (100 - index) * 300_000).toISOString(),
    }));
    const begun = marks[60]?.at;
    const html = markupSource(stripWithAxisHtml(marks, (at) => (at === begun ? '#here' : null)));
    expect([...html.matchAll(/<time[^>]*>([^<]*)<\/time>/g)].map(([, text]) => text)).toEqual([
      '03:40',
      '07:50',
      '2026-03-01 11:55',
    ]);
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(html).toContain(
      '<a href="#here" aria-label="drift, 40 reads from 2026-03-01 08:40:00 UTC">',
    );
    expect(html).toContain('role="group"');
    expect(markupSource(stripWithAxisHtml(marks.slice(-3), () => null))).toContain(
      '<p class="axis"><time datetime="2026-03-01T11:55:00.000Z">2026-03-01 11:55</time></p>',
    );
    expect(markupSource(stripWithAxisHtml([], () => null))).toContain('no reads yet');
  });

  it('is as short as what it shows has turns', () => {
    expect(markupSource(stripHtml(longWatched().reads)).length).toBeLessThan(400);
  });
});

describe('guesses of a token', () => {
  it('have to wait after ten of an address in a minute, however many addresses guess', () => {
    const throttle = new Throttle();
    for (let count = 0; count < 10; count++) expect(throttle.countFailure('a', 0)).toBe(0);
    expect(throttle.countFailure('a', 1000)).toBe(59);
    expect(throttle.countFailure('b', 1000)).toBe(0);
    expect(throttle.countFailure('a', 60_000)).toBe(0);
    for (let count = 0; count < 20_000; count++) throttle.countFailure(`address ${count}`, 60_000);
    expect(throttle.countFailure('c', 61_000)).toBe(0);
  });
});
