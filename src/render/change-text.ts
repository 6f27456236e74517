import { formatPath } from '../model/path.ts';
import type { Action, Change, Unknown, Warning } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import { inlineValue, isNested } from './inline-value.ts';
import { nestedDiff } from './nested-diff.ts';
import { found, IN_THE_FILE, ON_THE_SERVICE, sidesOf, type Voice } from './sides.ts';
import { paint, type Paint, type Style } from './style.ts';
import { visible } from './visible.ts';

export const MARKS: Readonly<Record<Action, readonly [string, Paint]>> = {
  set: ['+', 'green'],
  change: ['~', 'yellow'],
  rotate: ['~', 'yellow'],
  clear: ['-', 'red'],
  remove: ['-', 'red'],
  start: ['+', 'green'],
  resume: ['~', 'yellow'],
  pause: ['~', 'yellow'],
};

const PARTICIPLES: Readonly<Record<string, string>> = {
  start: 'started',
  resume: 'resumed',
  pause: 'paused',
};

/** Whether something is lost by a change: applying the file as it was does not bring it back. */
export function isDangerous({ action }: Pick<Change, 'action'>): boolean {
  return action === 'remove' || action === 'clear';
}

/** A change as people read it: what happens to which path, the values or the reason, the reference, a diff if it is nested. */
export function changeText(change: Change<Json>, style: Style, voice: Voice = 'plan'): string[] {
  const [first = '', ...rest] =
    voice === 'plan' ? unclassed(change, style) : differenceText(change, style);
  const since = change.class === undefined ? '' : paint(style, 'dim', `  [${change.class}]`);
  return [first + since, ...rest];
}

function unclassed(change: Change<Json>, style: Style): string[] {
  const [mark, color] = MARKS[change.action];
  const head = `${paint(style, color, mark)} ${paint(style, 'bold', changeName(change))}`;
  if (change.resource === 'sandbox')
    return [`  ${head}: will be ${PARTICIPLES[change.action]} (${visible(change.reason)})`];
  const from = change.ref === null ? '' : paint(style, 'dim', ` (${visible(change.ref)})`);
  if (!isNested(change.before) && !isNested(change.after))
    return [`  ${head}: ${scalarText(change, style)}${from}`];
  const diff = nestedDiff(change.before, change.after, style).map((line) => `      ${line}`);
  return [`  ${head}: ${reasonText(change)}${from}`, ...diff];
}

/** A difference that was found: what each side has, by its name. */
function differenceText(change: Change<Json>, style: Style): string[] {
  const head = `  ${paint(style, 'yellow', DIFFERS)} ${paint(style, 'bold', changeName(change))}`;
  const { before, after, ref } = change;
  if (!isNested(before) && !isNested(after)) {
    const { file, service } = sidesOf(change, style);
    const why = change.resource === 'sandbox' ? `: ${visible(change.reason)}` : '';
    return [
      head + why,
      `      ${paint(style, 'red', `- ${ON_THE_SERVICE}  ${service}`)}`,
      `      ${paint(style, 'green', `+ ${IN_THE_FILE}     ${file}`)}`,
    ];
  }
  const from = ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
  const lines = [
    paint(style, 'red', `--- ${ON_THE_SERVICE}${before === null ? ': none' : ''}`),
    paint(style, 'green', `+++ ${IN_THE_FILE}${after === null ? ': none' : ''}`),
    ...nestedDiff(before, after, style),
  ];
  return [
    `${head}: ${reasonText(change, 'drift')}${from}`,
    ...lines.map((line) => `      ${line}`),
  ];
}

/** The mark of every difference in the words of a finding. */
export const DIFFERS = '~';

/** What a change is about: the path of a setting as flags take it, or a sandbox. */
export function changeName({ resource, path }: Pick<Change, 'resource' | 'path'>): string {
  if (resource === 'settings') return visible(formatPath(path));
  const [first = '', number] = path;
  return number === undefined
    ? `sandbox ${visible(first)}`
    : `new sandbox ${visible(number)} (${visible(first)})`;
}

function scalarText(change: Change<Json>, style: Style): string {
  if (change.sensitive) return visible(change.reason);
  const after = inlineValue(change.after, style);
  return change.before === null ? after : `${inlineValue(change.before, style)} → ${after}`;
}

/** Why, in a word or two. */
export function reasonText(
  { action, path, reason }: Pick<Change, 'action' | 'path' | 'reason'>,
  voice: Voice = 'plan',
): string {
  if (voice === 'drift') return visible(found(reason));
  if (action === 'remove') return `${visible(reason)}, will be removed`;
  return action === 'set' && path.length > 1 && reason === 'not set' ? 'new' : visible(reason);
}

export function unknownText({ path, reason, ref }: Unknown, style: Style): string {
  const from = ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
  return `  ${paint(style, 'cyan', '?')} ${visible(formatPath(path))}: ${visible(reason)}${from}`;
}

export function warningText({ message }: Warning, style: Style): string {
  return `  ${paint(style, 'yellow', '!')} ${visible(message)}`;
}
