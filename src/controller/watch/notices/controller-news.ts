import { hostname } from 'node:os';
import type { Condition, ConditionKind } from '../../../reconciler/model/watch.ts';
import { formatCount } from '../../../reconciler/model/wording.ts';
import { visible } from '../../../reconciler/render/text.ts';
import { overText } from '../conditions.ts';
import type { Alert } from './alerts.ts';
import type { Content } from './message.ts';
import type { Receiver } from './receiver.ts';
import type { Message } from './template.ts';

/** Reports a problem of the controller itself, or its end. */
export interface News {
  readonly condition: Condition;
  readonly holds: boolean;
}

/** The time that a problem lasts before it is notified, in milliseconds. A receiver is tried again first. */
const LASTS = 10_000;
const RECEIVER_LASTS = 120_000;

/**
 * The notices of one receiver about the controller itself. They are stored in memory only, because the journal may be the problem: after a
 * restart the notices about lasting problems are sent again.
 */
export class ControllerNews {
  readonly #receiver: Receiver;
  readonly #notified = new Map<string, Condition>();
  /** The alerts that Alertmanager was sent last. */
  #firing: ReadonlyMap<string, Alert> = new Map();

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Returns the news that the receiver has not had yet, at a time in milliseconds since 1970. */
  due(conditions: readonly Condition[], now: number): readonly News[] {
    const held = new Map(this.#concerning(conditions).map((one) => [conditionKey(one), one]));
    const begun = [...held.values()].filter(
      (one) => !this.#notified.has(conditionKey(one)) && hasLasted(one, now),
    );
    const over = [...this.#notified.values()].filter((one) => !held.has(conditionKey(one)));
    return [
      ...begun.map((condition) => ({ condition, holds: true })),
      ...over.map((condition) => ({ condition, holds: false })),
    ];
  }

  /** Marks news as sent; with `undo`, as not sent. */
  markNotified(news: readonly News[], { undo = false } = {}): void {
    for (const { condition, holds } of news)
      if (holds === undo) this.#notified.delete(conditionKey(condition));
      else this.#notified.set(conditionKey(condition), condition);
  }

  /** The alerts at a time: those that fire until `endsAt`, and the ends of those that Alertmanager knows. `isNews`: they are others than before. */
  alerts(
    conditions: readonly Condition[],
    {
      now,
      endsAt,
      page,
    }: { readonly now: number; readonly endsAt: number; readonly page: string | null },
  ): { readonly alerts: readonly Alert[]; readonly isNews: boolean; readonly taken: () => void } {
    const lasting = this.#concerning(conditions).filter((one) => hasLasted(one, now));
    const firing = new Map(
      lasting.map((one) => [conditionKey(one), createConditionAlert(one, endsAt, page)]),
    );
    const over = [...this.#firing].filter(([key]) => !firing.has(key));
    const ended = over.map(([, one]) => ({ ...one, endsAt: new Date(now).toISOString() }));
    return {
      alerts: [...firing.values(), ...ended],
      isNews: over.length > 0 || [...firing.keys()].some((key) => !this.#firing.has(key)),
      taken: () => {
        this.#firing = firing;
      },
    };
  }

  #concerning(conditions: readonly Condition[]): readonly Condition[] {
    const { name, events } = this.#receiver;
    return events.has('controller') ? conditions.filter(({ receiver }) => receiver !== name) : [];
  }
}

function conditionKey({ kind, receiver }: Condition): string {
  return `${kind} ${receiver ?? ''}`;
}

function hasLasted({ kind, since }: Condition, now: number): boolean {
  return now - Date.parse(since) >= (kind === 'receiver' ? RECEIVER_LASTS : LASTS);
}

const WORDS = { begun: 'reports a problem with itself', over: 'reports the end of a problem' };

/** News in the form that a receiver gets. */
export function newsContent(news: readonly News[], page: string | null): Content {
  return {
    message: () => newsMessage(news, page),
    notices: () => news.map((one) => jsonNews(one, page)),
  };
}

function newsMessage(news: readonly News[], page: string | null): Message {
  const name = controllerName();
  const link = page === null ? null : `${page}/`;
  const items = news.map(({ condition, holds }) => ({
    name,
    words: holds ? WORDS.begun : WORDS.over,
    details: [newsText({ condition, holds })],
    link,
    isOver: !holds,
    key: `${name}: ${conditionKey(condition)}`,
    severity: conditionSeverity(condition),
  }));
  const title = `${name}: ${formatCount(news.length, 'message')} about itself`;
  return { title: news.length === 1 ? '' : title, items, more: 0, link };
}

function jsonNews({ condition, holds }: News, page: string | null): unknown {
  const { kind, receiver, since } = condition;
  const link = page === null ? null : `${page}/`;
  const summary = newsText({ condition, holds });
  const about = { environment: null, controller: hostname(), kind, receiver };
  return { event: 'controller', ...about, holds, since, summary, link };
}

function newsText({ condition: { kind, receiver, message }, holds }: News): string {
  return holds ? message : overText(kind, receiver ?? '');
}

function controllerName(): string {
  return `setpoint watch on ${hostname()}`;
}

const SEVERITIES: Readonly<Partial<Record<ConditionKind, 'warning'>>> = {
  files: 'warning',
  git: 'warning',
  reads: 'warning',
  page: 'warning',
  receiver: 'warning',
};

function conditionSeverity({ kind }: Condition): 'warning' | 'critical' {
  return SEVERITIES[kind] ?? 'critical';
}

/** The name is that of the rule in examples/prometheus. */
function createConditionAlert(condition: Condition, endsAt: number, page: string | null): Alert {
  const { kind, receiver, message, since } = condition;
  return {
    labels: {
      alertname: 'SetpointControllerProblem',
      controller: hostname(),
      kind,
      ...(receiver === null ? {} : { receiver }),
      severity: conditionSeverity(condition),
    },
    annotations: {
      summary: visible(`${controllerName()} ${WORDS.begun}`),
      description: visible(message),
    },
    startsAt: since,
    endsAt: new Date(endsAt).toISOString(),
    ...(page === null ? {} : { generatorURL: `${page}/` }),
  };
}
