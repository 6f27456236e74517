import { describe, expect, it } from 'vitest';
import { historyText } from '../../../src/reconciler/render/history-text.ts';
import { statusText } from '../../../src/reconciler/render/status-text.ts';
import { STATE_WORDS } from '../../../src/reconciler/render/section.ts';
import { PLAIN } from '../../../src/reconciler/render/text.ts';
import { markupSource } from '../../../src/reconciler/render/html/page.ts';
import { WATCH_STATUSES, type WatchStatus } from '../../../src/reconciler/model/verdict.ts';
import type { JournalRecord, WatchState } from '../../../src/reconciler/model/watch.ts';
import { createWatchedDocument, createWatchedReport } from '../../../src/controller/page/api.ts';
import { environmentHtml, environmentView } from '../../../src/controller/page/environment-page.ts';
import { historyHtml } from '../../../src/controller/page/history-html.ts';
import { renderListView, listView, sortStates } from '../../../src/controller/page/list-page.ts';
import { badgeSvg } from '../../../src/controller/page/state-label.ts';
import { createMessage, describeDueNotice } from '../../../src/controller/watch/notices/message.ts';
import { afterFirstRound, logLine } from '../../../src/controller/watch/telemetry/log.ts';
import { computeTargetStatus } from '../../../src/controller/cluster/status.ts';
import {
  formatStateVersion,
  type TargetResource,
} from '../../../src/controller/cluster/target-resource.ts';
import { environment } from '../../fixture/documents.ts';
import { MadeUpWatching, WATCHED_AT, ago, watchState } from '../../fixture/watching.ts';

const ERROR = { code: 'unreachable', message: 'The connection was refused: GET /a.', hint: '' };

function stateOf(status: WatchStatus, name = 'eu'): WatchState {
  const plan = status === 'error' ? environment({ name, status: 'error', error: ERROR }) : null;
  return watchState({ name, status, found: status, plan, since: ago(5) });
}

function recordOf(status: WatchStatus, before: WatchStatus): JournalRecord {
  const { digest, plan } = stateOf(status);
  const about = { environment: 'eu', digest, plan, after: null, commit: null };
  return { v: 1, at: ago(5), kind: 'state', status, before, ...about };
}

/** What the log says once all were read. */
function firstRound(status: WatchStatus): string {
  const state = stateOf(status);
  const watching = new MadeUpWatching(state);
  const lines: string[] = [];
  afterFirstRound(
    watching,
    () => WATCHED_AT,
    ({ message }) => lines.push(message),
  );
  watching.put(state, { kind: 'read', seconds: 1, result: 'done' });
  return lines.join('\n');
}

/** Every place that shows the state of a watched environment in words. */
const SURFACES: Readonly<Record<string, (status: WatchStatus) => string>> = {
  'the log': (status) => logLine(recordOf(status, 'drift'), 'text') ?? '',
  'the log, of the state before': (status) => logLine(recordOf('drift', status), 'text') ?? '',
  'the log after the first round': firstRound,
  'setpoint status': (status) => {
    const reports = [createWatchedReport(stateOf(status), [], WATCHED_AT)];
    return statusText(createWatchedDocument(null, reports, WATCHED_AT), false, PLAIN);
  },
  'setpoint history': (status) =>
    historyText(
      {
        format_version: '1',
        kind: 'history',
        tool: { name: 'setpoint', version: '0' },
        path: null,
        records: [recordOf(status, 'not-read')],
      },
      PLAIN,
    ),
  'the list of the page': (status) => {
    const watching = new MadeUpWatching(stateOf(status));
    const query = { text: '', state: 'usual', page: 1 } as const;
    const html = markupSource(
      renderListView(listView(watching, sortStates(watching), query, WATCHED_AT), query),
    );
    return html.slice(html.indexOf('<tbody'), html.indexOf('</tbody'));
  },
  'the page of an environment': (status) => {
    const state = stateOf(status);
    const view = environmentView(new MadeUpWatching(state), state, [], WATCHED_AT);
    return markupSource(environmentHtml(view, { said: null, actions: null }));
  },
  'the history of the page': (status) =>
    markupSource(
      historyHtml(
        [recordOf(status, 'drift')],
        { commits: null, commitInfos: new Map() },
        WATCHED_AT,
      ),
    ),
  'the conditions of a SettingsTarget': (status) => {
    const object: TargetResource = {
      metadata: { name: 'eu', namespace: 'agents', uid: 'u', generation: 1 },
      spec: { server: { url: 'https://agents.example.com' }, mode: 'Observe' },
    };
    const unknown = [{ path: ['llm_api_key'], reason: 'r', ref: null, kind: 'missing' }] as const;
    const found = status === 'suspended' ? 'in-sync' : status;
    const state: WatchState = {
      ...stateOf(found),
      ...(found === 'unknown' ? { plan: { ...environment({ name: 'eu' }), unknown } } : {}),
      suspended: status === found ? null : { at: ago(5), reason: 'migration', until: null },
      commit: formatStateVersion(1, 'u'),
    };
    const { conditions } = computeTargetStatus(
      {
        object,
        state,
        isRead: true,
        invalid: null,
        waiting: null,
        handled: null,
        notHealed: null,
        applied: [],
        rivals: [],
      },
      ago(1),
    );
    return conditions.map(({ type, message }) => `${type.toLowerCase()} ${message}`).join('\n');
  },
  'a badge': (status) => badgeSvg(stateOf(status)),
  'a notice': (status) =>
    describeDueNotice({
      event: 'opened',
      state: stateOf(status),
      digest: '',
      track: 'difference',
      end: null,
    }),
  'a reminder': (status) =>
    describeDueNotice({
      event: 'reminder',
      state: stateOf(status),
      digest: '',
      track: 'difference',
      end: null,
    }),
  'a notice of several': (status) =>
    createMessage(
      ['eu', 'us'].map((name) => ({
        event: 'opened',
        state: stateOf(status, name),
        digest: '',
        track: 'difference',
        end: null,
      })),
      null,
    ).title,
};

const OTHERS = /\b(?:error|unreachable|not readable|cannot be read)\b/i;

describe.each(Object.entries(SURFACES))('%s', (_, textOf) => {
  it.each(WATCH_STATUSES.filter((status) => status !== 'not-read'))(
    'calls %s by the word of the table',
    (status) => {
      expect(textOf(status)).toContain(STATE_WORDS[status]);
    },
  );

  it('has no other word for what failed', () => {
    // A level of the log is `error`, whatever the line is about; so is the enum of a document.
    const text = textOf('error').replaceAll(/^\S+ error |"[^"]*"|<code>[^<]*<\/code>/gm, '');
    expect(text).toContain(STATE_WORDS.error);
    expect(text).not.toMatch(OTHERS);
  });
});

it('says what has not been read in the same words', () => {
  for (const name of [
    'setpoint status',
    'the list of the page',
    'a badge',
    'a notice',
    'the conditions of a SettingsTarget',
  ])
    expect(SURFACES[name]?.('not-read')).toContain(STATE_WORDS['not-read']);
});
