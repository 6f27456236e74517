import { effectOf, participleOf, type Effect } from '../model/action.ts';
import type { OutcomeChange, EnvironmentOutcome, Result } from '../model/outcome.ts';
import { RESET, type Change } from '../model/plan.ts';
import { MASK } from '../model/secret.ts';
import { changeName, isById } from '../model/told.ts';
import type { Json } from '../model/value.ts';
import type { Paint } from './style.ts';
import { isNested } from './values.ts';

/** `plan` words a change as what an apply would do; `drift` as what was found, and names the two sides of each difference. */
export type Voice = 'plan' | 'drift';

export const IN_THE_FILE = 'in the file';
export const ON_THE_SERVICE = 'on the service';

/** A change as every format shows it. Its texts are not yet inert: each format has its own means. */
export interface ShownChange {
  readonly change: Change<Json>;
  readonly voice: Voice;
  /** `sandbox ID`, or the path of a setting as flags take it. */
  readonly name: string;
  /** What is done, or that it differs. */
  readonly label: Label;
  readonly reason: string;
  readonly values: ShownValues;
  /** What became of the change; null if it was not made. */
  readonly result: Label | null;
}

/** Words, with a mark and a colour that mean the same. */
export interface Label {
  readonly mark: string;
  readonly words: string;
  readonly color: Paint;
}

/**
 * `none`: the reason is enough; `arrow`: from one scalar to another; `sides`: what each side has, of a difference;
 * `diff`: two nested values line by line.
 */
export type ShownValues =
  | { readonly kind: 'none' }
  | { readonly kind: 'arrow'; readonly before: Json; readonly after: Side }
  | { readonly kind: 'diff'; readonly before: Json; readonly after: Json }
  | { readonly kind: 'sides'; readonly file: Side; readonly service: Side };

/** A value, or words in its place. */
export type Side = { readonly value: Json } | { readonly words: string };

export function shownChange(
  change: Change<Json>,
  voice: Voice,
  result: Label | null = null,
): ShownChange {
  const { action } = change;
  const [mark, color] = voice === 'plan' ? MARKS[effectOf(action)] : DIFFERS;
  return {
    change,
    voice,
    name: changeName(change),
    label: { mark, words: voice === 'plan' ? action : 'differs', color },
    reason: reasonOf(change, voice),
    values: voice === 'plan' ? plannedValues(change) : comparedValues(change),
    result,
  };
}

const MARKS: Readonly<Record<Effect, readonly [string, Paint]>> = {
  add: ['+', 'green'],
  alter: ['~', 'yellow'],
  drop: ['-', 'red'],
};
const DIFFERS = ['~', 'yellow'] as const;

/** Whether a change loses something that applying the previous file would not bring back. */
export function isDangerous({ action }: Pick<Change, 'action'>): boolean {
  return effectOf(action) === 'drop';
}

function reasonOf({ action, path, reason }: Change<Json>, voice: Voice): string {
  if (voice === 'drift') return foundReason(reason);
  if (action === 'remove') return `${reason}, will be removed`;
  return action === 'set' && path.length > 1 && reason === 'not set' ? 'new' : reason;
}

/** A reason without what an apply would do about it: `set, will be rotated` becomes `set`. */
function foundReason(reason: string): string {
  return reason.replace(/[,:] will be .+$/, '');
}

function plannedValues(change: Change<Json>): ShownValues {
  const { before, after, sensitive } = change;
  if (isById(change)) return { kind: 'none' };
  if (isNested(before) || isNested(after)) return { kind: 'diff', before, after };
  if (sensitive && !isOpen(after)) return { kind: 'none' };
  return { kind: 'arrow', before, after: afterwards(change) };
}

/** Whether a change shows what the file declares, although what the service has is masked. */
function isOpen(after: Json): boolean {
  return after !== null && !(typeof after === 'string' && after.includes(MASK));
}

/** What the service has after a change: its default, if the file asks for null and means that. */
function afterwards({ after, reason }: Change<Json>): Side {
  return reason === RESET ? { words: 'its default' } : { value: after };
}

/** A secret is shown as its reference in the file, and as set or not set on the service. */
function comparedValues(change: Change<Json>): ShownValues {
  const { action, before, after, sensitive, ref, reason } = change;
  if (isNested(before) || isNested(after)) return { kind: 'diff', before, after };
  if (isById(change)) return { kind: 'sides', file: stateOf(after), service: stateOf(before) };
  if (!sensitive) {
    const service = before === null && action === 'set' ? { words: 'not set' } : { value: before };
    const file = reason === RESET ? { words: 'null, for the default' } : { value: after };
    return { kind: 'sides', file, service };
  }
  const words = after === null ? 'null' : (ref ?? 'a secret');
  const file = ref === null && isOpen(after) ? { value: after } : { words };
  const service = reason === 'differs' ? 'another value' : foundReason(reason);
  return { kind: 'sides', file, service: { words: service } };
}

function stateOf(value: Json): Side {
  return { words: typeof value === 'string' ? value : 'none' };
}

/** What became of a change. A sandbox that was started has an id from then on. */
export function resultLabel(change: OutcomeChange, status: EnvironmentOutcome['status']): Label {
  // Nothing went wrong, and this was not sent: a later observation has shown that the service has it already.
  if (change.result === 'not-sent' && (status === 'applied' || status === 'in-sync'))
    return { mark: '·', words: 'no longer needed', color: 'dim' };
  const { action, result, sandbox } = change;
  const label = RESULTS[result];
  const id = sandbox === undefined ? '' : `${sandbox}, `;
  const done = participleOf(action);
  if (done === null || result === 'not-sent') return { ...label, words: id + label.words };
  if (result === 'unverifiable')
    return { ...label, words: `${id}STARTING; this backend may never report RUNNING` };
  const state = action === 'pause' ? 'paused' : 'running';
  return { ...label, words: id + (result === 'verified' ? done : `requested, not ${state} yet`) };
}

const RESULTS: Readonly<Record<Result, Label>> = {
  verified: { mark: '✓', words: 'verified', color: 'green' },
  set: { mark: '✓', words: 'set', color: 'green' },
  unverifiable: { mark: '?', words: 'sent, cannot be read back', color: 'cyan' },
  'not-sent': { mark: '✗', words: 'not written', color: 'red' },
  unknown: { mark: '✗', words: 'sent, not confirmed', color: 'red' },
};
