import { stat } from 'node:fs/promises';
import { SetpointError } from '../../../reconciler/model/error.ts';
import { matches } from '../../../reconciler/model/glob.ts';
import { isWithin, parsePath, type Path } from '../../../reconciler/model/path.ts';
import { FORMAT_VERSION } from '../../../reconciler/model/plan.ts';
import { TOOL } from '../../../reconciler/model/version.ts';
import type { HistoryDocument, JournalRecord } from '../../../reconciler/model/watch.ts';
import { historyRows } from '../../../reconciler/render/history-rows.ts';
import { Journal } from './journal.ts';

/** What is asked of a journal, environments by names or patterns; null is any environment, any path. */
export interface HistoryRequest {
  readonly data: string;
  readonly environments: readonly string[] | null;
  readonly path: Path | null;
  readonly limit: number;
}

const SEVERAL = 4;

/** The records of the latest rows of a journal, and perhaps more. Throws file-unreadable if there is none. */
export async function history(request: HistoryRequest): Promise<HistoryDocument> {
  const { data, environments, path, limit } = request;
  const folder = await stat(data).catch(() => null);
  if (folder?.isDirectory() !== true) {
    throw new SetpointError('file-unreadable', `There is no journal in ${data}.`, {
      hint: 'Name the folder of setpoint watch, or of apply --journal, with --data.',
    });
  }
  const journal = new Journal(data, Date.now);
  const isAskedFor = (record: JournalRecord): boolean =>
    (environments === null ||
      ('environment' in record && matches(record.environment, environments))) &&
    (path === null || isAboutPath(record, path));
  let records: readonly JournalRecord[];
  let count = SEVERAL * limit;
  // Several records may be one row, which is whole once there is another; one that began is none once it is known how it ended.
  for (; ; count *= SEVERAL) {
    records = await journal.history(isAskedFor, count);
    if (records.length < count || historyRows(records).length > limit) break;
  }
  return { format_version: FORMAT_VERSION, kind: 'history', tool: TOOL, path, records };
}

export function isAboutPath(record: JournalRecord, path: Path): boolean {
  return recordPaths(record).some((one) => isWithin(one, path));
}

function recordPaths(record: JournalRecord): readonly Path[] {
  switch (record.kind) {
    case 'state':
      return (record.plan?.changes ?? []).map((change) => change.path);
    case 'write':
      return record.outcome.changes.map((change) => change.path);
    case 'writing':
      return record.paths.flatMap((text) => [parsePath(text) ?? []]);
    case 'healing-stopped':
      return [parsePath(record.path) ?? []];
    default:
      return [];
  }
}
