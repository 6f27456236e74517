import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/reconciler/model/watch.ts';
import {
  ControllerNews,
  newsContent,
  type News,
} from '../../../../src/controller/watch/notices/controller-news.ts';
import { messageTo } from '../../../../src/controller/watch/notices/receivers.ts';
import { type Receiver, type Webhook } from '../../../../src/controller/watch/notices/receiver.ts';
import { Secret } from '../../../../src/reconciler/model/secret.ts';
import { dedent } from '../../../fixture/dedent.ts';
import { receiver } from '../../../fixture/receivers.ts';
import { ago, WATCHED_AT } from '../../../fixture/watching.ts';

const PAGE = 'https://setpoint.example.com';
/** What a receiver of that form is sent. */
function bodyOf(form: Webhook['form'], told: readonly News[], page: string | null): unknown {
  const to = { form, url: new Secret('https://hooks.example.com/x'), headers: new Map() };
  return messageTo(to, newsContent(told, page), WATCHED_AT).body;
}

const FULL: Condition = {
  kind: 'journal',
  receiver: null,
  message: 'The journal in <data> cannot be written (ENOSPC).',
  since: ago(1),
};
const SILENT: Condition = {
  kind: 'receiver',
  receiver: 'team',
  message: 'The receiver team did not take 1 notice.',
  since: ago(3),
};

function newsFor(more: Partial<Receiver> = {}): ControllerNews {
  return new ControllerNews(receiver({ name: 'pager', events: new Set(['controller']), ...more }));
}

describe('what is wrong with a controller', () => {
  it('is due once it has lasted ten seconds, of a receiver two minutes, and once until it is over', () => {
    const news = newsFor();
    const at = Date.parse(FULL.since);
    expect(news.due([FULL], at + 9_999)).toEqual([]);
    const due = news.due([FULL], at + 10_000);
    expect(due).toEqual([{ condition: FULL, holds: true }]);
    news.markNotified(due);
    expect(news.due([FULL], WATCHED_AT)).toEqual([]);
    const over = news.due([], WATCHED_AT);
    expect(over).toEqual([{ condition: FULL, holds: false }]);
    news.markNotified(over);
    expect(news.due([], WATCHED_AT)).toEqual([]);
    const late = Date.parse(SILENT.since) + 120_000;
    expect(newsFor().due([SILENT], late - 1)).toEqual([]);
    expect(newsFor().due([SILENT], late)).toHaveLength(1);
  });

  it('that was not taken is due again, and so is its end', () => {
    const news = newsFor();
    const due = news.due([FULL], WATCHED_AT);
    news.markNotified(due);
    news.markNotified(due, { undo: true });
    expect(news.due([FULL], WATCHED_AT)).toEqual(due);
    news.markNotified(due);
    const over = news.due([], WATCHED_AT);
    news.markNotified(over);
    news.markNotified(over, { undo: true });
    expect(news.due([], WATCHED_AT)).toEqual(over);
  });

  it('is told to no receiver that does not ask for it, and no receiver of itself', () => {
    expect(newsFor({ events: new Set(['opened']) }).due([FULL], WATCHED_AT)).toEqual([]);
    expect(newsFor({ name: 'team' }).due([SILENT], WATCHED_AT)).toEqual([]);
    expect(newsFor({ name: 'other' }).due([SILENT], WATCHED_AT)).toHaveLength(1);
  });

  it('is an alert while it lasts, with an end of its own', () => {
    const news = newsFor();
    const when = { now: WATCHED_AT, endsAt: WATCHED_AT + 240_000, page: PAGE };
    const first = news.alerts([FULL, SILENT], when);
    expect(first.isNews).toBe(true);
    expect(first.alerts).toEqual([
      {
        labels: {
          alertname: 'SetpointControllerProblem',
          controller: hostname(),
          kind: 'journal',
          severity: 'critical',
        },
        annotations: {
          summary: `setpoint watch on ${hostname()} reports a problem with itself`,
          description: FULL.message,
        },
        startsAt: FULL.since,
        endsAt: new Date(when.endsAt).toISOString(),
        generatorURL: `${PAGE}/`,
      },
      expect.objectContaining({
        labels: expect.objectContaining({
          kind: 'receiver',
          receiver: 'team',
          severity: 'warning',
        }),
      }),
    ]);
    // It is not known there until it was taken.
    expect(news.alerts([FULL], when).isNews).toBe(true);
    first.taken();
    const same = news.alerts([FULL, SILENT], when);
    expect([same.isNews, same.alerts.length]).toEqual([false, 2]);
    const less = news.alerts([SILENT], when);
    expect(less.isNews).toBe(true);
    expect(less.alerts.map(({ labels, endsAt }) => [labels['kind'], endsAt])).toEqual([
      ['receiver', new Date(when.endsAt).toISOString()],
      ['journal', new Date(WATCHED_AT).toISOString()],
    ]);
    less.taken();
    expect(news.alerts([SILENT], when).alerts).toHaveLength(1);
  });

  it('of which nothing is asked is no alert', () => {
    const when = { now: WATCHED_AT, endsAt: WATCHED_AT, page: null };
    const none = newsFor({ events: new Set(['opened']) }).alerts([FULL], when);
    expect([none.alerts, none.isNews]).toEqual([[], false]);
    const [bare] = newsFor().alerts([FULL], when).alerts;
    expect(bare).not.toHaveProperty('generatorURL');
  });
});

describe('a message about the controller', () => {
  const news = [
    { condition: FULL, holds: true },
    { condition: SILENT, holds: false },
  ];

  const name = `setpoint watch on ${hostname()}`;

  it('has the form of Slack, in which nothing foreign is markup', () => {
    expect(bodyOf('slack', news, PAGE)).toMatchObject({
      text: `setpoint: ${name}: 2 messages about itself`,
      blocks: [
        {
          text: {
            text: dedent`
              ${name}: 2 messages about itself
              \`${name}\` reports a problem with itself
              • \`The journal in &lt;data&gt; cannot be written (ENOSPC).\`
              <${PAGE}/|Show it>
              \`${name}\` reports the end of a problem
              • \`The receiver team takes notices again.\`
              <${PAGE}/|Show it>
            `.trimEnd(),
          },
        },
      ],
    });
  });

  it('has the form of Teams, with the page only if there is one', () => {
    const cardOf = (page: string | null) => bodyOf('teams', news.slice(0, 1), page);
    const text = `${name} reports a problem with itself\n• ${FULL.message}`;
    const card = {
      fallbackText: `setpoint: ${name} reports a problem with itself`,
      body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
    };
    const action = { type: 'Action.OpenUrl', title: 'Show it', url: `${PAGE}/` };
    expect(cardOf(PAGE)).toMatchObject({
      attachments: [{ content: { ...card, actions: [action] } }],
    });
    expect(cardOf(null)).toMatchObject({ attachments: [{ content: { ...card, actions: [] } }] });
  });

  it('is an incident of PagerDuty until it is over', () => {
    const key = `${name}: journal `;
    const sent = (holds: boolean) => bodyOf('pagerduty', [{ condition: FULL, holds }], null);
    expect(sent(true)).toEqual({
      routing_key: 'https://hooks.example.com/x',
      event_action: 'trigger',
      dedup_key: key,
      client: 'setpoint',
      payload: {
        summary: `setpoint: ${name} reports a problem with itself`,
        source: name,
        severity: 'critical',
        custom_details: { text: `${name} reports a problem with itself\n• ${FULL.message}` },
      },
      links: [],
    });
    expect(sent(false)).toMatchObject({ event_action: 'resolve', dedup_key: key });
  });

  it('has the form of the JSON of notices, about no environment', () => {
    expect(bodyOf('json', news, null)).toMatchObject({
      kind: 'notices',
      notices: [
        {
          event: 'controller',
          environment: null,
          controller: hostname(),
          kind: 'journal',
          receiver: null,
          holds: true,
          since: FULL.since,
          summary: FULL.message,
          link: null,
        },
        { kind: 'receiver', receiver: 'team', holds: false },
      ],
    });
  });
});
