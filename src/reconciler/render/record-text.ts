import { planAttention } from '../model/summary.ts';
import { formatPath } from '../model/path.ts';
import type { EnvironmentPlan } from '../model/plan.ts';
import type { JournalRecord, NoticeEvent, WriteEvent } from '../model/watch.ts';
import { formatCount, namesListed } from '../model/wording.ts';
import { STATE_WORDS } from './section.ts';
import { formatUncomparedCount } from './wording.ts';

/** A record in words, without the time, the environment and the commit. Both parts may quote foreign text. */
export interface RecordText {
  readonly title: string;
  /** Paths, a reason, or the message of an error. Null if the title has all. */
  readonly detail: string | null;
}

/** Describes a record of the journal. The log, the history, the page and the events of a cluster show these words. */
export function describeRecord(record: JournalRecord): RecordText {
  switch (record.kind) {
    case 'started':
    case 'stopped':
      return {
        title: `setpoint ${record.version} ${record.kind} watching${record.reason === undefined ? '' : `: ${record.reason}`}`,
        detail: null,
      };
    case 'files':
      return record.problem === null
        ? {
            title: `read the files: ${formatCount(record.environments, 'environment')}`,
            detail: null,
          }
        : {
            title: 'the settings files cannot be used; the last good ones remain in effect',
            detail: record.problem,
          };
    case 'state': {
      const { status, before, plan } = record;
      const was = before === 'not-read' ? '' : `, was ${STATE_WORDS[before]}`;
      return {
        title: `${STATE_WORDS[status]}${was}`,
        detail: plan === null ? null : describeDifferences(plan),
      };
    }
    case 'writing':
      return { title: 'writing', detail: listPathsInShort(record.paths) };
    case 'write':
      return { title: describeWrite(record), detail: describeWrittenPaths(record) };
    case 'suspended': {
      const end = record.until === null ? 'until it is resumed' : `until ${record.until}`;
      return { title: `suspended${describeActor(record)} ${end}`, detail: record.reason };
    }
    case 'resumed':
      return { title: `resumed${describeActor(record)}`, detail: null };
    case 'clock-set': {
      const seconds = formatCount(Math.round(Math.abs(record.by) / 1000), 'second');
      const way = record.by > 0 ? 'forward' : 'back';
      return { title: `the clock was set ${way} by ${seconds}`, detail: null };
    }
    case 'healing-stopped':
      return { title: `healing stopped at ${record.path}`, detail: record.reason };
    case 'notice':
      return describeNotice(record, [record.receiver]);
  }
}

/** A record in one sentence. */
export function formatRecord({ title, detail }: RecordText): string {
  return detail === null ? title : `${title}: ${detail}`;
}

/** Describes notices of one event with one result to several receivers. */
export function describeNotice(
  { event, result }: NoticeEvent,
  receivers: readonly string[],
): RecordText {
  return { title: `${NOTIFIED[result]} ${namesListed(receivers)}`, detail: event };
}

const NOTIFIED: Readonly<Record<NoticeEvent['result'], string>> = {
  sent: 'notified',
  failed: 'could not notify',
  begun: 'may have notified',
  unknown: 'may have notified',
};

/** The differences of a plan in short: the error, or paths, what could not be compared and the rules that refuse it. */
function describeDifferences(plan: EnvironmentPlan): string | null {
  const { error, unknown, rules } = planAttention(plan);
  if (error !== null) return error.message;
  const names = plan.changes.map(({ path }) => formatPath(path));
  const parts = [
    ...(names.length === 0 ? [] : [listPathsInShort(names)]),
    ...(unknown === 0 ? [] : [formatUncomparedCount(unknown)]),
    ...(rules.length === 0 ? [] : [`refused by ${rules.join(', ')}`]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function describeWrite({ by, actor, outcome: { status } }: WriteEvent): string {
  const isHealed = by === 'watch' && actor === null;
  const done = isHealed ? 'healed' : 'applied';
  const what = status === 'applied' ? done : `${isHealed ? 'heal' : 'apply'} ${status}`;
  return actor === null ? what : `${what} for ${actor}`;
}

function describeWrittenPaths({ outcome: { changes, error } }: WriteEvent): string | null {
  const names = changes
    .filter(({ result }) => result !== 'not-sent')
    .map(({ path }) => formatPath(path));
  const wrote = names.length === 0 ? 'nothing written' : listPathsInShort(names);
  return error === null ? wrote : `${wrote}: ${error.message}`;
}

function describeActor({ by }: { readonly by?: string | undefined }): string {
  return by === undefined ? '' : ` by ${by}`;
}

/** Paths that are named; the others are counted. */
const MOST_PATHS = 3;
const LONGEST_PATH = 160;

/** The first of some names: `a, b, c and 2 more`. */
export function listPathsInShort(names: readonly string[]): string {
  return namesListed(
    names.map((name) => shortenReason(name, LONGEST_PATH)),
    MOST_PATHS,
  );
}

/** A reason that a user gives is used in full; a message may be foreign. */
const LONGEST = 500;

export function shortenReason(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
