import { formatPath } from '../model/path.ts';
import type { Action, Change, Unknown, Warning } from '../model/plan.ts';
import type { Json } from '../model/value.ts';
import { inlineValue, isNested } from './inline-value.ts';
import { nestedDiff } from './nested-diff.ts';
import { paint, type Paint, type Style } from './style.ts';
import { visible } from './visible.ts';

const MARKS: Readonly<Record<Action, readonly [string, Paint]>> = {
  set: ['+', 'green'],
  change: ['~', 'yellow'],
  rotate: ['~', 'yellow'],
  clear: ['-', 'red'],
  remove: ['-', 'red'],
};

/** A change as people read it: what happens to which path, the values or the reason, the reference, a diff where it is nested. */
export function changeText(change: Change<Json>, style: Style): string[] {
  const [mark, color] = MARKS[change.action];
  const head = `${paint(style, color, mark)} ${paint(style, 'bold', visible(formatPath(change.path)))}`;
  const from = change.ref === null ? '' : paint(style, 'dim', ` (${visible(change.ref)})`);
  if (!isNested(change.before) && !isNested(change.after))
    return [`  ${head}: ${scalarText(change, style)}${from}`];
  const diff = nestedDiff(change.before, change.after, style).map((line) => `      ${line}`);
  return [`  ${head}: ${reasonOf(change)}${from}`, ...diff];
}

function scalarText(change: Change<Json>, style: Style): string {
  if (change.sensitive) return change.reason;
  const after = inlineValue(change.after, style);
  return change.before === null ? after : `${inlineValue(change.before, style)} → ${after}`;
}

function reasonOf(change: Change<Json>): string {
  return change.action === 'remove' ? `${change.reason}, will be removed` : visible(change.reason);
}

export function unknownText({ path, reason, ref }: Unknown, style: Style): string {
  const from = ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
  return `  ${paint(style, 'cyan', '?')} ${visible(formatPath(path))}: ${visible(reason)}${from}`;
}

export function warningText({ message }: Warning, style: Style): string {
  return `  ${paint(style, 'yellow', '!')} ${visible(message)}`;
}
