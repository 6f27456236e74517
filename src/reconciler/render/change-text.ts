import { participleOf } from '../model/action.ts';
import { formatPath } from '../model/path.ts';
import type { Unknown, Warning } from '../model/plan.ts';
import { isById } from '../model/told.ts';
import { IN_THE_FILE, ON_THE_SERVICE, type ShownChange, type Side } from './change.ts';
import { paint, type Style } from './style.ts';
import { inlineValue, nestedDiff } from './values.ts';
import { visible } from './visible.ts';

/** A change in lines: what happens to which path, from which value to which, its reference; a diff if it is nested. */
export function changeText(shown: ShownChange, style: Style): string[] {
  if (shown.result !== null) return [resultLine(shown, style)];
  const [first = '', ...rest] =
    shown.voice === 'plan' ? plannedLines(shown, style) : foundLines(shown, style);
  const { class: origin } = shown.change;
  return [first + (origin === undefined ? '' : paint(style, 'dim', `  [${origin}]`)), ...rest];
}

function resultLine({ name, result }: ShownChange, style: Style): string {
  const { mark, words, color } = result ?? { mark: '', words: '', color: 'dim' };
  return `  ${paint(style, color, mark)} ${visible(name)}: ${visible(words)}`;
}

function plannedLines(shown: ShownChange, style: Style): string[] {
  const { change, reason, values } = shown;
  const head = headOf(shown, style);
  if (isById(change))
    return [
      `${head}: will be ${participleOf(change.action) ?? change.action} (${visible(reason)})`,
    ];
  const ref = refText(change.ref, style);
  switch (values.kind) {
    case 'arrow': {
      const after = sideText(values.after, style);
      const before = values.before === null ? '' : `${inlineValue(values.before, style)} → `;
      return [`${head}: ${before}${after}${ref}`];
    }
    case 'diff': {
      const diff = nestedDiff(values.before, values.after, style).map((line) => `      ${line}`);
      return [`${head}: ${visible(reason)}${ref}`, ...diff];
    }
    default:
      return [`${head}: ${visible(reason)}${ref}`];
  }
}

function foundLines(shown: ShownChange, style: Style): string[] {
  const { change, reason, values } = shown;
  const head = headOf(shown, style);
  if (values.kind === 'sides') {
    const why = isById(change) ? `: ${visible(reason)}` : '';
    const service = `- ${ON_THE_SERVICE}  ${sideText(values.service, style)}`;
    const file = `+ ${IN_THE_FILE}     ${sideText(values.file, style)}`;
    return [
      head + why,
      `      ${paint(style, 'red', service)}`,
      `      ${paint(style, 'green', file)}`,
    ];
  }
  const { before, after, ref } = change;
  const lines = [
    paint(style, 'red', `--- ${ON_THE_SERVICE}${before === null ? ': none' : ''}`),
    paint(style, 'green', `+++ ${IN_THE_FILE}${after === null ? ': none' : ''}`),
    ...nestedDiff(before, after, style),
  ];
  return [
    `${head}: ${visible(reason)}${refText(ref, style)}`,
    ...lines.map((line) => `      ${line}`),
  ];
}

/** One side of a difference on a line. */
export function sideText(side: Side, style: Style): string {
  return 'words' in side ? visible(side.words) : inlineValue(side.value, style);
}

function headOf({ label, name }: ShownChange, style: Style): string {
  return `  ${paint(style, label.color, label.mark)} ${paint(style, 'bold', visible(name))}`;
}

export function refText(ref: string | null, style: Style): string {
  return ref === null ? '' : paint(style, 'dim', ` (${visible(ref)})`);
}

export function unknownText({ path, reason, ref }: Unknown, style: Style): string {
  const mark = paint(style, 'cyan', '?');
  return `  ${mark} ${visible(formatPath(path))}: ${visible(reason)}${refText(ref, style)}`;
}

export function warningText({ message }: Warning, style: Style): string {
  return `  ${paint(style, 'yellow', '!')} ${visible(message)}`;
}
