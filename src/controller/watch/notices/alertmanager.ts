import { visible } from '../../../reconciler/render/visible.ts';
import type { NoticeKind, WatchState } from '../../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../../reconciler/model/verdict.ts';
import { troubleOf, type Due } from './decide.ts';
import type { Item } from './message.ts';

/** An alert as version 2 of the API of Alertmanager takes it. Times are RFC 3339. */
export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
}

/** The names are those of the rules in examples/prometheus. */
const NAMES: Readonly<Partial<Record<WatchStatus, string>>> = {
  unknown: 'SetpointUnknown',
  pending: 'SetpointPending',
  drift: 'SetpointDrift',
  conflict: 'SetpointConflict',
  refused: 'SetpointRefused',
  error: 'SetpointFailing',
};

const OF_TROUBLE: Readonly<Partial<Record<NoticeKind, string>>> = {
  'healing-stopped': 'SetpointHealingStopped',
  'heal-failed': 'SetpointHealFails',
  'write-refused': 'SetpointWritesFail',
};

/** An alert that fires until `endsAt` unless it is sent again before. */
export function alertOf(
  { name, words, details, link }: Item,
  { state, event }: Due,
  endsAt: number,
): Alert {
  const since = event in OF_TROUBLE ? (troubleOf(state)?.since ?? state.since) : state.since;
  return {
    labels: labelsOf(state, OF_TROUBLE[event] ?? NAMES[state.found] ?? 'Setpoint'),
    annotations: {
      summary: visible(`${name} ${words}`),
      ...(details.length === 0 ? {} : { description: details.map(visible).join('\n') }),
    },
    startsAt: since,
    endsAt: new Date(endsAt).toISOString(),
    ...(link === null ? {} : { generatorURL: link }),
  };
}

/** Which alert a status is; the same labels are the same alert for Alertmanager. */
function labelsOf(
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
