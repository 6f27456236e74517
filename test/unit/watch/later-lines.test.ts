import { describe, expect, it } from 'vitest';
import type {
  JournalEvent,
  JournalRecord,
  WatchState,
} from '../../../src/reconciler/model/watch.ts';
import { environmentHtml, environmentView } from '../../../src/controller/page/environment-page.ts';
import { renderListView, listView, sortStates } from '../../../src/controller/page/list-page.ts';
import { sources } from '../../../src/controller/page/page-parts.ts';
import { createWatchedReport, wholeReport } from '../../../src/controller/page/api.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { historyText } from '../../../src/reconciler/render/history-text.ts';
import { isAboutPath } from '../../../src/controller/watch/data-folder.ts';
import {
  isRecordLine,
  parseJournalLine,
  type JournalLine,
} from '../../../src/controller/watch/journal/journal-lines.ts';
import { Memory } from '../../../src/controller/watch/journal/journal-reader.ts';
import { change, environment as plan, outcome } from '../../fixture/documents.ts';
import { checkpointOf, MadeUpWatching, WATCHED_AT, watchState } from '../../fixture/watching.ts';

const at = new Date(WATCHED_AT).toISOString();
const named = { environment: 'a' } as const;
const ERROR = { code: 'unreachable', message: 'm', hint: 'h' };
const REFUSAL = { rule: 'max-changes', message: 'm', hint: 'h', path: ['language'] } as const;
const WARNING = { code: 'guard', message: 'm', path: ['language'] } as const;
const UNKNOWN = { path: ['llm_api_key'], reason: 'r', ref: null };
const FOUND = plan({
  name: 'a',
  changes: [change(), change({ resource: 'sandbox', path: ['s', '#1'], action: 'start' })],
  unknown: [UNKNOWN],
  warnings: [WARNING],
  refusals: [REFUSAL],
  unmanaged: [['agent']],
});
const notice = { kind: 'notice', ...named, event: 'opened', receiver: 'r', digest: 'd' } as const;
const EVENTS: readonly JournalEvent[] = [
  {
    kind: 'state',
    ...named,
    status: 'drift',
    before: 'in-sync',
    digest: 'd',
    after: at,
    commit: 'c',
    plan: FOUND,
  },
  {
    kind: 'state',
    ...named,
    status: 'error',
    before: 'drift',
    digest: 'd',
    after: null,
    commit: null,
    plan: plan({ name: 'a', error: ERROR }),
  },
  { kind: 'writing', ...named, paths: ['language'], commit: null },
  {
    kind: 'write',
    ...named,
    by: 'watch',
    commit: null,
    actor: 'x',
    url: 'https://x.example/',
    outcome: outcome({
      name: 'a',
      status: 'partial',
      changes: [{ ...change(), result: 'verified' }],
      remaining: [
        {
          resource: 'settings',
          path: ['agent'],
          expected: 'x',
          actual: 'y',
          reason: 'r',
          hint: 'h',
        },
      ],
      unknown: [UNKNOWN],
      warnings: [WARNING],
      refusals: [REFUSAL],
      error: ERROR,
    }),
  },
  { kind: 'clock-set', ...named, by: 5 },
  { kind: 'suspended', ...named, reason: 'r', until: at },
  { kind: 'resumed', ...named },
  { kind: 'healing-stopped', ...named, path: 'language', reason: 'r' },
  { ...notice, result: 'sent' },
  { kind: 'files', commit: 'c', environments: 1, problem: 'p' },
  { kind: 'started', version: '1' },
  { kind: 'stopped', version: '1', reason: 'SIGTERM' },
];
const RECORDS = EVENTS.map((event): JournalRecord => ({ v: 1, at, ...event }));

/** What a later version, or somebody else, may have written in the place of a value. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  'rollback',
  '',
  '[',
  7,
  -1,
  true,
  {},
  [],
  [7],
  [null],
  [[]],
  [{}],
];

/** The same value with one place of it replaced, for each place and each odd value. */
function* replaced(value: unknown): Generator {
  yield* ODD;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    for (const odd of replaced(inner))
      yield Array.isArray(value)
        ? value.map((one: unknown, index) => (String(index) === key ? odd : one))
        : { ...value, [key]: odd };
}

function linesLike(line: object): JournalLine[] {
  return [...replaced(line)].flatMap((odd) => parseJournalLine(JSON.stringify(odd) ?? '') ?? []);
}

/** Everything that shows an environment and its records. */
function show(state: WatchState, records: readonly JournalRecord[]): void {
  const watching = new MadeUpWatching(state);
  const query = { text: '', state: 'any', page: 1 } as const;
  const list = listView(watching, sortStates(watching), query, WATCHED_AT);
  const one = environmentView(watching, state, records, WATCHED_AT);
  markupSource(renderListView(list, query));
  markupSource(environmentHtml(one, { said: null, actions: null }));
  sources([...list.parts, ...one.parts]);
  JSON.stringify(wholeReport(createWatchedReport(state, [], WATCHED_AT), state, records));
  const style = { color: false, width: null, verbose: false };
  const tool = { name: 'setpoint', version: '1' } as const;
  historyText({ format_version: '1.0', kind: 'history', tool, path: null, records }, style);
  for (const record of records) isAboutPath(record, ['language']);
}

describe('a line of a later version', () => {
  it.each(RECORDS.map((record) => [record.kind, record] as const))(
    'breaks nothing, whatever is in the place of a value: %s',
    (_, record) => {
      const lines = linesLike(record);
      expect(lines.length).toBeGreaterThan(1);
      expect(parseJournalLine(JSON.stringify(record))).toEqual(JSON.parse(JSON.stringify(record)));
      for (const line of lines) {
        const memory = new Memory();
        memory.take(line);
        const { agreed: _agreed, ...known } = memory.of('a');
        const shown = isRecordLine(line) ? [line] : [];
        try {
          show(watchState({ ...known, status: known.found }), shown);
        } catch (thrown) {
          throw new Error(`${JSON.stringify(line)}: ${String(thrown)}`, { cause: thrown });
        }
      }
    },
  );

  it('breaks nothing if it begins a file, and is known as far as it is', () => {
    const memory = new Memory();
    for (const record of RECORDS) memory.take(record);
    const whole = checkpointOf(memory, at, [{ file: 'journal.jsonl', bytes: 1 }]);
    for (const line of linesLike(whole)) {
      const again = new Memory();
      again.take(line);
      const { agreed: _agreed, ...known } = again.of('a');
      try {
        show(watchState({ ...known, status: known.found }), again.notices);
        checkpointOf(again, at);
      } catch (thrown) {
        throw new Error(`${JSON.stringify(line)}: ${String(thrown)}`, { cause: thrown });
      }
    }
    const [one] = whole.environments;
    const line = parseJournalLine(
      JSON.stringify({ ...whole, environments: [{ ...one, found: 'rollback' }] }),
    );
    const later = new Memory();
    if (line !== null) later.take(line);
    expect(later.of('a')).toMatchObject({ found: 'not-read', plan: null, heals: one?.heals });
    expect(later.notices).toEqual(memory.notices);
  });
});
