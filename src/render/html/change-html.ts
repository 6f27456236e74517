import type { Change, ChangeClass, Unknown } from '../../model/plan.ts';
import type { Source } from '../../model/source.ts';
import type { Json } from '../../model/value.ts';
import { changeName, DIFFERS, MARKS, reasonText } from '../change-text.ts';
import { isNested } from '../inline-value.ts';
import { isTooLong } from '../nested-diff.ts';
import { IN_THE_FILE, ON_THE_SERVICE, sidesOf, type Voice } from '../sides.ts';
import type { Paint } from '../style.ts';
import { chipHtml } from './chip-html.ts';
import { diffHtml } from './diff-html.ts';
import { markup, type Markup } from './markup.ts';
import { notesHtml, rowHtml } from './row-html.ts';
import { afterHtml, beforeHtml, WHOLE } from './value-html.ts';

const CLASS_COLORS: Readonly<Record<ChangeClass, Paint>> = {
  pending: 'dim',
  drift: 'cyan',
  conflict: 'red',
};

interface Manner {
  readonly voice: Voice;
  /** What became of the change, if it was made. */
  readonly result?: Markup;
}

/** A row: what happens to which path, from which value to which, why, and where it is declared. Of drift: what each side has. */
export function changeHtml(change: Change<Json>, { voice, result }: Manner): Markup {
  const [mark, color] = MARKS[change.action];
  return rowHtml(
    voice === 'plan'
      ? chipHtml(color, `${mark} ${change.action}`)
      : chipHtml('yellow', `${DIFFERS} differs`),
    markup`<p>${nameHtml(change)}${classHtml(change)}${result === undefined ? null : [' ', result]}</p>\n`,
    voice === 'plan' ? valuesHtml(change) : sidesHtml(change),
    notesHtml(reasonText(change, voice), refHtml(change), sourceHtml(change.source)),
  );
}

function sidesHtml(change: Change<Json>): Markup {
  const { before, after, sensitive, resource } = change;
  if (isNested(before) || isNested(after)) {
    const heads = markup`<p class="sides"><del>--- ${ON_THE_SERVICE}${before === null ? ': none' : ''}</del> <ins>+++ ${IN_THE_FILE}${after === null ? ': none' : ''}</ins></p>\n`;
    return markup`${heads}${isTooLong(before, after) ? valuesOf(before, after) : diffHtml(before, after)}`;
  }
  const { file, service } = sidesOf(change, WHOLE);
  const isWord = sensitive || resource === 'sandbox';
  return markup`<dl class="sides">
<dt>${IN_THE_FILE}</dt><dd>${isWord ? markup`<ins class="value">${file}</ins>` : afterHtml(after)}</dd>
<dt>${ON_THE_SERVICE}</dt><dd>${isWord || before === null ? markup`<del class="value">${service}</del>` : beforeHtml(before)}</dd>
</dl>
`;
}

function valuesOf(before: Json, after: Json): Markup {
  return markup`<div class="values">${before === null ? null : beforeHtml(before)} ${after === null ? null : afterHtml(after)}</div>\n`;
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
