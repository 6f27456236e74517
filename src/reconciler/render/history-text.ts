import { formatPath, isWithin, type Path } from '../model/path.ts';
import type { Change, Unknown } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import type { HistoryDocument, NoticeEvent, StateEvent, WriteEvent } from '../model/watch.ts';
import { listUncomparedRest } from '../model/uncompared.ts';
import { formatCount, namesListed } from '../model/wording.ts';
import { changePaths, historyRows, type HistoryRow, type ShownRecord } from './history-rows.ts';
import { describeOtherName, inlineValue } from './change.ts';
import { listOverriddenProofs, STATE_WORDS } from './section.ts';
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
    row.kind === 'record' ? formatRecordLines(row.record, path, style) : [noticeWords(row.notices)];
  return [
    `${paint(style, 'dim', at)}${name}  ${first ?? ''}`,
    ...rest.map((line) => `    ${line}`),
  ];
}

function noticeWords(notices: readonly NoticeEvent[]): string {
  const [first] = notices;
  if (first === undefined) return '';
  const receivers = namesListed(notices.map(({ receiver }) => receiver));
  return visible(`${NOTICE_WORDS[first.result](receivers)}: ${first.event}`);
}

const NOTICE_WORDS: Readonly<Record<NoticeEvent['result'], (receivers: string) => string>> = {
  sent: (receivers) => `notified ${receivers}`,
  failed: (receivers) => `could not notify ${receivers}`,
  begun: (receivers) => `may have notified ${receivers}`,
  unknown: (receivers) => `may have notified ${receivers}`,
};

function formatRecordLines(record: ShownRecord, path: Path | null, style: Style): string[] {
  switch (record.kind) {
    case 'state':
      return stateLines(record, path, style);
    case 'write':
      return writeLines(record, path, style);
    case 'writing':
      return [`began to write ${record.paths.map(visible).join(', ')}; how it ended is not known`];
    case 'healing-stopped':
      return [`healing has stopped at ${visible(record.path)}`, visible(record.reason)];
    case 'suspended':
      return [
        `suspended${byText(record)} ${record.until === null ? 'until it is resumed' : `until ${record.until}`}`,
        visible(record.reason),
      ];
    case 'resumed':
      return [`resumed${byText(record)}`];
    case 'clock-set': {
      const seconds = formatCount(Math.round(Math.abs(record.by) / 1000), 'second');
      return [`the clock was set ${record.by > 0 ? 'forward' : 'back'} by ${seconds}`];
    }
    case 'files':
      return [
        record.problem === null
          ? `files read: ${formatCount(record.environments, 'environment')}${commitWords(record.commit)}`
          : `files not used: ${visible(record.problem)}`,
      ];
    case 'started':
    case 'stopped':
      return [`watch ${record.kind}, version ${record.version}`];
  }
}

function stateLines(event: StateEvent, path: Path | null, style: Style): string[] {
  const { status, before, after, commit, plan } = event;
  const [now, was] = [STATE_WORDS[status], STATE_WORDS[before]];
  const first = before === 'not-read' ? now : `${was} → ${now}`;
  const seen =
    after === null || status === 'in-sync' ? [] : [`changed after ${after}, the read before`];
  const error = plan?.error ?? null;
  return [
    `${first}${commitWords(commit)}`,
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
  const { by, commit, actor, url, outcome } = event;
  const who = [
    `${by === 'watch' && actor === null ? 'healed' : 'applied'}${actor === null ? '' : ` for ${visible(actor)}`}`,
    ...(outcome.status === 'applied' ? [] : [outcome.status]),
  ];
  return [
    `${who.join(', ')}${commitWords(commit)}`,
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

function byText({ by }: { readonly by?: string | undefined }): string {
  return by === undefined ? '' : ` by ${visible(by)}`;
}
