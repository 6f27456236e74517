import { asSetpointError } from '../../../reconciler/model/error.ts';
import type { Clock } from '../../../reconciler/model/ports.ts';
import { formatCount } from '../../../reconciler/model/wording.ts';
import type { NoticeEvent, WatchState } from '../../../reconciler/model/watch.ts';
import type { ControllerNote } from '../conditions.ts';
import type { Watching } from '../watching.ts';
import { alertsNow, LASTS, RESEND } from './alerts.ts';
import { decide, type Due } from './decide.ts';
import { newsContent } from './controller-news.ts';
import { createContent, describeDueNotice, type Content } from './message.ts';
import { FORMS, messageTo, postTo } from './receivers.ts';
import {
  type Alertmanager,
  type Issues,
  type NotifySettings,
  type Receiver,
  type Webhook,
} from './receiver.ts';
import type { Sender, SendResult } from './send.ts';
import type { NoticeJournal, NotifiedStates } from './notified-states.ts';
import { NoticeCounts } from '../telemetry/counters.ts';
import { SPACING, Turns } from './turns.ts';

/** Requests that an issue is closed, and in which words: they follow the name. */
export interface IssueEnd {
  readonly state: WatchState;
  readonly words: string;
}

/**
 * Keeps the issues of a repository as they should be: one that is open for each of `open`, none for each of `closed`. It may be called again with
 * the same: what is as it should be stays. Never throws.
 */
export type IssueKeeper = (
  issues: Issues,
  open: readonly WatchState[],
  closed: readonly IssueEnd[],
) => Promise<SendResult>;

export interface NoticeOptions {
  readonly watching: Pick<Watching, 'states' | 'health' | 'conditions'>;
  readonly settings: NotifySettings;
  readonly journal: NoticeJournal;
  readonly sender: Sender;
  readonly issues: IssueKeeper;
  readonly clock: Clock;
  /** Reports a problem of a receiver, and its end. */
  readonly report: (note: ControllerNote) => void;
}

/** The interval for checking what is due, in milliseconds. */
const TICK = 2_000;

/**
 * Sends notices to receivers. A message to a person is stored as begun before it is sent. So it is sent once at most, even if the process
 * is killed at any moment: one may be lost then, and none is sent twice.
 */
export class Notices {
  readonly #options: NoticeOptions;
  readonly #notified: NotifiedStates;
  readonly counts: NoticeCounts;
  readonly #turns: readonly Turns[];
  #beatAt = Number.NEGATIVE_INFINITY;
  readonly #under = new Set<Promise<void>>();

  constructor(options: NoticeOptions) {
    this.#options = options;
    this.#notified = options.journal.notified;
    this.counts = new NoticeCounts(options.settings.receivers.map(({ name }) => name));
    this.#turns = options.settings.receivers.map((receiver) => new Turns(receiver));
    for (const { name } of options.settings.receivers)
      options.watching.conditions.set('receiver', null, name);
  }

  /** Sends until the signal fires; a request under way is finished. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, sender } = this.#options;
    while (!signal.aborted) {
      this.tick();
      await clock.sleep(TICK, signal);
    }
    await this.idle();
    await sender.close();
  }

  /** Begins what is due now. */
  tick(): void {
    this.#beat();
    for (const turns of this.#turns) {
      if (turns.busy) continue;
      turns.busy = true;
      this.#begin(
        this.#turn(turns).finally(() => {
          turns.busy = false;
        }),
      );
    }
  }

  /** Resolves once nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#under.size > 0) await Promise.all(this.#under);
  }

  #begin(work: Promise<void>): void {
    const done = work
      .catch((thrown: unknown) => this.#warn(asSetpointError(thrown).message))
      .finally(() => this.#under.delete(done));
    this.#under.add(done);
  }

  async #turn(turns: Turns): Promise<void> {
    const { to } = turns.receiver;
    if (to.form === 'alertmanager') await this.#alert(turns, to);
    else if (to.form === 'github-issue' || !(await this.#tellOfController(turns, to)))
      await this.#tell(turns, to);
  }

  /** Sends the problems of the controller itself; false if there is nothing to send now. */
  async #tellOfController(turns: Turns, to: Webhook): Promise<boolean> {
    const { watching, clock, settings } = this.#options;
    const news = turns.news.due(watching.conditions.list(), clock.now());
    if (news.length === 0 || clock.monotonic() < turns.notBefore) return false;
    for (const part of splitMessages(to, news)) {
      turns.news.markNotified(part);
      const result = await this.#post(to, newsContent(part, settings.page));
      turns.recordResult([], result, clock.monotonic());
      this.#reportOn(turns, result, part.length);
      // A refused notice is not tried again: it must not delay notices of environments.
      if (result.kind !== 'not-taken' || !result.again) continue;
      turns.news.markNotified(part, { undo: true });
      break;
    }
    return true;
  }

  async #tell(turns: Turns, to: Webhook | Issues): Promise<void> {
    const { watching, clock } = this.#options;
    const { receiver } = turns;
    const { findDeparted } = this.#options.journal;
    const found = decide(receiver, watching.states(), this.#notified, clock.now(), findDeparted);
    const due = turns.toSend(found, clock.monotonic());
    if (due.length === 0) return;
    const isPerson = to.form !== 'github-issue';
    for (const part of splitMessages(to, due)) {
      const begun = await this.#keepBegun(turns, part);
      if (begun.length === 0) return;
      const result = await this.#send(to, begun);
      await this.#conclude(turns, begun, result, isPerson);
      if (result.kind === 'not-taken' && result.again) return;
    }
  }

  /** Records that notices are about to be sent; one that cannot be recorded is not sent. */
  async #keepBegun(turns: Turns, due: readonly Due[]): Promise<readonly Due[]> {
    const kept = await Promise.allSettled(
      due.map((one) => this.#keep(turns.receiver, one, 'begun')),
    );
    const failed = kept.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      const { code, message } = asSetpointError(failed.reason);
      // The current holder of the lock sends it.
      if (code !== 'lock-lost') {
        turns.pause(this.#options.clock.monotonic(), SPACING);
        this.counts.add(turns.receiver.name, 'failed', 1);
        this.#warn(`No notice was sent: ${message}`);
      }
    }
    return due.filter((_, index) => kept[index]?.status === 'fulfilled');
  }

  #send(to: Webhook | Issues, due: readonly Due[]): Promise<SendResult> {
    const { settings, issues } = this.#options;
    if (to.form === 'github-issue') {
      const closed = due.filter(({ event }) => event === 'resolved');
      const open = due.filter(({ event }) => event !== 'resolved').map(({ state }) => state);
      return issues(
        to,
        open,
        closed.map((one) => ({ state: one.state, words: describeDueNotice(one) })),
      );
    }
    return this.#post(to, createContent(due, settings.page));
  }

  /** Sends a message. One with a key that may not have been delivered is as good as not delivered. */
  async #post(to: Webhook, content: Content): Promise<SendResult> {
    const { sender, clock } = this.#options;
    const result = await sender.send(messageTo(to, content, clock.now()));
    if (result.kind !== 'unknown' || FORMS[to.form].isKeyed !== true) return result;
    return { ...result, kind: 'not-taken', again: true, after: null };
  }

  async #conclude(
    turns: Turns,
    due: readonly Due[],
    result: SendResult,
    isPerson: boolean,
  ): Promise<void> {
    const { receiver } = turns;
    const now = this.#options.clock.monotonic();
    turns.recordResult(due, result, now);
    this.#reportOn(turns, result, due.length);
    // Issues can be updated again; that reveals their unknown state.
    if (result.kind !== 'sent' && !isPerson) return;
    const kept = result.kind === 'not-taken' ? 'failed' : result.kind;
    await Promise.all(due.map((one) => this.#keep(receiver, one, kept)));
  }

  async #alert(turns: Turns, to: Alertmanager): Promise<void> {
    const { watching, clock, settings, sender, journal } = this.#options;
    const { receiver } = turns;
    const now = clock.now();
    const states = watching.states();
    const { page } = settings;
    const all = alertsNow(receiver, states, journal, turns.sent, { page, now });
    const { taken, untaken, due } = all;
    const own = turns.news.alerts(watching.conditions.list(), {
      now,
      endsAt: now + LASTS,
      page,
    });
    const alerts = [...all.alerts, ...own.alerts];
    turns.sent = untaken;
    const news = turns.toSend(due, clock.monotonic());
    const isTime = clock.monotonic() >= turns.resendAt && clock.monotonic() >= turns.notBefore;
    if (news.length === 0 && (!isTime || alerts.length === 0)) {
      if (!own.isNews || clock.monotonic() < turns.notBefore) return;
    }
    const result = alerts.length === 0 ? SENT : await sender.send(postTo(to, alerts));
    turns.recordResult(news, result, clock.monotonic());
    this.#reportOn(turns, result, news.length);
    if (result.kind !== 'sent') return;
    turns.sent = taken;
    own.taken();
    turns.resendAt = clock.monotonic() + RESEND;
    await Promise.all(due.map((one) => this.#keep(receiver, one, 'sent')));
  }

  async #keep(
    { name }: Receiver,
    { state, event, digest }: Due,
    result: NoticeEvent['result'],
  ): Promise<void> {
    const kept: NoticeEvent = {
      kind: 'notice',
      environment: state.name,
      event,
      receiver: name,
      digest,
      result,
    };
    await this.#options.journal.record(kept);
  }

  #beat(): void {
    const { settings, watching, clock, sender } = this.#options;
    const { heartbeat } = settings;
    if (heartbeat === null || clock.monotonic() - this.#beatAt < heartbeat.every) return;
    if (!keepsWatch(watching, clock.now())) return;
    this.#beatAt = clock.monotonic();
    const url = String(heartbeat.url.reveal());
    this.#begin(
      sender.send({ method: 'GET', url, headers: {}, body: null }).then((result) => {
        if (result.kind !== 'sent')
          this.#warn(`The heartbeat was not delivered. ${result.problem}`);
      }),
    );
  }

  #reportOn({ receiver: { name } }: Turns, result: SendResult, count: number): void {
    const { conditions } = this.#options.watching;
    // Alerts are sent again without news: a failed try also counts.
    if (result.kind === 'sent') this.counts.add(name, 'sent', count);
    else this.counts.add(name, 'failed', Math.max(1, count));
    if (result.kind === 'sent') {
      conditions.set('receiver', null, name);
      return;
    }
    const notices = formatCount(count, 'notice');
    const became = result.kind === 'unknown' ? 'may not have taken' : 'did not take';
    conditions.set(
      'receiver',
      `The receiver ${name} ${became} ${notices}. ${result.problem}`,
      name,
    );
  }

  #warn(message: string): void {
    this.#options.report({ severity: 'warning', message });
  }
}

/** Returns the notices of each message: all of them, or one if each has its own key. */
function splitMessages<T>({ form }: Webhook | Issues, notices: readonly T[]): (readonly T[])[] {
  return FORMS[form].isKeyed === true ? notices.map((one) => [one]) : [notices];
}

const SENT: SendResult = { kind: 'sent' };

/** The delay of a read, in milliseconds, after which the controller no longer counts as watching. */
const LATE = 10 * 60_000;
const MOST_TURNS = 3;

/**
 * Reports whether the controller watches at a time, in milliseconds since 1970: its loop turns, no environment waits long for its read, and
 * its findings can be recorded and sent.
 */
export function keepsWatch(
  watching: Pick<Watching, 'health' | 'states' | 'conditions'>,
  now: number,
): boolean {
  const { turnedAt, turnsEvery } = watching.health;
  if (now - turnedAt > MOST_TURNS * turnsEvery || watching.conditions.areSilencing) return false;
  return watching
    .states()
    .every(({ nextRead }) => nextRead === null || now - Date.parse(nextRead) < LATE);
}
