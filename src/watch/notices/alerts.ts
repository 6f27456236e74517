import type { WatchState } from '../../model/watch.ts';
import { alertOf, type Alert } from './alertmanager.ts';
import { concerns, decide, type Due } from './decide.ts';
import { messageOf } from './message.ts';
import type { Receiver } from './receiver.ts';
import type { NoticeJournal } from './told.ts';

/** How often alerts that fire are sent again, in milliseconds: Alertmanager forgets those that are not. */
export const RESEND = 60_000;
/** How long an alert fires if nobody sends it again: as Prometheus does it, four times that. */
const LASTS = 4 * RESEND;

/** What Alertmanager was sent of an environment. */
interface Sent {
  /** What fires there. */
  readonly firing: Alert | null;
  /** What fired there and is over, as long as it has not taken that. */
  readonly over: readonly Alert[];
}
/** By environment. */
export type SentAlerts = ReadonlyMap<string, Sent>;

/** What Alertmanager is sent now: every alert that fires, and the ends of those that do not any more. */
export interface AlertsNow {
  readonly alerts: readonly Alert[];
  /** What it was sent if it takes them, and if it does not or nothing is sent: what is over by now is over in both. */
  readonly taken: SentAlerts;
  readonly untaken: SentAlerts;
  /** Those that are news. */
  readonly due: readonly Due[];
}

const NOTHING: Sent = { firing: null, over: [] };

/**
 * The alerts of a receiver at a time in milliseconds since 1970. Alerts are states, not messages: Alertmanager knows by the labels that one is the
 * same, so that sending it again tells nobody twice. Those of environments that are suspended, or that another controller reads, are left to expire.
 * Of one whose state is not recorded yet, what was sent last is sent again.
 */
export function alertsNow(
  receiver: Receiver,
  states: readonly WatchState[],
  { told, isRecorded }: Pick<NoticeJournal, 'told' | 'isRecorded'>,
  before: SentAlerts,
  page: string | null,
  now: number,
): AlertsNow {
  const recorded = states.filter(({ name }) => isRecorded(name));
  const due = decide(receiver, recorded, told, now);
  const known = new Set(recorded.map(({ name }) => name));
  const news = new Set(due.map(({ state }) => state.name));
  const alerts: Alert[] = [];
  const taken = new Map<string, Sent>();
  const untaken = new Map<string, Sent>();
  for (const state of states) {
    if (!concerns(receiver, state)) continue;
    const { name, found, suspended, heldBy, nextRead } = state;
    const former = before.get(name) ?? NOTHING;
    if (former !== NOTHING) untaken.set(name, former);
    if (suspended !== null || heldBy !== null || nextRead === null) continue;
    const { difference, failing } = told.of(receiver.name, name);
    const open = found === 'error' ? failing : difference;
    const isOpen = receiver.statuses.has(found) && (open !== null || news.has(name));
    const fires = known.has(name) && isOpen;
    // Whether it still differs is not known while it cannot be read.
    const goesOn = found === 'error' || !known.has(name);
    const firing = fires ? made(state, page, now) : goesOn ? former.firing : null;
    const isOver = former.firing !== null && !isSame(former.firing, firing);
    const over = isOver ? [...former.over, former.firing] : former.over;
    if (isOver) untaken.set(name, { firing: null, over });
    for (const one of over) if (!isSame(one, firing)) alerts.push({ ...one, endsAt: iso(now) });
    if (firing === null) continue;
    alerts.push({ ...firing, endsAt: iso(now + LASTS) });
    taken.set(name, { firing, over: [] });
  }
  return { alerts, taken, untaken, due };
}

function made(state: WatchState, page: string | null, now: number): Alert {
  const event = state.found === 'error' ? 'failing' : 'opened';
  const [item] = messageOf([{ state, event, digest: state.digest }], page).items;
  if (item === undefined) throw new TypeError('A message has an item for each notice.');
  return alertOf(item, now + LASTS);
}

function isSame(one: Alert, other: Alert | null): boolean {
  return JSON.stringify(one.labels) === JSON.stringify(other?.labels);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
