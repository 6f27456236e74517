import type { Agreement } from '../../../reconciler/model/agreement.ts';
import {
  NOTICE_KINDS,
  type JournalRecord,
  type NoticeEvent,
  type WatchState,
  type WriteEvent,
} from '../../../reconciler/model/watch.ts';
import { RESULTS } from '../../../reconciler/model/outcome.ts';
import { type EnvironmentPlan } from '../../../reconciler/model/plan.ts';
import { ACTIONS } from '../../../reconciler/model/action.ts';
import { OUTCOME_VERDICTS, WATCH_STATUSES } from '../../../reconciler/model/verdict.ts';

/** A check of a value that is read. A later version may have written a word or a form that this one does not know. */
type Form = (value: unknown) => boolean;

export const text: Form = (value) => typeof value === 'string';
const flag: Form = (value) => typeof value === 'boolean';
export const count: Form = (value) => Number.isFinite(value);
export const time: Form = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
export const there: Form = (value) => value !== undefined;
export function createListForm(form: Form): Form {
  return (value) => Array.isArray(value) && value.every(form);
}
function createNullableForm(form: Form): Form {
  return (value) => value === null || form(value);
}
function createMapForm(form: Form): Form {
  return (value) => members({})(value) && Object.values(value as object).every(form);
}
function orAbsent(form: Form): Form {
  return (value) => value === undefined || form(value);
}
export const members =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(forms).every(([name, form]) => form((value as Record<string, unknown>)[name]));
function createWordForm(words: readonly string[]): Form {
  return (value) => words.includes(value as string);
}
/** Accepts a closed list of words: each must be named. */
export const word = <W extends string>(words: Readonly<Record<W, 1>>): Form =>
  createWordForm(Object.keys(words));

/** The members of each environment at the beginning of a file of the journal: the state by its records, except the last repair. */
export const IN_CHECKPOINT = [
  'name',
  'found',
  'since',
  'digest',
  'after',
  'plan',
  'began',
  'origin',
  'dialect',
  'release',
  'commit',
  'lastRead',
  'lastInSync',
  'lastApply',
  'heals',
  'stopped',
  'healFailed',
  'labels',
  'edit',
  'rollout',
  'flips',
  'verified',
] as const satisfies readonly (keyof WatchState)[];
type InCheckpoint = Pick<WatchState, (typeof IN_CHECKPOINT)[number]>;

/** The members that earlier versions did not write. */
type Later =
  | 'began'
  | 'healFailed'
  | 'origin'
  | 'dialect'
  | 'release'
  | 'commit'
  | 'labels'
  | 'edit'
  | 'rollout'
  | 'flips'
  | 'verified';

/** The beginning of a file of the journal, unless it is the first: the facts that must be known of all environments. */
export interface Checkpoint {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'checkpoint';
  /** `agreed` is the place of one in `agreements`, and `agreedWith` its address, which earlier versions did not write. */
  readonly environments: readonly (Omit<InCheckpoint, Later> &
    Partial<Pick<InCheckpoint, Later>> & {
      readonly agreed?: number | null;
      readonly agreedWith?: string | null;
    })[];
  readonly agreements?: readonly (Agreement | null)[];
  readonly notices: readonly JournalRecord[];
  readonly inFlight: readonly string[];
  /** The positions up to which earlier files were read for this; later appends of others to them do not count here. */
  readonly upTo?: readonly JournalPlace[] | JournalPlace | null;
}

/** A place in a file of the journal. */
export interface JournalPlace {
  readonly file: string;
  readonly bytes: number;
}

/** The agreement of a file and its service; people do not see it. */
export interface AgreedLine {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'agreed';
  readonly environment: string;
  readonly agreement: Agreement;
  /** The digest of the service's address. Earlier versions did not write it. */
  readonly address?: string | null;
}

/** Environments that are gone, and whose state is removed; people are not shown it. */
interface ForgottenLine {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'forgotten';
  readonly environments: readonly string[];
}

export type JournalLine = JournalRecord | AgreedLine | ForgottenLine | Checkpoint;

const INTERNAL: ReadonlySet<JournalLine['kind']> = new Set(['checkpoint', 'agreed', 'forgotten']);

/** Returns a filter for records about an environment. */
export function createRecordFilter(name: string): (record: JournalRecord) => boolean {
  return (record) => 'environment' in record && record.environment === name;
}

export function isRecordLine(line: JournalLine): line is JournalRecord {
  return !INTERNAL.has(line.kind);
}

/** A line in its written form. */
export function formatJournalLine(line: JournalLine): string {
  return `${lineJson(line)}\n`;
}

/** A value as lines have it. Line separators of Unicode would end a line for some readers. */
export function lineJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** A line of a journal; null if it was cut off, or if another version wrote it in another form. */
export function parseJournalLine(line: string): JournalLine | null {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJournalLine(value)) return null;
    return value.kind === 'checkpoint' ? asKnown(value) : value;
  } catch {
    return null;
  }
}

const path = createListForm(text);
const labels = orAbsent(createMapForm(text));
const status = createWordForm(WATCH_STATUSES);
const error = createNullableForm(members({ code: text, message: text, hint: text }));
const CHANGE = {
  resource: text,
  path,
  action: createWordForm(ACTIONS),
  before: there,
  after: there,
  ref: createNullableForm(text),
  reason: text,
  source: createNullableForm(members({ file: text, line: count, column: count })),
};
/** The members of an environment in plans and outcomes. */
const PART = {
  name: text,
  origin: createNullableForm(text),
  dialect: createNullableForm(text),
  release: createNullableForm(text),
  unknown: createListForm(members({ path, reason: text, ref: createNullableForm(text) })),
  warnings: createListForm(members({ code: text, message: text, path })),
  refusals: createListForm(members({ rule: text, message: text, hint: text, path })),
  error,
};
const plan = members({
  ...PART,
  status: word<EnvironmentPlan['status']>({ 'in-sync': 1, differs: 1, error: 1 }),
  changes: createListForm(members(CHANGE)),
  unmanaged: createListForm(path),
});
/** An outcome has no environment that was not started. */
const OUTCOMES = OUTCOME_VERDICTS.filter((one) => one !== 'not-started');
const outcome = members({
  ...PART,
  status: createWordForm(OUTCOMES),
  allowed: createListForm(text),
  changes: createListForm(members({ ...CHANGE, result: createWordForm(RESULTS) })),
  remaining: createListForm(
    members({
      resource: CHANGE.resource,
      path,
      expected: there,
      actual: there,
      reason: text,
      hint: text,
    }),
  ),
  requests: members({ get: count, post: count }),
});
const agreement = members({
  salt: text,
  places: createMapForm(Array.isArray),
  unmanaged: createListForm(text),
  items: orAbsent(createMapForm(members({}))),
  first: orAbsent(members({ changes: createListForm(text) })),
});
const notice = members({
  at: time,
  environment: text,
  event: createWordForm(NOTICE_KINDS),
  receiver: text,
  digest: text,
  result: word<NoticeEvent['result']>({ begun: 1, sent: 1, failed: 1, unknown: 1 }),
});
const about = (forms: Readonly<Record<string, Form>>): Form =>
  members({ environment: text, ...forms });
const stopped = { path: text, reason: text, cause: orAbsent(text) };
const commit = createNullableForm(text);

/** The members that are read of each kind of line. */
const FORMS: Readonly<Record<JournalLine['kind'], Form>> = {
  checkpoint: members({
    environments: createListForm(members({ name: text })),
    notices: createListForm(there),
    inFlight: createListForm(text),
    upTo: orAbsent(there),
  }),
  agreed: about({ agreement, address: orAbsent(createNullableForm(text)) }),
  forgotten: members({ environments: createListForm(text) }),
  started: members({ version: text }),
  stopped: members({ version: text }),
  files: members({ commit, environments: count, problem: createNullableForm(text) }),
  state: about({
    status,
    before: status,
    digest: text,
    after: createNullableForm(time),
    commit,
    labels,
    edited: orAbsent(time),
    flip: orAbsent(flag),
    verified: orAbsent(text),
    origin: orAbsent(text),
    plan: createNullableForm(plan),
  }),
  writing: about({
    paths: createListForm(text),
    drifted: orAbsent(createListForm(text)),
    edited: orAbsent(time),
    commit,
  }),
  write: about({
    by: word<WriteEvent['by']>({ watch: 1, apply: 1 }),
    commit,
    actor: createNullableForm(text),
    url: createNullableForm(text),
    outcome,
  }),
  'clock-set': about({ by: count }),
  suspended: about({ reason: text, until: createNullableForm(time), by: orAbsent(text) }),
  resumed: about({ by: orAbsent(text) }),
  'healing-stopped': about(stopped),
  notice,
};

/** Reports whether a line has the members that are read of its kind. */
function isJournalLine(value: unknown): value is JournalLine {
  const { v, at, kind } = Object(value) as Record<string, unknown>;
  if (v !== 1 || !time(at) || !text(kind)) return false;
  return Object.hasOwn(FORMS, kind as string) && FORMS[kind as JournalLine['kind']](value);
}

const TIMES = { since: time, after: createNullableForm(time), lastRead: createNullableForm(time) };
const FOUND = members({ found: status, digest: text, plan: createNullableForm(plan), ...TIMES });
const KEPT = members({
  labels,
  lastInSync: createNullableForm(time),
  lastApply: createNullableForm(time),
  agreedWith: orAbsent(createNullableForm(text)),
  origin: orAbsent(createNullableForm(text)),
  dialect: orAbsent(createNullableForm(text)),
  release: orAbsent(createNullableForm(text)),
  commit: orAbsent(createNullableForm(text)),
  heals: createListForm(
    members({ at: time, paths: createListForm(text), drifted: orAbsent(createListForm(text)) }),
  ),
  stopped: createNullableForm(members({ at: time, ...stopped })),
  flips: orAbsent(createListForm(time)),
  verified: orAbsent(createListForm(text)),
  edit: orAbsent(createNullableForm(time)),
  rollout: orAbsent(
    createNullableForm(
      members({ edit: time, at: time, result: createWordForm(['begun', 'done', 'failed']) }),
    ),
  ),
  began: orAbsent(
    createListForm(members({ of: text, since: time, after: createNullableForm(time) })),
  ),
  healFailed: orAbsent(
    createNullableForm(
      members({
        at: time,
        count,
        isRefused: flag,
        code: text,
        message: text,
        notStored: orAbsent(
          createListForm(members({ path: text, expected: there, actual: there })),
        ),
      }),
    ),
  ),
});

/**
 * Returns the checkpoint in words that this version knows. An environment in an unknown state counts as not read, and keeps its last
 * actions.
 */
function asKnown(line: Checkpoint): Checkpoint {
  return {
    ...line,
    environments: line.environments.filter(KEPT).map((known) =>
      FOUND(known)
        ? known
        : {
            ...known,
            found: 'not-read' as const,
            since: line.at,
            digest: '',
            after: null,
            plan: null,
            began: [],
            lastRead: null,
          },
    ),
    agreements: (line.agreements ?? []).map((one) => (agreement(one) ? one : null)),
    notices: line.notices.filter(notice),
  };
}
