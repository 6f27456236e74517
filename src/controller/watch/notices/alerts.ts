import {
  ALERT_OF_STATUS,
  ALERT_OF_TROUBLE,
  hasRunbook,
} from '../../../reconciler/model/alert-names.ts';
import type { NoticeKind, WatchState } from '../../../reconciler/model/watch.ts';
import { visible } from '../../../reconciler/render/text.ts';
import { isFlapping } from '../flapping.ts';
import { concerns, decide, findHealTrouble, type Due } from './decide.ts';
import { createMessage } from './message.ts';
import type { Receiver } from './receiver.ts';
import type { Item } from './template.ts';
import type { NoticeJournal } from './notified-states.ts';

/** An alert as version 2 of the API of Alertmanager takes it. Times are RFC 3339. */
export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
}

/** The interval for sending firing alerts again, in milliseconds: Alertmanager forgets the others. */
export const RESEND = 60_000;
/** The time that an alert fires without being sent again: as in Prometheus, four times that. */
export const LASTS = 4 * RESEND;

/** The alerts of an environment that Alertmanager was sent. */
interface SentAlertState {
  /** The alerts that fire there: one for the found state, and one for a problem with healing. */
  readonly firing: readonly Alert[];
  /** The alerts that are over, until Alertmanager has accepted that. */
  readonly over: readonly Alert[];
}
/** By environment. */
export type SentAlerts = ReadonlyMap<string, SentAlertState>;

/** The alerts to send to Alertmanager now: every alert that fires, and the ends of those that no longer do. */
export interface AlertsNow {
  readonly alerts: readonly Alert[];
  /** The sent alerts if it accepts them, and if it does not or nothing is sent: ended alerts are over in both. */
  readonly taken: SentAlerts;
  readonly untaken: SentAlerts;
  /** The alerts that are news. */
  readonly due: readonly Due[];
}

const NONE_SENT: SentAlertState = { firing: [], over: [] };

/**
 * The alerts of a receiver at a time in milliseconds since 1970. Alerts are states, not messages: Alertmanager recognizes the same alert by
 * its labels, so sending it again does not notify twice. Alerts of suspended environments, or those that another controller reads, are left
 * to expire. If the state of an environment is not recorded yet, the last sent alerts are sent again.
 */
export function alertsNow(
  receiver: Receiver,
  states: readonly WatchState[],
  {
    notified,
    isRecorded,
    findDeparted,
  }: Pick<NoticeJournal, 'notified' | 'isRecorded' | 'findDeparted'>,
  before: SentAlerts,
  { page, now }: { readonly page: string | null; readonly now: number },
): AlertsNow {
  const watched = new Set(states.map(({ name }) => name));
  const recorded = states.filter(({ name }) => isRecorded(name));
  const due = decide(receiver, recorded, notified, now, findDeparted);
  const known = new Set(recorded.map(({ name }) => name));
  const news = new Set(due.map(({ state }) => state.name));
  const alerts: Alert[] = [];
  const taken = new Map<string, SentAlertState>();
  const untaken = new Map<string, SentAlertState>();
  /** Takes the firing alerts of an environment: earlier ones that are missing from them are over. */
  const take = (name: string, former: SentAlertState, firing: readonly Alert[]): void => {
    const ended = former.firing.filter((one) => !isAmong(firing, one));
    const over = [...former.over, ...ended];
    if (ended.length > 0) {
      const left = former.firing.filter((one) => isAmong(firing, one));
      untaken.set(name, { firing: left, over });
    }
    for (const one of over)
      if (!isAmong(firing, one)) alerts.push({ ...one, endsAt: formatIsoTime(now) });
    for (const one of firing) alerts.push({ ...one, endsAt: formatIsoTime(now + LASTS) });
    if (firing.length > 0) taken.set(name, { firing, over: [] });
  };
  for (const [name, former] of before) {
    untaken.set(name, former);
    if (watched.has(name)) continue;
    if (findDeparted(name) === null) taken.set(name, former);
    else take(name, former, []);
  }
  for (const state of states) {
    const { name, found, suspended, heldBy, nextRead } = state;
    const former = before.get(name) ?? NONE_SENT;
    if (suspended !== null || heldBy !== null || nextRead === null) continue;
    if (!concerns(receiver, state)) {
      take(name, former, []);
      continue;
    }
    const { difference, failing } = notified.of(receiver.name, name);
    const open = found === 'error' ? failing : difference;
    const isNotified = open !== null || news.has(name);
    // While it cannot be read, it is unknown whether it still differs.
    const goesOn = found === 'error' || !known.has(name) || isFlapping(state, now);
    const isOpen = isNotified && receiver.statuses.has(found);
    const firing = known.has(name)
      ? createAlerts(receiver, state, { isOpen, isNotified }, page, now)
      : [];
    take(name, former, firing.length === 0 && goesOn ? former.firing : firing);
  }
  return { alerts, taken, untaken, due };
}

/** The alerts of an environment: one of its state if that is open, and one of what is wrong with healing it. */
function createAlerts(
  { events }: Receiver,
  state: WatchState,
  { isOpen, isNotified }: { readonly isOpen: boolean; readonly isNotified: boolean },
  page: string | null,
  now: number,
): readonly Alert[] {
  const trouble = findHealTrouble(state);
  const kinds: NoticeKind[] = [
    ...(isOpen ? [state.found === 'error' ? ('failing' as const) : ('opened' as const)] : []),
    ...(isNotified && trouble !== null && events.has(trouble.event) ? [trouble.event] : []),
  ];
  return kinds.flatMap((event) => {
    const track = event === 'failing' ? event : 'difference';
    const due: Due = { state, event, track, digest: state.digest, end: null };
    return createMessage([due], page).items.map((item) =>
      createAlert(item, due, page, now + LASTS),
    );
  });
}

function isAmong(alerts: readonly Alert[], one: Alert): boolean {
  return alerts.some(({ labels }) => JSON.stringify(labels) === JSON.stringify(one.labels));
}

function formatIsoTime(at: number): string {
  return new Date(at).toISOString();
}

/** An alert that fires until `endsAt` unless it is sent again before. */
function createAlert(
  { name, words, details, link }: Item,
  { state, event }: Due,
  page: string | null,
  endsAt: number,
): Alert {
  const since =
    event in ALERT_OF_TROUBLE ? (findHealTrouble(state)?.since ?? state.since) : state.since;
  const alertname = ALERT_OF_TROUBLE[event] ?? ALERT_OF_STATUS[state.found] ?? 'Setpoint';
  return {
    labels: alertLabels(state, alertname),
    annotations: {
      summary: visible(`${name} ${words}`),
      ...(details.length === 0 ? {} : { description: details.map(visible).join('\n') }),
      ...(page === null || !hasRunbook(alertname)
        ? {}
        : { runbook_url: `${page}/runbooks/${alertname}` }),
    },
    startsAt: since,
    endsAt: new Date(endsAt).toISOString(),
    ...(link === null ? {} : { generatorURL: link }),
  };
}

/** Which alert a status is; the same labels are the same alert for Alertmanager. */
function alertLabels(
  { name, found, labels }: WatchState,
  alertname: string,
): Readonly<Record<string, string>> {
  const own = Object.entries(labels).map(([key, value]) => [
    `label_${key.replaceAll(/[^A-Za-z0-9_]/g, '_')}`,
    value,
  ]);
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    alertname,
    environment: name,
    severity: found === 'error' ? 'critical' : 'warning',
  };
}
