import { formatPath } from '../../../reconciler/model/path.ts';
import { formatCount, formatUtcMinute, groupThousands } from '../../../reconciler/model/wording.ts';
import { planAttention } from '../../../reconciler/model/summary.ts';
import type { NoticeKind, WatchState } from '../../../reconciler/model/watch.ts';
import { verdictGravity, type WatchStatus } from '../../../reconciler/model/verdict.ts';
import { toShownChange } from '../../../reconciler/render/change.ts';
import { STATE_WORDS } from '../../../reconciler/render/section.ts';
import { formatUncomparedCount } from '../../../reconciler/render/wording.ts';
import { findProtectedItem, describeProtectedItem } from '../healing.ts';
import { FLAPS, stateDigest, type Due } from './decide.ts';
import type { Item, Message } from './template.ts';
import type { End } from './notified-states.ts';

/** Environments that a message of words names. */
const MOST_ITEMS = 20;
const MOST_PATHS = 5;
/** Changes that the JSON names of each environment. */
const MOST_JSON_PATHS = 100;
const LONGEST_DETAIL = 200;

/**
 * The content to send: as a message in words, and as the notices of the JSON (schemas/notices.schema.json), which has no values of
 * settings.
 */
export interface Content {
  readonly message: () => Message;
  readonly notices: () => readonly unknown[];
}

/** All that is due to a receiver. `page` is the address of the page; null without one. */
export function createContent(all: readonly Due[], page: string | null): Content {
  return {
    message: () => createMessage(all, page),
    notices: () => all.map((due) => jsonNotice(due, page)),
  };
}

/** All that is due to a receiver as one message. It names paths, and no value. */
export function createMessage(all: readonly Due[], page: string | null): Message {
  const worst = all.toSorted((one, other) => rankNotice(other) - rankNotice(one));
  const items = worst.slice(0, MOST_ITEMS).map((due) => createMessageItem(due, page));
  return {
    title: all.length === 1 ? '' : formatMessageTitle(all),
    items,
    more: all.length - items.length,
    link: page === null ? null : `${page}/`,
  };
}

/** The notices about states that are over; they come last. */
const OVER: ReadonlySet<NoticeKind> = new Set(['resolved', 'healed']);

function rankNotice({ event, state }: Due): number {
  return OVER.has(event) ? -1 : verdictGravity(state.found);
}

function formatMessageTitle(all: readonly Due[]): string {
  const counts = new Map<string, number>();
  for (const { event, state } of all) {
    const what = OVER.has(event) ? event : STATE_WORDS[state.found];
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const parts = [...counts].map(([what, count]) => `${groupThousands(count)} ${what}`);
  const names = new Set(all.map(({ state }) => state.name));
  return `${formatCount(names.size, 'environment')}: ${parts.join(', ')}`;
}

function createMessageItem(due: Due, page: string | null): Item {
  const { name, found } = due.state;
  return {
    name,
    words: describeDueNotice(due),
    details: listNoticeDetails(due),
    link: page === null ? null : `${page}/environments/${encodeURIComponent(name)}`,
    isOver: OVER.has(due.event),
    key: `${name}: ${due.track}`,
    severity: found === 'error' ? 'critical' : 'warning',
  };
}

/** The text after the name of an environment: the word for its state, and its meaning where the word alone is unclear. */
const SENTENCES: Readonly<Record<WatchStatus, string>> = {
  'in-sync': `is ${STATE_WORDS['in-sync']}`,
  suspended: `is ${STATE_WORDS.suspended}`,
  'not-read': `is ${STATE_WORDS['not-read']}`,
  unknown: `has values that ${STATE_WORDS.unknown}`,
  pending: `has ${STATE_WORDS.pending}: the file was changed and is not applied`,
  drift: `has ${STATE_WORDS.drift}: it was changed on the service`,
  conflict: `has a ${STATE_WORDS.conflict}: it was changed in the file and on the service`,
  refused: `is ${STATE_WORDS.refused}: it differs, and an apply would be refused`,
  error: STATE_WORDS.error,
};

/** Returns the text after the name of the environment. */
export function describeDueNotice({ event, state, end, digest }: Due): string {
  const { found, since } = state;
  if (event !== 'resolved' && digest.endsWith(`:${FLAPS}`))
    return 'is flapping: other clients keep changing it, which is not reported each time';
  switch (event) {
    case 'opened':
      return SENTENCES[found];
    case 'changed':
      return `${SENTENCES[found]}; the differences have changed`;
    case 'failing':
      return `${SENTENCES.error} since ${formatUtcMinute(since)}`;
    case 'reminder':
      return `${SENTENCES[found]}; the same since ${formatUtcMinute(since)}`;
    case 'healed':
      return PUT_BACK[state.putBack?.found ?? found] ?? 'was put right';
    case 'healing-stopped':
      return `${SENTENCES[found]}, and is no longer healed: ${STOPPED_BY[state.stopped?.cause ?? 'other']}`;
    case 'heal-failed':
      return `${SENTENCES[found]}, and could not be healed`;
    case 'write-refused':
      return `${SENTENCES[found]}, and the service refuses the write that would heal it`;
    case 'resolved':
      return endText(state, end);
  }
}

const STOPPED_BY = {
  server: 'the server stores other values than it is sent',
  other: 'another client writes it again and again',
} as const;

const PUT_BACK: Readonly<Partial<Record<WatchStatus, string>>> = {
  pending: 'had edits in the file, which have been applied',
  drift: 'was changed on the service, and has been put back',
  conflict: 'was changed in the file and on the service, and the file has been applied',
};

function endText(state: WatchState, end: End | null): string {
  const { found } = state;
  switch (end) {
    case 'left-files':
      return 'is no longer in the settings files; it is not watched';
    case 'not-watched':
      return 'is no longer watched here; it may still differ';
    case 'not-selected':
      return 'is no longer among the environments of this receiver; no more notices are sent about it';
    case 'failing':
      return `had ${SENTENCES.error}, and ${SENTENCES[found]} now`;
    default:
      return found === 'in-sync'
        ? `is in sync again${formatUncomparedRest(state)}`
        : `differs in another way than before, and ${SENTENCES[found]}`;
  }
}

/** Returns what could not be compared in an environment that is in sync; empty if all was compared. */
function formatUncomparedRest({ plan }: WatchState): string {
  const count = plan?.unknown.length ?? 0;
  return count === 0 ? '' : `; ${formatUncomparedCount(count)}`;
}

function listNoticeDetails({ event, state }: Due): string[] {
  const { plan } = state;
  if (event === 'healed') return limitPaths(state.putBack?.paths ?? []);
  if (event === 'resolved' || plan === null) return [];
  if (plan.error !== null) return [shortDetail(plan.error.message)];
  const rules = [...new Set(plan.refusals.map(({ rule }) => rule))];
  const paths = plan.changes
    .map((change) => toShownChange(change, 'drift'))
    .map(({ name, reason }) => `${name}: ${reason}`);
  const unknown = plan.unknown.map(({ path, reason }) => `${formatPath(path)}: ${reason}`);
  const refused = rules.length === 0 ? [] : [`refused by ${rules.join(', ')}`];
  const kept = findProtectedItem(state);
  const not = kept === null ? (state.waits?.words ?? null) : describeProtectedItem(kept);
  const why = WHY[event]?.(state) ?? (not === null ? [] : [`not healed: ${not}`]);
  return [...why.map(shortDetail), ...refused, ...limitPaths([...paths, ...unknown])];
}

/** The reason why it is not healed; texts of errors may be foreign. */
const WHY: Readonly<Partial<Record<NoticeKind, (state: WatchState) => readonly string[]>>> = {
  'healing-stopped': ({ stopped }) =>
    stopped === null ? [] : [`${stopped.path}: ${stopped.reason}`],
  'heal-failed': ({ healFailed }) => (healFailed === null ? [] : [healFailed.message]),
  'write-refused': ({ healFailed }) => (healFailed === null ? [] : [healFailed.message]),
};

function limitPaths(paths: readonly string[]): string[] {
  const shown = paths.slice(0, MOST_PATHS).map(shortDetail);
  const more = paths.length - shown.length;
  return more > 0 ? [...shown, `${groupThousands(more)} more`] : shown;
}

function shortDetail(text: string): string {
  if (text.length <= LONGEST_DETAIL) return text;
  return `${text.slice(0, LONGEST_DETAIL).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The changes of an environment by action. */
function countChangesByAction({ plan }: WatchState): Readonly<Record<string, number>> {
  return plan === null ? {} : planAttention(plan).changes;
}

function jsonNotice(due: Due, page: string | null): unknown {
  const { event, state } = due;
  const digest = stateDigest(due.digest);
  const item = createMessageItem(due, page);
  const { name, labels, found, since, after, commit, plan } = state;
  const error = plan?.error ?? null;

  return {
    event,
    environment: name,
    labels,
    status: found,
    since,
    after,
    commit,
    digest,
    summary: item.words,
    changes: countChangesByAction(state),
    paths: (event === 'healed'
      ? (state.putBack?.paths ?? [])
      : (plan?.changes ?? []).map(({ path }) => formatPath(path))
    ).slice(0, MOST_JSON_PATHS),
    unknown: plan?.unknown.length ?? 0,
    rules: [...new Set((plan?.refusals ?? []).map(({ rule }) => rule))],
    error: error === null ? null : { code: error.code, message: error.message },
    healing: OVER.has(event) ? null : healingProblem(state),
    link: item.link,
  };
}

/** Returns the problem of healing it; null without one. */
function healingProblem(state: WatchState): unknown {
  const { stopped, healFailed } = state;
  if (stopped !== null) return { code: 'stopped', path: stopped.path, message: stopped.reason };
  if (healFailed !== null)
    return { code: healFailed.code, path: null, message: healFailed.message };
  const kept = findProtectedItem(state);
  return kept === null
    ? null
    : { code: 'would-remove', path: formatPath(kept), message: describeProtectedItem(kept) };
}
