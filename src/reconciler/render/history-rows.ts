import type { Path } from '../model/path.ts';
import type { Change } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import type { JournalRecord, NoticeEvent } from '../model/watch.ts';

/** One row of a history: a record, or the notices of one state that receivers were sent. */
export type HistoryRow =
  | { readonly kind: 'record'; readonly record: ShownRecord }
  | { readonly kind: 'notices'; readonly at: string; readonly notices: readonly Notice[] };

/** A record that is a row of its own. */
export type ShownRecord = Exclude<JournalRecord, { readonly kind: 'notice' }>;

type Notice = JournalRecord & NoticeEvent;

/**
 * The rows of records, both the latest first. Something that began is left out if it is known how it ended. Notices of one state with one
 * result are one row, at the time of the latest.
 */
export function historyRows(records: readonly JournalRecord[]): readonly HistoryRow[] {
  const rows: HistoryRow[] = [];
  /** By environment: the rows of notices to which no other record has put an end yet. */
  const open = new Map<string, Map<string, Notice[]>>();
  for (const [index, record] of records.entries()) {
    if (isConcluded(record, records.slice(0, index))) continue;
    if (record.kind !== 'notice') {
      if ('environment' in record) open.delete(record.environment);
      rows.push({ kind: 'record', record });
      continue;
    }
    const { environment, event, digest, result, receiver } = record;
    const ofEnvironment = open.get(environment) ?? new Map<string, Notice[]>();
    open.set(environment, ofEnvironment);
    const key = JSON.stringify([event, digest, result]);
    const notices = ofEnvironment.get(key);
    if (notices !== undefined && notices.every((one) => one.receiver !== receiver)) {
      notices.push(record);
      continue;
    }
    const first = [record];
    ofEnvironment.set(key, first);
    rows.push({ kind: 'notices', at: record.at, notices: first });
  }
  return rows;
}

/** Reports whether a later record concludes what began with this one. */
function isConcluded(record: JournalRecord, later: readonly JournalRecord[]): boolean {
  if (record.kind === 'writing') {
    const next = later.findLast(
      (other) =>
        (other.kind === 'writing' || (other.kind === 'write' && other.by === 'watch')) &&
        other.environment === record.environment,
    );
    return next?.kind === 'write';
  }
  if (record.kind !== 'notice' || record.result !== 'begun') return false;
  return later.some(
    (other) =>
      other.kind === 'notice' &&
      other.result !== 'begun' &&
      other.environment === record.environment &&
      other.receiver === record.receiver &&
      other.event === record.event &&
      other.digest === record.digest,
  );
}

/** The paths by which a change is found: what got another name has two. */
export function changePaths({ action, path, before }: Change<Json>): readonly Path[] {
  const [block = ''] = path;
  return action === 'rename' && typeof before === 'string' ? [path, [block, before]] : [path];
}
