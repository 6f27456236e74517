import { formatPath, isWithin, type Path } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import type { HistoryDocument, NoticeEvent, StateEvent, WriteEvent } from '../model/watch.ts';
import { listUncomparedRest } from '../model/uncompared.ts';
import { changePaths, historyRows, type HistoryRow, type ShownRecord } from './history-rows.ts';
import { describeOtherName, inlineValue } from './change.ts';
import { listOverriddenProofs } from './section.ts';
import { describeNotice, describeRecord, formatRecord } from './record-text.ts';
import { proofText } from './section-text.ts';
import { paint, type Style, visible } from './text.ts';
import { formatUncomparedCount } from './wording.ts';

/** The latest rows of records, the latest first: what was found or written, between which reads, and the former values. */
export function historyText(
  { records, path }: HistoryDocument,
  style: Style,
  rows = Number.POSITIVE_INFINITY,
): string {
  if (records.length === 0) return 'Nothing is recorded.\n';
  return historyRows(records)
    .slice(0, rows)
    .map((row) => `${rowLines(row, path, style).join('\n')}\n`)
    .join('\n');
}

function rowLines(row: HistoryRow, path: Path | null, style: Style): string[] {
  const record = row.kind === 'record' ? row.record : row.notices[0];
  const name =
    record !== undefined && 'environment' in record
      ? ` ${paint(style, 'bold', visible(record.environment))}`
      : '';
  const at = row.kind === 'record' ? row.record.at : row.at;
  const [first, ...rest] =
    row.kind === 'record'
      ? formatRecordLines(row.record, path, style)
      : [formatNotices(row.notices)];
  return [
    `${paint(style, 'dim', at)}${name}  ${first ?? ''}`,
    ...rest.map((line) => `    ${line}`),
  ];
}

function formatNotices(notices: readonly NoticeEvent[]): string {
  const [first] = notices;
  if (first === undefined) return '';
  const receivers = notices.map(({ receiver }) => receiver);
  return visible(formatRecord(describeNotice(first, receivers)));
}

/** The title of a record, then what is known of it. */
function formatRecordLines(record: ShownRecord, path: Path | null, style: Style): string[] {
  const { title, detail } = describeRecord(record);
  const commit = 'commit' in record ? commitWords(record.commit) : '';
  return [`${visible(title)}${commit}`, ...formatRecordDetails(record, detail, path, style)];
}

function formatRecordDetails(
  record: ShownRecord,
  detail: string | null,
  path: Path | null,
  style: Style,
): string[] {
  if (record.kind === 'state') return stateLines(record, path, style);
  if (record.kind === 'write') return writeLines(record, path, style);
  const own = detail === null ? [] : [visible(detail)];
  return record.kind === 'writing' ? [...own, 'how it ended is not known'] : own;
}

function stateLines(event: StateEvent, path: Path | null, style: Style): string[] {
  const { status, after, plan } = event;
  const seen =
    after === null || status === 'in-sync' ? [] : [`changed after ${after}, the read before`];
  const error = plan?.error ?? null;
  return [
    ...seen,
    ...(plan?.changes ?? [])
      .filter((change) => changePaths(change).some((one) => matchesAskedPath(one, path)))
      .map(
        (change) =>
          `${visible(formatPath(change.path))}: ${serviceHas(change, style)} on the service, ${fileHas(change, style)} in the file${change.class === undefined ? '' : ` (${change.class})`}`,
      ),
    ...formatRecordUnknowns(plan?.unknown ?? [], path),
    ...(plan?.refusals ?? []).map(({ rule, message }) => `${rule}: ${visible(message)}`),
    ...(error === null ? [] : [visible(error.message)]),
  ];
}

function writeLines(event: WriteEvent, path: Path | null, style: Style): string[] {
  const { url, outcome } = event;
  return [
    ...(url === null ? [] : [visible(url)]),
    ...outcome.changes
      .filter((change) => changePaths(change).some((one) => matchesAskedPath(one, path)))
      .map(
        (change) =>
          `${visible(formatPath(change.path))}: ${serviceHas(change, style)} → ${fileHas(change, style)} (${change.result})`,
      ),
    ...(listOverriddenProofs(outcome) ?? [])
      .filter((proof) => matchesAskedPath(proof.path, path))
      .map((proof) => proofText(proof, style).trimStart()),
    ...formatRecordUnknowns(listUncomparedRest(outcome), path),
    ...(outcome.allowed.length === 0 ? [] : [`lifted by --allow: ${outcome.allowed.join(', ')}`]),
    ...(outcome.error === null ? [] : [visible(outcome.error.message)]),
  ];
}

/** Formats what could not be compared as a line; none if all was. */
function formatRecordUnknowns(unknown: readonly Unknown[], asked: Path | null): string[] {
  const about = unknown.filter(({ path }) => matchesAskedPath(path, asked));
  if (about.length === 0) return [];
  const names = about.map(({ path }) => visible(formatPath(path)));
  return [`${formatUncomparedCount(about.length)}: ${names.join(', ')}`];
}

function serviceHas({ action, before }: Change<Json>, style: Style): string {
  if (action === 'rename') return visible(describeOtherName(before));
  return action === 'set' && before === null ? 'not set' : inlineValue(before, style);
}

function fileHas({ action, after }: Change<Json>, style: Style): string {
  return action === 'rename' ? visible(describeOtherName(after)) : inlineValue(after, style);
}

function matchesAskedPath(path: Path, asked: Path | null): boolean {
  return asked === null || isWithin(path, asked);
}

function commitWords(commit: string | null): string {
  return commit === null ? '' : `, commit ${visible(commit.slice(0, 12))}`;
}
