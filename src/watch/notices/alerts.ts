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

/** What Alertmanager is sent now: every alert that fires, and the ends of those that do not any more. */
export interface AlertsNow {
  readonly alerts: readonly Alert[];
  /** The alerts that fire, by environment: `before` of the next time. */
  readonly firing: ReadonlyMap<string, Alert>;
  /** Those that are news. */
  readonly due: readonly Due[];
}

/**
 * The alerts of a receiver at a time in milliseconds since 1970. Alerts are states, not messages: Alertmanager knows by the labels that one is the
 * same, so that sending it again tells nobody twice. Those of environments that are suspended, or that another controller reads, are left to expire.
 * Of one whose state is not recorded yet, what was sent last is sent again.
 */
export function alertsNow(
  receiver: Receiver,
  states: readonly WatchState[],
  { told, isRecorded }: Pick<NoticeJournal, 'told' | 'isRecorded'>,
  before: ReadonlyMap<string, Alert>,
  page: string | null,
  now: number,
): AlertsNow {
  const recorded = states.filter(({ name }) => isRecorded(name));
  const due = decide(receiver, recorded, told, now);
  const known = new Set(recorded.map(({ name }) => name));
  const news = new Set(due.map(({ state }) => state.name));
  const firing = new Map<string, Alert>();
  const ended: Alert[] = [];
  for (const state of states) {
    if (!concerns(receiver, state)) continue;
    const { name, found, suspended, heldBy, nextRead } = state;
    if (suspended !== null || heldBy !== null || nextRead === null) continue;
    const former = before.get(name);
    const { difference, failing } = told.of(receiver.name, name);
    const open = found === 'error' ? failing : difference;
    const isOpen = receiver.statuses.has(found) && (open !== null || news.has(name));
    const fires = known.has(name) && isOpen;
    if (fires) firing.set(name, made(state, page, now));
    // Whether it still differs is not known while it cannot be read.
    else if ((found === 'error' || !known.has(name)) && former !== undefined)
      firing.set(name, { ...former, endsAt: iso(now + LASTS) });
    const next = firing.get(name);
    if (former !== undefined && (next === undefined || !isSame(former, next)))
      ended.push({ ...former, endsAt: iso(now) });
  }
  return { alerts: [...ended, ...firing.values()], firing, due };
}

function made(state: WatchState, page: string | null, now: number): Alert {
  const event = state.found === 'error' ? 'failing' : 'opened';
  return alertFor({ state, event, digest: state.digest }, page, now + LASTS);
}

function alertFor(due: Due, page: string | null, endsAt: number): Alert {
  const [item] = messageOf([due], page).items;
  if (item === undefined) throw new TypeError('A message has an item for each notice.');
  return alertOf(item, endsAt);
}

function isSame(one: Alert, other: Alert): boolean {
  return JSON.stringify(one.labels) === JSON.stringify(other.labels);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
