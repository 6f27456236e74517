import { type Change, formatChangeName, isById } from '../model/plan.ts';
import {
  findActionEffect,
  isRename,
  findActionParticiple,
  findStartId,
  type Effect,
} from '../model/action.ts';
import type { OutcomeChange, EnvironmentOutcome, Result } from '../model/outcome.ts';
import { MASK } from '../model/secret.ts';
import { sameValue, type Json } from '../model/value.ts';
import { structuredPatch } from 'diff';
import { stringify } from 'yaml';
import { formatDetailSource, type Paint, paint, type Style, visible } from './text.ts';

/** `plan` words a change as what an apply would do; `drift` as what was found, and names the two sides of each difference. */
export type Voice = 'plan' | 'drift';

export const IN_THE_FILE = 'in the file';
export const ON_THE_SERVICE = 'on the service';

/** A change as every format shows it. Its texts are not yet inert: each format has its own means. */
export interface ShownChange {
  readonly change: Change<Json>;
  readonly voice: Voice;
  /** The path of a setting as flags take it, or a noun and an ID. */
  readonly name: string;
  /** The action, or that both sides differ. */
  readonly label: Label;
  readonly reason: string;
  readonly values: ShownValues;
  /** The result of the change; null if it was not made. */
  readonly result: Label | null;
}

/** Words, with a mark and a colour that mean the same. */
export interface Label {
  readonly mark: string;
  readonly words: string;
  /** Its words behind the number one and behind others, if they are different. */
  readonly counted?: readonly [one: string, several: string];
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

export function toShownChange(
  change: Change<Json>,
  voice: Voice,
  result: Label | null = null,
): ShownChange {
  const { action } = change;
  const [mark, color] = voice === 'plan' ? MARKS[findActionEffect(action)] : DIFFERS;
  return {
    change,
    voice,
    name: formatChangeName(change),
    label: { mark, words: voice === 'plan' ? action : 'differs', color },
    reason: formatChangeReason(change, voice),
    values: voice === 'plan' ? selectPlanValues(change) : selectDriftValues(change),
    result,
  };
}

const MARKS: Readonly<Record<Effect, readonly [string, Paint]>> = {
  add: ['+', 'green'],
  alter: ['~', 'yellow'],
  drop: ['-', 'red'],
};
const DIFFERS = ['~', 'yellow'] as const;

/** Reports whether a change loses something that applying the previous file would not restore. */
export function isDangerous({ action }: Pick<Change, 'action'>): boolean {
  return findActionEffect(action) === 'drop';
}

function formatChangeReason(
  { action, path, code, reason, found = reason }: Change<Json>,
  voice: Voice,
): string {
  if (voice === 'drift') return found;
  if (action === 'remove') return `${reason}, will be removed`;
  return action === 'set' && path.length > 1 && code === 'not-set' ? 'new' : reason;
}

function selectPlanValues(change: Change<Json>): ShownValues {
  const { before, after, sensitive } = change;
  if (isById(change) || isRename(change)) return { kind: 'none' };
  if (isNested(before) || isNested(after)) return { kind: 'diff', before, after };
  const isSame = after !== null && sameValue(before, after);
  if (isSame || (sensitive && !isDeclaredShown(after))) return { kind: 'none' };
  return { kind: 'arrow', before, after: afterwards(change) };
}

/** Reports whether a change shows the declared value although the value on the service is masked. */
function isDeclaredShown(after: Json): boolean {
  return after !== null && !(typeof after === 'string' && after.includes(MASK));
}

/** Returns the value after a change: the default, if the file declares null with that meaning. */
function afterwards({ after, code }: Change<Json>): Side {
  return code === 'reset' ? { words: 'its default' } : { value: after };
}

/** A secret is shown as its reference in the file, and as set or not set on the service. */
function selectDriftValues(change: Change<Json>): ShownValues {
  const { action, before, after, sensitive, ref, code, reason, found = reason } = change;
  if (isNested(before) || isNested(after)) return { kind: 'diff', before, after };
  if (isById(change))
    return { kind: 'sides', file: toStateSide(after), service: toStateSide(before) };
  if (isRename(change))
    return {
      kind: 'sides',
      file: { words: describeOtherName(after) },
      service: { words: describeOtherName(before) },
    };
  if (!sensitive && after !== null && sameValue(before, after)) return { kind: 'none' };
  if (!sensitive) {
    const service = before === null && action === 'set' ? { words: 'not set' } : { value: before };
    const file = code === 'reset' ? { words: 'null, for the default' } : { value: after };
    return { kind: 'sides', file, service };
  }
  const words = after === null ? 'null' : (ref ?? 'a secret');
  const file = ref === null && isDeclaredShown(after) ? { value: after } : { words };
  const service = code === 'differs' ? 'another value' : found;
  return { kind: 'sides', file, service: { words: service } };
}

/** A name of what gets another one. */
export function describeOtherName(name: Json): string {
  return typeof name === 'string' ? `called ${name}` : 'without a name';
}

function toStateSide(value: Json): Side {
  return { words: typeof value === 'string' ? value : 'none' };
}

/** Labels the result of a change. `hides` means that only its secrets are hidden. A started item has an id from then on. */
export function resultLabel(
  change: OutcomeChange,
  status: EnvironmentOutcome['status'],
  hides: boolean,
): Label {
  // Nothing went wrong, and this was not sent: a later observation has shown that the service has it already.
  if (change.result === 'not-sent' && (status === 'applied' || status === 'in-sync'))
    return { mark: '·', words: 'no longer needed', color: 'dim' };
  const { action, result } = change;
  if (hides && result === 'verified')
    return {
      ...RESULTS.verified,
      words: 'verified, except its secrets, which the server does not show',
    };
  const label = RESULTS[result];
  const started = findStartId(change);
  const id = started === null ? '' : `${started}, `;
  const done = findActionParticiple(action);
  if (done === null || result === 'not-sent') return { ...label, words: id + label.words };
  if (result === 'unverifiable')
    return { ...label, words: `${id}STARTING; this backend may never report RUNNING` };
  const state = action === 'pause' ? 'paused' : 'running';
  return { ...label, words: id + (result === 'verified' ? done : `requested, not ${state} yet`) };
}

const RESULTS: Readonly<Record<Result, Label>> = {
  verified: { mark: '✓', words: 'verified', color: 'green' },
  set: { mark: '✓', words: 'set', color: 'green' },
  unverifiable: {
    mark: '?',
    words: 'sent; the server does not show it, so it is not checked',
    color: 'cyan',
  },
  'not-sent': { mark: '✗', words: 'not written', color: 'red' },
  unknown: { mark: '✗', words: 'sent, not confirmed', color: 'red' },
};

const LONGEST_INLINE = 120;
const FOLD_AFTER = 16;
const MOST_EDITS = 1000;
const LONGEST_COMPARED = 20_000;

/** Reports whether a value has members and is shown as a block and not on a line. */
export function isNested(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}

/** A value as JSON on one line; a long one is cut, with the number of characters that are missing. */
export function inlineValue(value: Json, style: Style): string {
  if (value === '(sensitive)') return value;
  const text = visible(JSON.stringify(value));
  const limit = Math.min(LONGEST_INLINE, Math.max(24, (style.width ?? LONGEST_INLINE) - 30));
  if (style.verbose || text.length <= limit) return text;
  const characters = Array.from(text);
  const more = characters.length - limit;
  const close = typeof value === 'string' ? '"' : '';
  return more <= 0
    ? text
    : `${characters.slice(0, limit).join('')}…${close} (${more} more characters)`;
}

/** A value as YAML, every scalar on one line: no foreign text begins a line of its own. */
export function yamlText(value: Json): string {
  return stringify(value, {
    lineWidth: 0,
    blockQuote: false,
    singleQuote: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}

/** Two nested values as a unified diff of their YAML, one line an element; a long one is cut. Null is nothing. */
export function diffNested(before: Json, after: Json, style: Style): string[] {
  const lines = patchLines(toDiffYaml(before), toDiffYaml(after)).map((line) =>
    colorDiffLine(visible(line), style),
  );
  if (style.verbose || lines.length <= FOLD_AFTER) return lines;
  return [
    ...lines.slice(0, FOLD_AFTER),
    `… ${lines.length - FOLD_AFTER} more lines; ${formatDetailSource(style)} shows them`,
  ];
}

/** Reports whether two values are too long for a page or a comment to compare them line by line. */
export function isTooLong(before: Json, after: Json): boolean {
  return JSON.stringify([before, after]).length > LONGEST_COMPARED;
}

/** Formats an age in its largest unit: 40s, 5m, 3h, 12d. If the clock runs ahead, returns 0s. */
export function ageText(milliseconds: number, separator = ''): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000)) || 0;
  const [size, letter] = UNITS.find(([size]) => seconds >= size) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${separator}${letter}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** The lines of a patch. Two texts with too little in common are not searched for it: all of the one, then all of the other. */
function patchLines(before: string, after: string): string[] {
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const patch = structuredPatch('', '', before, after, '', '', options);
  if (patch === undefined) return [...prefixLines('-', before), ...prefixLines('+', after)];
  return patch.hunks
    .flatMap(({ lines }, index) => (index === 0 ? lines : ['…', ...lines]))
    .filter((line) => !line.startsWith('\\'));
}

function prefixLines(mark: string, text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => mark + line);
}

function toDiffYaml(value: Json): string {
  return value === null ? '' : yamlText(value);
}

function colorDiffLine(line: string, style: Style): string {
  const mark = line.slice(0, 1);
  const spaced = mark === '…' ? line : `${mark} ${line.slice(1)}`;
  if (mark === '+') return paint(style, 'green', spaced);
  return mark === '-' ? paint(style, 'red', spaced) : spaced;
}

/** The command that ran on an environment, which decides the wording of its result. */
export type Wording = Voice | 'apply';
