import { formatPath } from '../../model/path.ts';
import type { Change, Unknown } from '../../model/plan.ts';
import type { Json } from '../../model/value.ts';
import { changeText, DIFFERS, MARKS, reasonText } from '../change-text.ts';
import { inlineValue, isNested } from '../inline-value.ts';
import { isTooLong } from '../nested-diff.ts';
import { sidesOf, type Voice } from '../sides.ts';
import type { Style } from '../style.ts';
import { codeSpan, shortened } from './code-span.ts';
import { prose } from './prose.ts';
import { tableRow } from './table.ts';

const LONGEST_NAME = 160;
export const CELL: Style = { color: false, width: 90, verbose: false };
const WHOLE: Style = { color: false, width: null, verbose: true };

/** A change as a row: mark, path, from, to, why. Of drift: mark, path, what the file has, what the service has, why. */
export function changeRow(change: Change<Json>, voice: Voice): string {
  const why = [
    ...(voice === 'plan' || isBlockOrSandbox(change) ? [prose(reasonText(change, voice))] : []),
    change.class ?? '',
    ...(change.ref === null || (voice === 'drift' && !isBlockOrSandbox(change))
      ? []
      : [codeSpan(shortened(change.ref, LONGEST_NAME))]),
  ];
  return tableRow([
    voice === 'plan' ? MARKS[change.action][0] : DIFFERS,
    changeNameMarkdown(change),
    ...(voice === 'plan'
      ? [valueCell(change.before, change), valueCell(change.after, change)]
      : sideCells(change)),
    why.filter((part) => part !== '').join(' · '),
  ]);
}

/** Whether the two sides alone do not say all: of a block, or of a sandbox. */
function isBlockOrSandbox({ resource, before, after }: Change<Json>): boolean {
  return resource === 'sandbox' || isNested(before) || isNested(after);
}

function sideCells(change: Change<Json>): string[] {
  const { before, after } = change;
  if (isNested(before) || isNested(after)) {
    const cell = (value: Json): string =>
      value === null
        ? 'none'
        : isNested(before) && isNested(after)
          ? '…'
          : codeSpan(inlineValue(value, CELL));
    return [cell(after), cell(before)];
  }
  const { file, service } = sidesOf(change, CELL);
  return [file, service].map((side) => codeSpan(shortened(side, 2 * LONGEST_NAME)));
}

/** The path of a setting, or a sandbox. */
export function changeNameMarkdown({ resource, path }: Pick<Change, 'resource' | 'path'>): string {
  if (resource === 'settings') return pathMarkdown(path);
  const [first = '', number] = path.map((segment) => codeSpan(shortened(segment, LONGEST_NAME)));
  return number === undefined ? `sandbox ${first}` : `new sandbox ${number} (${first})`;
}

export function pathMarkdown(path: Change['path']): string {
  return codeSpan(shortened(formatPath(path), LONGEST_NAME));
}

/** What a change is in full, for a fence of the kind `diff`, the marks in the first column; null where it is too long to compare. */
export function changeDiff(change: Change<Json>, voice: Voice): string | null {
  if (isTooLong(change.before, change.after)) return null;
  const [head = '', ...members] = changeText(change, WHOLE, voice);
  const mark = voice === 'plan' ? MARKS[change.action][0] : DIFFERS;
  const line = `${mark === '~' ? '!' : mark}${head.slice(3)}`;
  return `${[line, ...members.map(marksFirst)].join('\n')}\n`;
}

function marksFirst(member: string): string {
  const head = /^ {6}((?:---|\+\+\+) .*)/.exec(member)?.[1];
  return head ?? `${member.slice(6, 7)}   ${member.slice(7)}`;
}

export function unknownItem({ path, reason, ref }: Unknown): string {
  const from = ref === null ? '' : ` (${codeSpan(shortened(ref, LONGEST_NAME))})`;
  return `- ${pathMarkdown(path)}: ${prose(reason)}${from}\n`;
}

/** Nothing where there was nothing; a block whose two sides differ somewhere is left to the diff. */
function valueCell(value: Json, { resource, before, after, action }: Change<Json>): string {
  if (value === null) return action === 'clear' && before !== null ? codeSpan('null') : '';
  if (isNested(before) && isNested(after)) return '…';
  if (resource === 'sandbox' && typeof value === 'string')
    return codeSpan(shortened(value, LONGEST_NAME));
  return codeSpan(inlineValue(value, CELL));
}
