import { formatPath, isWithin, type Path } from '../model/path.ts';
import type { HistoryDocument, JournalRecord, StateEvent, WriteEvent } from '../model/watch.ts';
import { counted } from '../model/wording.ts';
import { paint, type Style } from './style.ts';
import { inlineValue } from './values.ts';
import { visible } from './visible.ts';

/** The records of a journal, the latest first: what was found or written, between which reads, and the former values. */
export function historyText({ records, path }: HistoryDocument, style: Style): string {
  if (records.length === 0) return 'Nothing is recorded.\n';
  return records
    .filter(isShown)
    .map((record) => `${recordLines(record, path, style).join('\n')}\n`)
    .join('\n');
}

/** What was about to be written is shown only if nothing says what became of it. */
function isShown(record: JournalRecord, index: number, all: readonly JournalRecord[]): boolean {
  if (record.kind !== 'writing') return true;
  const next = all
    .slice(0, index)
    .findLast(
      (other) =>
        (other.kind === 'writing' || (other.kind === 'write' && other.by === 'watch')) &&
        other.environment === record.environment,
    );
  return next?.kind !== 'write';
}

function recordLines(record: JournalRecord, path: Path | null, style: Style): string[] {
  const name =
    'environment' in record ? ` ${paint(style, 'bold', visible(record.environment))}` : '';
  const [first, ...rest] = wordsOf(record, path, style);
  return [
    `${paint(style, 'dim', record.at)}${name}  ${first ?? ''}`,
    ...rest.map((line) => `    ${line}`),
  ];
}

function wordsOf(record: JournalRecord, path: Path | null, style: Style): string[] {
  switch (record.kind) {
    case 'state':
      return stateLines(record, path, style);
    case 'write':
      return writeLines(record, path, style);
    case 'writing':
      return [`began to write ${record.paths.map(visible).join(', ')}; how it ended is not known`];
    case 'healing-stopped':
      return ['healing has stopped', visible(record.reason)];
    case 'suspended':
      return [
        `suspended ${record.until === null ? 'until it is resumed' : `until ${record.until}`}`,
        visible(record.reason),
      ];
    case 'resumed':
      return ['resumed'];
    case 'clock-set': {
      const seconds = counted(Math.round(Math.abs(record.by) / 1000), 'second');
      return [`the clock was set ${record.by > 0 ? 'forward' : 'back'} by ${seconds}`];
    }
    case 'notice':
      return [`told ${visible(record.receiver)}: ${record.event} (${record.result})`];
    case 'files':
      return [
        record.problem === null
          ? `files read: ${counted(record.environments, 'environment')}${commitWords(record.commit)}`
          : `files not used: ${visible(record.problem)}`,
      ];
    case 'started':
    case 'stopped':
      return [`watch ${record.kind}, version ${record.version}`];
  }
}

function stateLines(event: StateEvent, path: Path | null, style: Style): string[] {
  const { status, before, after, commit, plan } = event;
  const first = before === 'not-read' ? status : `${before} → ${status}`;
  const seen =
    after === null || status === 'in-sync' ? [] : [`changed after ${after}, the read before`];
  const error = plan?.error ?? null;
  return [
    `${first}${commitWords(commit)}`,
    ...seen,
    ...(plan?.changes ?? [])
      .filter((change) => isAbout(change.path, path))
      .map(
        (change) =>
          `${visible(formatPath(change.path))}: the service has ${inlineValue(change.before, style)}, the file ${inlineValue(change.after, style)}`,
      ),
    ...(plan?.refusals ?? []).map(({ rule, message }) => `${rule}: ${visible(message)}`),
    ...(error === null ? [] : [visible(error.message)]),
  ];
}

function writeLines(event: WriteEvent, path: Path | null, style: Style): string[] {
  const { by, commit, actor, url, outcome } = event;
  const who = [
    by === 'watch' ? 'healed' : 'applied',
    outcome.status,
    ...(actor === null ? [] : [`by ${visible(actor)}`]),
  ];
  return [
    `${who.join(', ')}${commitWords(commit)}`,
    ...(url === null ? [] : [visible(url)]),
    ...outcome.changes
      .filter((change) => isAbout(change.path, path))
      .map(
        (change) =>
          `${visible(formatPath(change.path))}: ${inlineValue(change.before, style)} → ${inlineValue(change.after, style)} (${change.result})`,
      ),
    ...(outcome.error === null ? [] : [visible(outcome.error.message)]),
  ];
}

function isAbout(path: Path, asked: Path | null): boolean {
  return asked === null || isWithin(path, asked);
}

function commitWords(commit: string | null): string {
  return commit === null ? '' : `, commit ${visible(commit.slice(0, 12))}`;
}
