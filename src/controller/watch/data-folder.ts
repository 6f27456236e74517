import { usageError, SetpointError } from '../../reconciler/model/error.ts';
import { globMatcher, isGlobMatch } from '../../reconciler/model/matcher.ts';
import { choicesHint, namesListed } from '../../reconciler/model/wording.ts';
import { applyFact } from './environment-state.ts';
import { Journal } from './journal/journal.ts';
import { SuspensionFile } from './suspension-file.ts';
import { stat } from 'node:fs/promises';
import { isWithin, parsePath, type Path } from '../../reconciler/model/path.ts';
import { FORMAT_VERSION } from '../../reconciler/model/plan.ts';
import { TOOL } from '../../reconciler/model/version.ts';
import type { HistoryDocument, JournalRecord, WatchState } from '../../reconciler/model/watch.ts';
import { changePaths, historyRows } from '../../reconciler/render/history-rows.ts';

/** The environments that the user named with -e. */
export interface Chosen {
  readonly names: readonly string[];
  /** Names that the data folder does not have: they may be misspelled, or not have been read yet. */
  readonly unknown: readonly string[];
  /** True if the folder knows no environment. */
  readonly isFolderEmpty: boolean;
  /** The remedy for them. */
  readonly hint: string;
  /** The names of environments that are suspended, or in which healing has stopped. */
  readonly resumable: readonly string[];
}

/**
 * The environments of a controller's data folder that names and patterns such as `prod-*` match. A name is used unchanged, even if the
 * folder does not know it. Throws a usage error for a pattern without a match.
 */
export async function selectEnvironmentNames(
  data: string,
  asked: readonly string[],
): Promise<Chosen> {
  const held = await readEnvironmentNames(data);
  const known = [...held.keys()].toSorted();
  const names = asked.flatMap((name) => {
    if (!name.includes('*')) return [name];
    const found = known.filter(globMatcher(name));
    if (found.length > 0) return found;
    throw usageError(
      `No environment in ${data} matches "${name}".`,
      known.length === 0 ? NOTHING : choicesHint(name, known),
    );
  });
  const unknown = names.filter((name) => !held.has(name));
  const [first = ''] = unknown;
  const isFolderEmpty = known.length === 0;
  const hint = isFolderEmpty ? NOTHING : choicesHint(first, known);
  const all = [...new Set(names)];
  return {
    names: all,
    unknown,
    isFolderEmpty,
    hint,
    resumable: all.filter((name) => held.get(name) === true),
  };
}

/**
 * Returns the same names for a command that changes them. Throws a usage error for a name that is unknown where others are known, unless
 * it is forced.
 */
export async function namesToChange(
  data: string,
  asked: readonly string[],
  { force, also }: { readonly force: boolean; readonly also: string },
): Promise<Chosen> {
  const chosen = await selectEnvironmentNames(data, asked);
  const { unknown, isFolderEmpty, hint } = chosen;
  if (unknown.length === 0 || isFolderEmpty || force) return chosen;
  throw usageError(
    `No controller of ${data} has read ${namesListed(unknown)}.`,
    `${hint}${also} Nothing was changed.`,
  );
}

const NOTHING = 'The folder knows no environment. Name the folder of the controller with --data.';

/** The environments that were read, written or suspended, and whether each is suspended or healing has stopped in it. */
async function readEnvironmentNames(data: string): Promise<ReadonlyMap<string, boolean>> {
  const { memory } = await new Journal(data, Date.now).remember();
  const suspensions = new SuspensionFile(data);
  await suspensions.refresh();
  const known = new Map<string, boolean>();
  for (const { name, lastRead, lastApply, stopped } of memory.environments.values())
    if (lastRead !== null || lastApply !== null) known.set(name, stopped !== null);
  for (const name of suspensions.names)
    known.set(name, known.get(name) === true || suspensions.of(name, Date.now()) !== null);
  return known;
}

/** A query of a journal, with environments by names or patterns; null is any environment, any path. */
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
  await requireFolder(data);
  const journal = new Journal(data, Date.now);
  const isAskedFor = (record: JournalRecord): boolean =>
    (environments === null ||
      ('environment' in record && isGlobMatch(record.environment, environments))) &&
    (path === null || isAboutPath(record, path));
  let records: readonly JournalRecord[];
  let count = SEVERAL * limit;
  // Several records may be one row, which is complete once another follows; a record of a beginning is not a row once its end is known.
  for (; ; count *= SEVERAL) {
    records = await journal.history(isAskedFor, count);
    if (records.length < count || historyRows(records).length > limit) break;
  }
  return { format_version: FORMAT_VERSION, kind: 'history', tool: TOOL, path, records };
}

async function requireFolder(data: string, also = ''): Promise<void> {
  const folder = await stat(data).catch(() => null);
  if (folder?.isDirectory() === true) return;
  throw new SetpointError('file-unreadable', `No journal found in ${data}.`, {
    hint: `Name the folder of setpoint watch, or of apply --journal, with --data.${also}`,
  });
}

/**
 * The records of the journal of a data folder for each environment that was read or written, and who is suspended at a time, in
 * milliseconds since 1970. Throws file-unreadable if there is none.
 */
export async function readRememberedStates(
  data: string,
  now: number,
): Promise<readonly WatchState[]> {
  await requireFolder(data, ' setpoint drift asks the services themselves.');
  const { memory } = await new Journal(data, () => now).remember();
  const suspensions = new SuspensionFile(data);
  await suspensions.refresh();
  return [...memory.environments.values()]
    .filter(({ lastRead, lastApply }) => lastRead !== null || lastApply !== null)
    .map((state) => applyFact(state, { kind: 'set', suspended: suspensions.of(state.name, now) }));
}

export function isAboutPath(record: JournalRecord, path: Path): boolean {
  return recordPaths(record).some((one) => isWithin(one, path));
}

function recordPaths(record: JournalRecord): readonly Path[] {
  switch (record.kind) {
    case 'state':
      return (record.plan?.changes ?? []).flatMap(changePaths);
    case 'write':
      return record.outcome.changes.flatMap(changePaths);
    case 'writing':
      return record.paths.flatMap((text) => [parsePath(text) ?? []]);
    case 'healing-stopped':
      return [parsePath(record.path) ?? []];
    default:
      return [];
  }
}
