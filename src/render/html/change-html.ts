import type { Change, ChangeClass, Unknown } from '../../model/plan.ts';
import type { Source } from '../../model/source.ts';
import type { Json } from '../../model/value.ts';
import { changeName, MARKS, reasonText } from '../change-text.ts';
import { isNested } from '../inline-value.ts';
import { isTooLong } from '../nested-diff.ts';
import type { Paint } from '../style.ts';
import { chipHtml } from './chip-html.ts';
import { diffHtml } from './diff-html.ts';
import { markup, type Markup } from './markup.ts';
import { notesHtml, rowHtml } from './row-html.ts';
import { afterHtml, beforeHtml } from './value-html.ts';

const CLASS_COLORS: Readonly<Record<ChangeClass, Paint>> = {
  pending: 'dim',
  drift: 'cyan',
  conflict: 'red',
};

/**
 * A row: what happens to which path, from which value to which, why, and where that was asked for. `result` is what has
 * become of it, where something has.
 */
export function changeHtml(change: Change<Json>, result: Markup | null = null): Markup {
  const [mark, color] = MARKS[change.action];
  return rowHtml(
    chipHtml(color, `${mark} ${change.action}`),
    markup`<p>${nameHtml(change)}${classHtml(change)}${result === null ? null : [' ', result]}</p>\n`,
    valuesHtml(change),
    notesHtml(reasonText(change), refHtml(change), sourceHtml(change.source)),
  );
}

export function nameHtml(place: Pick<Change, 'resource' | 'path'>): Markup {
  return markup`<code class="name">${changeName(place)}</code>`;
}

function classHtml(change: Change<Json>): Markup | null {
  if (change.class === undefined) return null;
  return markup` ${chipHtml(CLASS_COLORS[change.class], change.class)}`;
}

function valuesHtml({ resource, sensitive, before, after }: Change<Json>): Markup | null {
  const nested = isNested(before) || isNested(after);
  if (nested && !isTooLong(before, after)) return diffHtml(before, after);
  if (!nested && (resource === 'sandbox' || sensitive)) return null;
  const from = before === null ? null : markup`${beforeHtml(before)} → `;
  return markup`<div class="values">${from}${afterHtml(after)}</div>\n`;
}

function refHtml({ ref }: Pick<Change, 'ref'>): Markup | null {
  return ref === null ? null : markup`<code>${ref}</code>`;
}

export function sourceHtml(source: Source | null): Markup | null {
  return source === null
    ? null
    : markup`<code>${source.file}:${source.line}:${source.column}</code>`;
}

export function unknownHtml({ path, reason, ref }: Unknown): Markup {
  return rowHtml(
    chipHtml('cyan', '? unknown'),
    markup`<p>${nameHtml({ resource: 'settings', path })}</p>\n`,
    notesHtml(reason, refHtml({ ref })),
  );
}
