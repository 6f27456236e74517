import type { JournalRecord } from '../../../reconciler/model/watch.ts';
import { formatPath } from '../../../reconciler/model/path.ts';
import type { WatchStatus } from '../../../reconciler/model/verdict.ts';
import { planAttention } from '../../../reconciler/model/summary.ts';
import type { EnvironmentPlan } from '../../../reconciler/model/plan.ts';
import { counted } from '../../../reconciler/model/wording.ts';
import { escaped, visible } from '../../../reconciler/render/text.ts';
import { notCompared } from '../../../reconciler/render/wording.ts';
import { pathsInShort } from '../reasons.ts';

export type LogFormat = 'text' | 'json';

/** What is logged: no value of a setting is in it, masked or not. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A record of the journal as a line for the log, line break included. Null for what is only kept: a notice that is about to be sent. */
export function logLine(record: JournalRecord, format: LogFormat): string | null {
  const entry = entryOf(record);
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
    return `${escaped(JSON.stringify({ at, level, kind, ...named, message, ...details }))}\n`;
  }
  const about = environment === null ? '' : `${environment}: `;
  return `${at} ${level.padEnd(5)} ${visible(`${about}${message}`)}\n`;
}

function entryOf(record: JournalRecord): LogEntry | null {
  switch (record.kind) {
    case 'started':
    case 'stopped': {
      const { kind, version, reason } = record;
      const why = reason === undefined ? '' : `: ${reason}`;
      return info(`setpoint ${version} ${kind} watching${why}`, { version, reason });
    }
    case 'files': {
      const { commit, environments, problem } = record;
      const details = { commit, environments, problem };
      if (problem === null)
        return info(`read the files: ${counted(environments, 'environment')}`, details);
      const message = `the settings files cannot be used; the last good ones stay in force: ${problem}`;
      return { level: 'warn', message, details };
    }
    case 'state':
      return stateEntry(record);
    case 'writing': {
      const { paths, commit } = record;
      return info(`writing ${pathsInShort(paths)}`, { paths, commit });
    }
    case 'write': {
      const { by, commit, actor, url, outcome } = record;
      const { status, error } = outcome;
      const changed = outcome.changes.filter(({ result }) => result !== 'not-sent');
      const ended = status === 'applied' || status === 'in-sync' || status === 'not-empty';
      const names = changed.map(({ path }) => formatPath(path));
      const wrote = names.length === 0 ? 'nothing' : pathsInShort(names);
      const failed = error === null ? '' : `: ${error.message}`;
      return {
        level: ended ? 'info' : 'error',
        message: `${by === 'watch' ? 'wrote' : 'apply wrote'} ${wrote}: ${status}${failed}`,
        details: {
          by,
          status,
          changes: changed.length,
          error: error?.code ?? null,
          commit,
          actor,
          url,
        },
      };
    }
    case 'suspended': {
      const { reason, until, by } = record;
      const end = until === null ? 'until it is resumed' : `until ${until}`;
      const who = by === undefined ? '' : ` by ${by}`;
      return info(`suspended${who} ${end}: ${reason}`, {
        reason,
        until,
        ...(by === undefined ? {} : { by }),
      });
    }
    case 'resumed':
      return record.by === undefined
        ? info('resumed', {})
        : info(`resumed by ${record.by}`, { by: record.by });
    case 'clock-set': {
      const seconds = Math.round(record.by / 1000);
      return info(`the clock was set by ${seconds} s`, { seconds });
    }
    case 'healing-stopped': {
      const { path, reason } = record;
      return {
        level: 'error',
        message: `healing stopped at ${path}: ${reason}`,
        details: { path, reason },
      };
    }
    case 'notice': {
      const { event, receiver, result } = record;
      if (result === 'begun') return null;
      const details = { event, receiver, result };
      if (result === 'sent') return info(`told ${receiver}: ${event}`, details);
      return { level: 'warn', message: `could not tell ${receiver}: ${event}`, details };
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

function stateEntry({
  status,
  before,
  commit,
  plan,
}: JournalRecord & { readonly kind: 'state' }): LogEntry {
  const details = { status, before, commit, ...found(plan) };
  const what = plan === null ? '' : inWords(plan);
  const was = before === 'not-read' ? '' : `, was ${before}`;
  return { level: LEVELS[status], message: `${status}${was}${what}`, details };
}

function found(plan: EnvironmentPlan | null): Readonly<Record<string, unknown>> {
  if (plan === null) return {};
  const { changes, unknown, rules, error } = planAttention(plan);
  return { changes, unknown, rules, error: error?.code ?? null };
}

function inWords(plan: EnvironmentPlan): string {
  const attention = planAttention(plan);
  if (attention.error !== null) return `: ${attention.error.message}`;
  const names = plan.changes.map(({ path }) => formatPath(path));
  const parts = [
    ...(names.length === 0 ? [] : [pathsInShort(names)]),
    ...(attention.unknown === 0 ? [] : [notCompared(attention.unknown)]),
    ...(attention.rules.length === 0 ? [] : [`refused by ${attention.rules.join(', ')}`]),
  ];
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

function info(message: string, details: LogEntry['details']): LogEntry {
  return { level: 'info', message, details };
}
