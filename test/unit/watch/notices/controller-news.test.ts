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

  it('is told to no receiver that does not ask for it, in no quiet hour, and no receiver of itself', () => {
    expect(newsFor({ events: new Set(['opened']) }).due([FULL], WATCHED_AT)).toEqual([]);
    const days = new Set([0, 1, 2, 3, 4, 5, 6]);
    const always = { text: '00:00-24:00', days, from: 0, to: 1440, zone: 'UTC' };
    expect(newsFor({ quiet: [always] }).due([FULL], WATCHED_AT)).toEqual([]);
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

  it('has the form of Slack, in which nothing foreign is markup', () => {
    const { text, blocks } = bodyOf('slack', news, PAGE) as {
      text: string;
      blocks: { text: { text: string } }[];
    };
    expect(text).toBe(`setpoint: setpoint watch on ${hostname()}: 2 messages about itself`);
    expect(blocks.map((block) => block.text.text)).toEqual([
      `*setpoint watch on ${hostname()}: 2 messages about itself*`,
      `\`setpoint watch on ${hostname()}\` reports a problem with itself\n• \`The journal in &lt;data&gt; cannot be written (ENOSPC).\`\n<${PAGE}/|Show it>`,
      `\`setpoint watch on ${hostname()}\` reports the end of a problem\n• \`The receiver team takes notices again.\`\n<${PAGE}/|Show it>`,
    ]);
  });

  it('has the form of Teams', () => {
    const payload = bodyOf('teams', news.slice(0, 1), PAGE) as {
      attachments: { content: { body: unknown[]; fallbackText: string; actions: object[] } }[];
    };
    const content = payload.attachments[0]?.content;
    expect(content?.fallbackText).toBe(
      `setpoint watch on ${hostname()} reports a problem with itself`,
    );
    expect(content?.body).toEqual([
      {
        type: 'RichTextBlock',
        inlines: [
          { type: 'TextRun', text: `setpoint watch on ${hostname()}`, weight: 'Bolder' },
          { type: 'TextRun', text: ' reports a problem with itself' },
          { type: 'TextRun', text: `\n${FULL.message}`, fontType: 'Monospace' },
        ],
      },
    ]);
    expect(content?.actions).toEqual([
      { type: 'Action.OpenUrl', title: 'Show it', url: `${PAGE}/` },
    ]);
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
