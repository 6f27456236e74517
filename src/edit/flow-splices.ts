import type { Spot } from './edit-node.ts';
import type { Splice } from './splice.ts';
import { lineEnd, lineStart, type YamlSource } from './yaml-source.ts';

/**
 * Members or items of a collection in braces or brackets taken out and added at its end; at least one stays. Where each
 * stands on a line of its own, so does what is added.
 */
export function flowSplices(
  { text, layout }: YamlSource,
  spots: readonly Spot[],
  gone: ReadonlySet<Spot>,
  added: readonly string[],
): Splice[] {
  const last = spots.findLastIndex((spot) => !gone.has(spot));
  const anchor = spots[last];
  const end = spots.at(-1)?.end ?? 0;
  if (anchor === undefined) return [];
  const removed = spots.slice(0, last).flatMap((spot, index): Splice[] => {
    if (!gone.has(spot)) return [];
    return [{ start: spot.start, end: spots[index + 1]?.start ?? spot.end, text: '' }];
  });
  const from = lineStart(text, anchor.start);
  const indent = text.slice(from, anchor.start);
  const after = text.slice(anchor.end, lineEnd(text, anchor.end));
  const ownLine = indent.trim() === '' && /^\s*,?\s*$/.test(after);
  const lead = ownLine ? `,${layout.eol}${indent}` : ', ';
  return [
    ...removed,
    { start: anchor.end, end: anchor.end, text: added.map((one) => lead + one).join('') },
    ...(last < spots.length - 1 ? [{ start: anchor.end, end, text: '' }] : []),
  ];
}
