import type { JournalRecord, WatchState } from '../../../reconciler/model/watch.ts';
import {
  type WatchStatus,
  needsAttention,
  countStatuses,
  verdictGravity,
} from '../../../reconciler/model/verdict.ts';
import { planAttention } from '../../../reconciler/model/summary.ts';
import type { EnvironmentPlan } from '../../../reconciler/model/plan.ts';
import {
  formatCount,
  formatUtcMinute,
  groupThousands,
  namesListed,
} from '../../../reconciler/model/wording.ts';
import { escapeJsonText, visible } from '../../../reconciler/render/text.ts';
import { STATE_WORDS } from '../../../reconciler/render/section.ts';
import { describeRecord, formatRecord } from '../../../reconciler/render/record-text.ts';
import { whatDiffers, whyNotHealed } from '../healing.ts';
import { ageText } from '../../../reconciler/render/change.ts';
import type { Watching } from '../watching.ts';

export type LogFormat = 'text' | 'json';

/** An entry of the log: it contains no value of a setting, masked or not. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * A record of the journal as a line for the log, line break included. Null for a record that is only stored: a notice that is about to be
 * sent.
 */
export function logLine(record: JournalRecord, format: LogFormat): string | null {
  const entry = createLogEntry(record);
  if (entry === null) return null;
  const { at, kind } = record;
  const environment = 'environment' in record ? record.environment : null;
  return entryLine({ at, kind, environment }, entry, format);
}

/** An entry as a line for the log, line break included. */
export function entryLine(
  {
    at,
    kind,
    environment,
  }: { readonly at: string; readonly kind: string; readonly environment: string | null },
  { level, message, details }: LogEntry,
  format: LogFormat,
): string {
  if (format === 'json') {
    const named = environment === null ? {} : { environment };
    return `${escapeJsonText(JSON.stringify({ at, level, kind, ...named, message, ...details }))}\n`;
  }
  const about = environment === null ? '' : `${environment}: `;
  return `${at} ${level.padEnd(5)} ${visible(`${about}${message}`)}\n`;
}

function createLogEntry(record: JournalRecord): LogEntry | null {
  if (record.kind === 'notice' && record.result === 'begun') return null;
  const message = formatRecord(describeRecord(record));
  return { level: findLevel(record), message, details: listDetails(record) };
}

function findLevel(record: JournalRecord): LogEntry['level'] {
  switch (record.kind) {
    case 'files':
      return record.problem === null ? 'info' : 'warn';
    case 'state':
      return LEVELS[record.status];
    case 'write':
      return DONE.has(record.outcome.status) ? 'info' : 'error';
    case 'healing-stopped':
      return 'error';
    case 'notice':
      return record.result === 'sent' ? 'info' : 'warn';
    default:
      return 'info';
  }
}

const DONE: ReadonlySet<string> = new Set(['applied', 'in-sync', 'not-empty']);

/** The facts of a record for programs, without a value of a setting. */
function listDetails(record: JournalRecord): LogEntry['details'] {
  switch (record.kind) {
    case 'state': {
      const { status, before, commit, plan } = record;
      return { status, before, commit, ...summarizePlan(plan) };
    }
    case 'write': {
      const { by, commit, actor, url, outcome } = record;
      const changes = outcome.changes.filter(({ result }) => result !== 'not-sent').length;
      const error = outcome.error?.code ?? null;
      return { by, status: outcome.status, changes, error, commit, actor, url };
    }
    case 'clock-set':
      return { seconds: Math.round(record.by / 1000) };
    case 'notice': {
      const { event, receiver, result } = record;
      return { event, receiver, result };
    }
    default: {
      const {
        v: _v,
        at: _at,
        kind: _kind,
        environment: _environment,
        ...details
      } = {
        environment: undefined,
        ...record,
      };
      return details;
    }
  }
}

const LEVELS: Readonly<Record<WatchStatus, LogEntry['level']>> = {
  'in-sync': 'info',
  suspended: 'info',
  'not-read': 'info',
  unknown: 'warn',
  pending: 'info',
  drift: 'warn',
  conflict: 'warn',
  refused: 'warn',
  error: 'error',
};

function summarizePlan(plan: EnvironmentPlan | null): Readonly<Record<string, unknown>> {
  if (plan === null) return {};
  const { changes, unknown, rules, error } = planAttention(plan);
  return { changes, unknown, rules, error: error?.code ?? null };
}

/** Creates the first entry of a controller, about the watched environments, before it has read anything. */
export function watchesEntry(
  states: readonly WatchState[],
  { files, data }: { readonly files: readonly string[]; readonly data: string },
): LogEntry {
  const healed = states.filter(({ settings }) => settings.mode === 'heal').length;
  const [count, detected] = [states.length, states.length - healed];
  const modes =
    healed === 0
      ? 'detect only'
      : detected === 0
        ? `${count === 1 ? 'it is' : 'all are'} healed`
        : `${groupThousands(healed)} healed, ${groupThousands(detected)} detect only`;
  const intervals = states.flatMap(({ settings: { interval } }) => interval ?? []);
  const [least, most] = [Math.min(...intervals), Math.max(...intervals)];
  const every =
    least === most ? ageText(least, ' ') : `${ageText(least, ' ')} to ${ageText(most, ' ')}`;
  const of = files.length === 0 ? '' : ` of ${namesListed(files)}`;
  const what = count === 0 ? 'nothing yet' : `${formatCount(count, 'environment')}${of}`;
  const how = count === 0 ? '' : ` (${modes}), each every ${every}`;
  return {
    level: 'info',
    message: `watching ${what}${how}; journal in ${data}`,
    details: { environments: count, heal: healed, files },
  };
}

/** Environments that are listed after the first round; the others are counted. */
const MOST_LISTED = 20;

/**
 * Calls `tell` once, when each environment that is watched at the first read has been read: with the findings, and each that is not as
 * declared, the worst first. A state that has begun since then has a line of its own, and is left out if nothing is to be added. The returned function ends the wait. After a read no more is done than for one environment, whatever their
 * number.
 */
export function afterFirstRound(
  watching: Pick<Watching, 'states' | 'state' | 'subscribe' | 'conditions'>,
  now: () => number,
  tell: (entry: LogEntry, environment: string | null) => void,
): () => void {
  let unread: Set<string> | null = null;
  const started = now();
  const end = watching.subscribe(({ name }, event) => {
    if (event.kind !== 'read') return;
    unread ??= new Set(watching.states().map((state) => state.name));
    unread.delete(name);
    // Environments that have left the files are not waited for.
    for (const one of unread) {
      if (watching.state(one) !== undefined) return;
      unread.delete(one);
    }
    end();
    const states = watching.states();
    tell(createFoundEntry(states), null);
    const others = states
      .filter(({ status }) => needsAttention(status))
      .map((state) => ({ state, why: whyNotHealed(state, watching.conditions.list(), now()) }))
      .filter(
        ({ state, why }) =>
          Date.parse(state.since) < started || (state.settings.mode === 'heal' && why !== null),
      )
      .toSorted(
        (one, other) => verdictGravity(other.state.status) - verdictGravity(one.state.status),
      );
    for (const { state, why } of others.slice(0, MOST_LISTED))
      tell(notInSyncEntry(state, why), state.name);
    const more = others.length - MOST_LISTED;
    if (more > 0)
      tell(
        {
          ...createFoundEntry(states),
          message: `and ${groupThousands(more)} more: setpoint status`,
        },
        null,
      );
  });
  return end;
}

function createFoundEntry(states: readonly WatchState[]): LogEntry {
  const counts = countStatuses(states);
  const parts = counts.map(([status, count]) => `${groupThousands(count)} ${STATE_WORDS[status]}`);
  return {
    level: 'info',
    message: `read ${formatCount(states.length, 'environment')}: ${parts.join(', ')}`,
    details: { statuses: Object.fromEntries(counts) },
  };
}

function notInSyncEntry(state: WatchState, why: string | null): LogEntry {
  const { status, since } = state;
  const what = whatDiffers(state);
  const parts = [
    `${STATE_WORDS[status]} since ${formatUtcMinute(since)}`,
    ...(what === '' ? [] : [what]),
  ];
  return {
    level: status === 'pending' ? 'info' : 'warn',
    message: `${parts.join(': ')}${why === null ? '' : ` (${why})`}`,
    details: { status, since, what, not_healed: why },
  };
}
