import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { JournalRecord, WatchState } from '../../../src/reconciler/model/watch.ts';
import { Notices } from '../../../src/controller/watch/notices/notices.ts';
import { NotifiedStates } from '../../../src/controller/watch/notices/notified-states.ts';
import type {
  NotifySettings,
  Receiver,
  Webhook,
} from '../../../src/controller/watch/notices/receiver.ts';
import { httpSender, type Outgoing } from '../../../src/controller/watch/notices/send.ts';
import { PLAIN } from '../../../src/controller/watch/notices/template.ts';
import { change, environment } from '../../fixture/documents.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { receiver } from '../../fixture/receivers.ts';
import { ago, MadeUpWatching, WATCHED_AT, watchState } from '../../fixture/watching.ts';

type Answer = (response: ServerResponse, body: string, request: IncomingMessage) => void;

/** A receiver on loopback that keeps what it got; each request is answered by the next of `answers`, the last one for good. */
async function listening(...answers: readonly Answer[]) {
  const got: {
    readonly path: string;
    readonly body: unknown;
    readonly headers: IncomingMessage['headers'];
  }[] = [];
  const server = await onLoopback((request, response, body) => {
    const { url: path = '', headers } = request;
    const answer = answers[Math.min(got.length, answers.length - 1)];
    got.push({ path, body: body === '' ? null : (JSON.parse(body) as unknown), headers });
    answer?.(response, body, request);
  });
  onTestFinished(() => server.close());
  return { url: server.url, got };
}

const slackOk: Answer = (response) => response.writeHead(200).end('ok');
const slackInvalid: Answer = (response) => response.writeHead(400).end('invalid_payload');
const slackLimited: Answer = (response) =>
  response.writeHead(429, { 'retry-after': '30' }).end('rate_limited');
const teamsAccepted: Answer = (response) => response.writeHead(202).end();
const broken: Answer = (response) => response.writeHead(500).end();
const cut: Answer = (response) => response.socket?.destroy();

/** Notices over a journal in memory, on a time of the test's own. */
function telling(
  watching: MadeUpWatching,
  settings: Partial<NotifySettings>,
  journal: JournalRecord[] = [],
  pagerDuty = '',
) {
  let passed = 0;
  const clock = {
    now: () => WATCHED_AT + passed,
    monotonic: () => passed,
    sleep: async () => {},
  };
  const reported: string[] = [];
  watching.report = ({ message }) => reported.push(message);
  const http = httpSender({}, clock);
  const sender = {
    ...http,
    send: (request: Outgoing) => {
      const isFixed = request.url === 'https://events.pagerduty.com/v2/enqueue';
      return http.send(isFixed ? { ...request, url: pagerDuty } : request);
    },
  };
  const notified = new NotifiedStates(journal);
  onTestFinished(() => sender.close());
  const notices = new Notices({
    watching,
    settings: { page: null, receivers: [], heartbeat: null, ...settings },
    journal: {
      notified,
      isRecorded: () => true,
      findDeparted: () => null,
      record: async (event) => {
        const record: JournalRecord = { v: 1, at: new Date(clock.now()).toISOString(), ...event };
        journal.push(record);
        notified.take(record);
        return record;
      },
    },
    sender,
    issues: async () => ({ kind: 'sent' }),
    clock,
    report: ({ message }) => reported.push(message),
  });
  return {
    journal,
    reported,
    now: () => clock.now(),
    /** Lets seconds pass, one look at what is due after the other. */
    pass: async (seconds: number) => {
      for (let left = seconds; left > 0; left -= 5) {
        passed += 5000;
        notices.tick();
        await notices.idle();
      }
    },
    results: () =>
      journal.flatMap((one) => (one.kind === 'notice' ? [`${one.event} ${one.result}`] : [])),
  };
}

function webhook(form: Webhook['form'], url: string, more: Partial<Receiver> = {}): Receiver {
  const headers = new Map([['x-team', new Secret('blue')]]);
  return receiver({ to: { form, url: new Secret(`${url}/hook/secret-part`), headers }, ...more });
}

const PLAN = environment({ changes: [change(), change({ path: ['llm_model'] })] });
const DRIFT = watchState({ found: 'drift', digest: 'd1', plan: PLAN });

function fleet(count: number, more: Partial<WatchState>): WatchState[] {
  return Array.from({ length: count }, (_, index) => watchState({ name: `env-${index}`, ...more }));
}

describe('a webhook', () => {
  it.each([
    ['slack', slackOk],
    ['teams', teamsAccepted],
    ['discord', teamsAccepted],
    ['json', teamsAccepted],
  ] as const)(
    'of %s gets a message when something is open, and when it is resolved',
    async (form, answer) => {
      const { url, got } = await listening(answer);
      const watching = new MadeUpWatching(DRIFT);
      const told = telling(watching, {
        receivers: [webhook(form, url)],
        page: 'https://page.example',
      });
      await told.pass(300);
      expect(got).toHaveLength(1);
      expect(got[0]).toMatchObject({ path: '/hook/secret-part', headers: { 'x-team': 'blue' } });
      const text = JSON.stringify(got[0]?.body);
      for (const part of [
        'production',
        'llm_model',
        'https://page.example/environments/production',
      ])
        expect(text).toContain(part);
      watching.put(watchState());
      await told.pass(300);
      expect(got).toHaveLength(2);
      expect(JSON.stringify(got[1]?.body)).toContain('is in sync again');
      expect(told.results()).toEqual([
        'opened begun',
        'opened sent',
        'resolved begun',
        'resolved sent',
      ]);
      expect(told.reported).toEqual([]);
    },
  );

  it('gets what the file has in place of its own JSON', async () => {
    const { url, got } = await listening(slackOk);
    const body = {
      say: '{title}: {text}',
      key: new Secret('canary'),
      page: '{link}',
      links: [
        { title: 'Show it', href: '{link}' },
        { constant: 1, other: '{constructor}' },
      ],
    };
    const own = webhook('json', url);
    const template = { style: PLAIN, longest: 1000, body };
    const to = { ...(own.to as Webhook), template };
    await telling(new MadeUpWatching(DRIFT), { receivers: [{ ...own, to }] }).pass(60);
    const says = 'production has drift: it was changed on the service';
    expect(got.map((one) => one.body)).toEqual([
      {
        say: expect.stringMatching(`^setpoint: ${says}: ${says}\n• language`),
        key: 'canary',
        links: [{ constant: 1, other: '{constructor}' }],
      },
    ]);
  });

  it('that limits requests is asked again no sooner than it says', async () => {
    const { url, got } = await listening(slackLimited, slackLimited, slackOk);
    const told = telling(new MadeUpWatching(DRIFT), { receivers: [webhook('slack', url)] });
    await told.pass(30);
    expect(got).toHaveLength(1);
    await told.pass(20);
    expect(got).toHaveLength(2);
    await told.pass(600);
    expect(got).toHaveLength(3);
    expect(told.results()).toEqual([
      'opened begun',
      'opened failed',
      'opened begun',
      'opened failed',
      'opened begun',
      'opened sent',
    ]);
  });

  it('that asks for years is asked again after a day', async () => {
    const { url, got } = await listening(
      (response) => response.writeHead(429, { 'retry-after': '99999999' }).end(),
      slackOk,
    );
    const told = telling(new MadeUpWatching(DRIFT), { receivers: [webhook('slack', url)] });
    await told.pass(23 * 3600);
    expect(got).toHaveLength(1);
    await told.pass(2 * 3600);
    expect(got).toHaveLength(2);
  });

  it('that refuses a message gets it again after an hour, and the next one before', async () => {
    const { url, got } = await listening(slackInvalid, slackOk);
    const watching = new MadeUpWatching(DRIFT);
    const told = telling(watching, { receivers: [webhook('slack', url)] });
    await told.pass(3600);
    expect(got).toHaveLength(1);
    expect(told.reported).toEqual([
      'The receiver team did not take 1 notice. It answered with status 400.',
    ]);
    await told.pass(60);
    expect(got).toHaveLength(2);
    expect(told.reported.at(-1)).toBe('The receiver team takes notices again.');
  });

  it('that refuses one notice gets the others', async () => {
    const got: string[] = [];
    const { url } = await listening((response, body) => {
      got.push(body);
      if (body.includes('poison')) slackInvalid(response, body, response.req);
      else response.end('ok');
    });
    const watching = new MadeUpWatching({ ...DRIFT, name: 'poison' });
    const told = telling(watching, { receivers: [webhook('slack', url)] });
    await told.pass(3500);
    for (const name of ['a', 'b', 'c', 'd']) {
      watching.put({ ...DRIFT, name });
      await told.pass(1200);
    }
    expect(got.filter((body) => !body.includes('poison'))).toHaveLength(4);
    expect(got.filter((body) => body.includes('poison')).length).toBeGreaterThan(1);
  });

  it('that refused the end of failing reads is told of it once it takes messages again', async () => {
    const answers = [slackOk, slackInvalid, slackOk];
    const { url, got } = await listening(...answers);
    const watching = new MadeUpWatching(
      watchState({ found: 'error', digest: 'e', failures: 3, since: ago(15) }),
      watchState({ name: 'other' }),
    );
    const told = telling(watching, { receivers: [webhook('slack', url)] });
    await told.pass(60);
    watching.put(DRIFT);
    await told.pass(300);
    watching.put({ ...DRIFT, name: 'other' });
    await told.pass(300);
    expect(told.results().filter((one) => one === 'resolved failed')).toHaveLength(1);
    await told.pass(3600);
    expect(told.results().filter((one) => one === 'resolved sent')).toHaveLength(1);
    expect(got).toHaveLength(4);
  });

  it.each([
    ['a server that fails', broken],
    ['a connection that ends without an answer', cut],
  ])('is never asked twice if it may have taken the message: %s', async (_, answer) => {
    const { url, got } = await listening(answer);
    const told = telling(new MadeUpWatching(DRIFT), { receivers: [webhook('slack', url)] });
    await told.pass(7200);
    expect(got).toHaveLength(1);
    expect(told.results()).toEqual(['opened begun', 'opened unknown']);
  });

  it('that is not there is tried as long as the state lasts, once an hour in the end', async () => {
    const receivers = [webhook('slack', 'http://127.0.0.1:9')];
    const watching = new MadeUpWatching(DRIFT);
    const told = telling(watching, { receivers });
    await told.pass(3600);
    const first = told.results().length;
    await told.pass(20 * 3600);
    const { length } = told.results();
    expect(first).toBeLessThanOrEqual(2 * 9);
    expect(length - first).toBeGreaterThanOrEqual(2 * 19);
    expect(length - first).toBeLessThanOrEqual(2 * 21);
    expect(new Set(told.results())).toEqual(new Set(['opened begun', 'opened failed']));
    watching.put(watchState());
    await told.pass(4 * 3600);
    expect(told.results()).toHaveLength(length);
    expect(told.reported[0]).toBe(
      'The receiver team did not take 1 notice. It refuses connections.',
    );
    expect(told.reported.join('\n')).not.toMatch(/secret-part|127\.0\.0\.1/);
  });

  it('gets one message for a thousand environments that fail at once, and one in a minute at most', async () => {
    const { url, got } = await listening(slackOk);
    const watching = new MadeUpWatching(
      ...fleet(1000, { found: 'error', digest: 'e', failures: 3, since: ago(15) }),
    );
    const told = telling(watching, { receivers: [webhook('slack', url)] });
    await told.pass(60);
    expect(got).toHaveLength(1);
    const text = JSON.stringify(got[0]?.body);
    expect(text).toContain('1,000 environments: 1,000 failed');
    expect(text).toContain('… and 980 more');
    expect(text.length).toBeLessThan(20_000);
    for (let at = 0; at < 30; at += 1) {
      watching.put(watchState({ name: `env-${at}` }));
      await told.pass(10);
    }
    expect(got.length).toBeGreaterThan(4);
    expect(got.length).toBeLessThan(8);
    expect(told.results().filter((one) => one === 'resolved sent').length).toBeGreaterThan(20);
  });
});

describe('PagerDuty', () => {
  it('gets an event for each state, again if it may not have taken it, and the end of each', async () => {
    const { got, url } = await listening(broken, slackOk);
    const down = watchState({ name: 'staging', found: 'error', digest: 'e', since: ago(15) });
    const watching = new MadeUpWatching(DRIFT, down);
    const told = telling(watching, { receivers: [webhook('pagerduty', 'routing-key')] }, [], url);
    await told.pass(120);
    watching.put(watchState());
    watching.put(watchState({ name: 'staging' }));
    await told.pass(120);
    const events = got.map(({ body }) => body as Record<string, unknown>);
    expect(events.map((one) => [one['event_action'], one['dedup_key']])).toEqual([
      ['trigger', 'production: difference'],
      ['trigger', 'production: difference'],
      ['trigger', 'staging: failing'],
      ['resolve', 'production: difference'],
      ['resolve', 'staging: failing'],
    ]);
    expect(events[2]).toMatchObject({
      routing_key: 'routing-key/hook/secret-part',
      payload: { source: 'staging', severity: 'critical' },
    });
  });
});

describe('after a restart', () => {
  it('what was told is not told again, also if the process was killed while it was sent', async () => {
    const { url, got } = await listening(slackOk);
    const watching = new MadeUpWatching(DRIFT);
    const receivers = [webhook('slack', url)];
    const first = telling(watching, { receivers });
    await first.pass(60);
    await telling(watching, { receivers }, [...first.journal]).pass(3600);
    expect(got).toHaveLength(1);
    const killed = first.journal.slice(0, 1);
    expect(killed).toMatchObject([{ result: 'begun' }]);
    await telling(watching, { receivers }, killed).pass(3600);
    expect(got).toHaveLength(1);
  });

  it('what could not be kept is not sent', async () => {
    const { url, got } = await listening(slackOk);
    const full: JournalRecord[] = [];
    full.push = () => {
      throw new Error('disk full');
    };
    const told = telling(new MadeUpWatching(DRIFT), { receivers: [webhook('slack', url)] }, full);
    await told.pass(600);
    expect(got).toEqual([]);
    expect(told.reported[0]).toMatch(/^No notice was sent: /);
  });
});

describe('an Alertmanager', () => {
  const receivers = (url: string) => [
    receiver({ to: { form: 'alertmanager', url: new Secret(url), headers: new Map() } }),
  ];

  it('gets what fires again and again, and the end of it', async () => {
    const { url, got } = await listening((response) => response.writeHead(200).end());
    const watching = new MadeUpWatching(DRIFT, watchState({ name: 'staging' }));
    const told = telling(watching, { receivers: receivers(url), page: 'https://page.example' });
    await told.pass(200);
    expect(got.length).toBeGreaterThanOrEqual(3);
    expect(got[0]?.path).toBe('/api/v2/alerts');
    expect(got[0]?.body).toMatchObject([
      {
        labels: { alertname: 'SetpointDrift', environment: 'production', severity: 'warning' },
        annotations: { summary: 'production has drift: it was changed on the service' },
        startsAt: new Date(WATCHED_AT).toISOString(),
        generatorURL: 'https://page.example/environments/production',
      },
    ]);
    watching.put(watchState({ found: 'conflict', digest: 'c' }));
    await told.pass(100);
    const bodies = got.map(
      ({ body }) => body as { labels: { alertname: string }; endsAt: string }[],
    );
    const changed = bodies.find(({ length }) => length === 2) ?? [];
    expect(changed.map(({ labels }) => labels.alertname)).toEqual([
      'SetpointDrift',
      'SetpointConflict',
    ]);
    expect(Date.parse(changed[0]?.endsAt ?? '')).toBeLessThan(Date.parse(changed[1]?.endsAt ?? ''));
    watching.put(watchState());
    await told.pass(300);
    expect(got.at(-1)?.body).toMatchObject([{ labels: { alertname: 'SetpointConflict' } }]);
    const { length } = got;
    await told.pass(600);
    expect(got).toHaveLength(length);
    expect(told.results()).toEqual(['opened sent', 'changed sent', 'resolved sent']);
  });

  it('that refuses gets it again later, and says so once it takes it', async () => {
    const { url, got } = await listening(broken, (response) => response.writeHead(200).end());
    const told = telling(new MadeUpWatching(DRIFT), { receivers: receivers(url) });
    await told.pass(300);
    expect(got.length).toBeGreaterThan(1);
    expect(told.results()).toEqual(['opened sent']);
  });

  it('that did not take the end of an alert is not sent it to fire again when reads fail', async () => {
    const fires: boolean[] = [];
    const { url } = await listening((response, body) => {
      const [alert] = JSON.parse(body) as { labels: { alertname: string }; endsAt: string }[];
      expect(alert?.labels.alertname).toBe('SetpointDrift');
      fires.push(Date.parse(alert?.endsAt ?? '') > told.now());
      if (fires.length === 2) response.socket?.destroy();
      else response.end();
    });
    const watching = new MadeUpWatching(DRIFT);
    const told = telling(watching, { receivers: receivers(url) });
    await told.pass(20);
    watching.put(watchState());
    await told.pass(80);
    watching.put(watchState({ found: 'error', digest: 'e', failures: 1 }));
    await told.pass(400);
    expect(fires).toEqual([true, false, false]);
  });

  it('still gets what fired before a restart', async () => {
    const { url, got } = await listening((response) => response.writeHead(200).end());
    const watching = new MadeUpWatching(DRIFT);
    const first = telling(watching, { receivers: receivers(url) });
    await first.pass(30);
    await telling(watching, { receivers: receivers(url) }, first.journal).pass(30);
    expect(got).toHaveLength(2);
    expect(first.results()).toEqual(['opened sent']);
  });
});

describe('a heartbeat', () => {
  it('is asked while the loop turns and nothing waits long for its read', async () => {
    const { url, got } = await listening(slackOk);
    const watching = new MadeUpWatching(watchState());
    const heartbeat = { url: new Secret(`${url}/ping`), every: 60_000 };
    const told = telling(watching, { heartbeat });
    const turn = (seconds: number, nextRead: number) => {
      const at = WATCHED_AT + seconds * 1000;
      watching.health = { ...watching.health, turnedAt: at };
      watching.put(watchState({ nextRead: new Date(WATCHED_AT + nextRead * 1000).toISOString() }));
    };
    for (let at = 0; at < 180; at += 5) {
      turn(at + 5, 3600);
      await told.pass(5);
    }
    expect(got.length).toBe(3);
    await told.pass(300);
    expect(got.length).toBe(3);
    turn(500, -600);
    await told.pass(5);
    expect(got.length).toBe(3);
    turn(500, 600);
    await told.pass(5);
    expect(got.length).toBe(4);
    expect(got[0]).toMatchObject({ path: '/ping', body: null });
  });
});
