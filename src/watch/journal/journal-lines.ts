import type { EnvironmentPlan } from '../../model/plan.ts';
import type { Heal, HealFailed, JournalRecord } from '../../model/watch.ts';
import type { Agreement } from '../../operations/session.ts';
import type { Beginning } from '../beginnings.ts';
import type { Remembered } from '../environment.ts';

/** What a file of the journal begins with, unless it is the first: what must be known of all environments. */
export interface Checkpoint {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'checkpoint';
  /**
   * `agreed` is the place of one in `agreements`, and `agreedWith` its address. Earlier versions wrote none of `agreedWith`, `began` and
   * `healFailed`.
   */
  readonly environments: readonly (Omit<Remembered, 'agreed' | 'began' | 'healFailed'> & {
    readonly agreed?: number | null;
    readonly agreedWith?: string | null;
    readonly began?: readonly Beginning[];
    readonly healFailed?: HealFailed | null;
  })[];
  readonly agreements?: readonly Agreement[];
  readonly notices: readonly JournalRecord[];
  readonly inFlight: readonly string[];
  /** How far files before were read for this; what others appended to them behind that follows from nothing here. */
  readonly upTo?: readonly Place[] | Place | null;
}

/** A place in a file of the journal. */
export interface Place {
  readonly file: string;
  readonly bytes: number;
}

/** What a file and its service agree on; people are not shown it. */
export interface AgreedLine {
  readonly v: 1;
  readonly at: string;
  readonly kind: 'agreed';
  readonly environment: string;
  readonly agreement: Agreement;
  /** The digest of the service's address. Earlier versions did not write it. */
  readonly address?: string | null;
}

export type JournalLine = JournalRecord | AgreedLine | Checkpoint;

/** Whether a record is about an environment. */
export function isAbout(name: string): (record: JournalRecord) => boolean {
  return (record) => 'environment' in record && record.environment === name;
}

export function isRecordLine(line: JournalLine): line is JournalRecord {
  return line.kind !== 'checkpoint' && line.kind !== 'agreed';
}

const KINDS: ReadonlySet<unknown> = new Set([
  'checkpoint',
  'agreed',
  'started',
  'stopped',
  'files',
  'state',
  'writing',
  'write',
  'clock-set',
  'suspended',
  'resumed',
  'healing-stopped',
  'notice',
] satisfies JournalLine['kind'][]);

/** A line of a journal; null if it was cut off, or if another version wrote it in another form. */
export function parsedLine(line: string): JournalLine | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const { v, at, kind } = value as Record<string, unknown>;
    const isKnown = v === 1 && typeof at === 'string' && KINDS.has(kind);
    return isKnown && isWhole(value as JournalLine) ? (value as JournalLine) : null;
  } catch {
    return null;
  }
}

/** A line as it is written. */
export function lineOf(line: JournalLine): string {
  return `${quoted(line)}\n`;
}

/** A value as lines have it. Line separators of Unicode would end a line for some readers. */
export function quoted(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Lines that are not about one environment. */
const OF_ALL: ReadonlySet<JournalLine['kind']> = new Set([
  'checkpoint',
  'started',
  'stopped',
  'files',
]);

/** Whether a line has what is read of its kind: one that lacks it was not written by a controller. Throws for some that do not. */
function isWhole(line: JournalLine): boolean {
  const areTexts = (list: readonly unknown[]): boolean =>
    list.every((one) => typeof one === 'string');
  const { environment } = line as { readonly environment?: unknown };
  const isOfAll = environment === undefined && OF_ALL.has(line.kind);
  if (typeof environment !== 'string' && !isOfAll) return false;
  switch (line.kind) {
    case 'checkpoint':
      return (
        areTexts(line.inFlight) &&
        (line.agreements ?? []).every(isAgreement) &&
        line.environments.every(
          ({ name, heals, began = [], agreedWith }) =>
            typeof name === 'string' &&
            areHeals(heals) &&
            areBeginnings(began) &&
            isAddress(agreedWith),
        ) &&
        line.notices.every((one) => one.kind === 'notice' && isWhole(one))
      );
    case 'state':
      return line.plan === null || isPart(line.plan);
    case 'writing':
      return areTexts(line.paths);
    case 'write':
      return isPart(line.outcome) && typeof line.outcome.requests.post === 'number';
    case 'suspended':
      return areTexts([line.reason]);
    case 'healing-stopped':
      return areTexts([line.path, line.reason]);
    case 'notice':
      return areTexts([line.receiver, line.event, line.digest, line.result]);
    case 'clock-set':
      return Number.isFinite(line.by);
    case 'agreed':
      return isAgreement(line.agreement) && isAddress(line.address);
    case 'resumed':
      return true;
    case 'started':
    case 'stopped':
      return typeof line.version === 'string';
    case 'files':
      return typeof line.environments === 'number';
  }
}

function areHeals(heals: readonly Heal[]): boolean {
  return heals.every(({ at, paths }) => typeof at === 'string' && Array.isArray(paths));
}

function areBeginnings(began: readonly Beginning[]): boolean {
  return began.every(({ of, since }) => typeof of === 'string' && typeof since === 'string');
}

/** Whether an environment's part of a document has what is read of its changes. */
function isPart({ changes, error }: Pick<EnvironmentPlan, 'changes' | 'error'>): boolean {
  return (
    changes.every(({ path, action }) => Array.isArray(path) && typeof action === 'string') &&
    (error === null || typeof error.message === 'string')
  );
}

function isAgreement({ salt, places, unmanaged, sandboxes, first }: Agreement): boolean {
  return (
    [salt, sandboxes, ...unmanaged].every((one) => typeof one === 'string') &&
    Object.values(places).every((agreed) => Array.isArray(agreed)) &&
    (first === undefined || first.changes.every((one) => typeof one === 'string'))
  );
}

/** Whether an address that something was agreed on with is one, or is not known. */
function isAddress(address: string | null | undefined): boolean {
  return typeof (address ?? '') === 'string';
}
