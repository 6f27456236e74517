import { lineEnd, lineStart, type Spot, type YamlSource } from './source.ts';

/** A piece of a text that is replaced. If start and end are the same, the text is inserted. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text with its pieces replaced, everything else as it was. Insertions at one offset come in the given order, and before
 * what is removed there. Null if two pieces overlap.
 */
export function applySplices(text: string, splices: readonly Splice[]): string | null {
  const ordered = splices.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let result = '';
  let done = 0;
  for (const { start, end, text: inserted } of ordered) {
    if (start < done || end < start) return null;
    result += text.slice(done, start) + inserted;
    done = end;
  }
  return result + text.slice(done);
}

/**
 * Removes members or items of a collection in braces or brackets and adds others at its end; at least one stays. If each is on its own
 * line, so are the added ones.
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

/** Adds lines after the line of an offset. */
export function linesAfter(
  { text, layout }: YamlSource,
  offset: number,
  lines: readonly string[],
): Splice {
  const at = lineEnd(text, offset);
  return { start: at, end: at, text: lines.map((line) => layout.eol + line).join('') };
}

/**
 * Adds lines after what ends at an offset, in a block collection at `column`. Comment lines that are indented deeper belong to
 * what is before them.
 */
export function linesBehind(
  source: YamlSource,
  offset: number,
  column: number,
  lines: readonly string[],
): Splice {
  return linesAfter(source, endBehind(source.text, offset, column), lines);
}

/** Returns the end of what ends at an offset, including the comment lines below it that are indented deeper than `column`. */
function endBehind(text: string, offset: number, column: number): number {
  const deeper = new RegExp(`(?:[ \\t]*\\r?\\n)* {${column + 1},}#[^\\n]*(?:\\n|$)`, 'y');
  let end = lineEnd(text, offset);
  let next = lineStartAfter(text, end);
  for (;;) {
    deeper.lastIndex = next;
    if (next >= text.length || !deeper.test(text)) break;
    next = deeper.lastIndex;
    end = lineEnd(text, text[next - 1] === '\n' ? next - 1 : next);
  }
  return end;
}

function lineStartAfter(text: string, end: number): number {
  const feed = text.indexOf('\n', end);
  return feed === -1 ? text.length : feed + 1;
}

/**
 * Removes members or items of a block collection, each with its lines and the comments after them. Comment lines above one
 * stay. If one shares its first line with the collection around it, the next one takes over that line.
 */
export function withoutSpots(
  { text }: YamlSource,
  spots: readonly Spot[],
  gone: ReadonlySet<Spot>,
): Splice[] {
  return spots.flatMap((spot, index): Splice[] => {
    if (!gone.has(spot)) return [];
    const from = lineStart(text, spot.start);
    if (text.slice(from, spot.start).trim() !== '')
      return [{ start: spot.start, end: spots[index + 1]?.start ?? spot.end, text: '' }];
    // With the line break before it, so that a last line without one leaves a last line without one.
    const start = from === 0 ? 0 : lineEnd(text, from - 1);
    return [{ start, end: lineEnd(text, spot.end), text: '' }];
  });
}

/**
 * Removes members of a block map at `column`, each with the comments that are about it: the lines right above it in its own column, and those
 * below it that are indented deeper.
 */
export function removeMapMembers(
  source: YamlSource,
  spots: readonly Spot[],
  gone: ReadonlySet<Spot>,
  column: number,
): Splice[] {
  const { text } = source;
  return spots.flatMap((spot): Splice[] => {
    if (!gone.has(spot)) return [];
    const from = lineStart(text, spot.start);
    if (text.slice(from, spot.start).trim() !== '')
      return withoutSpots(source, spots, new Set([spot]));
    const first = aboveComments(text, from, column);
    const start = first === 0 ? 0 : lineEnd(text, first - 1);
    return [{ start, end: endBehind(text, spot.end, column), text: '' }];
  });
}

/** Returns the start of the comment lines that are right above a line, in a column. */
function aboveComments(text: string, from: number, column: number): number {
  let first = from;
  while (first > 0) {
    const above = lineStart(text, first - 1);
    const line = text.slice(above, first);
    if (!line.startsWith(`${' '.repeat(column)}#`)) break;
    first = above;
  }
  return first;
}
