import type { Spot } from './edit-node.ts';
import type { Splice } from './splice.ts';
import { lineEnd, lineStart, type YamlSource } from './yaml-source.ts';

/** Lines put in behind the line on which an offset stands. */
export function linesAfter(
  { text, layout }: YamlSource,
  offset: number,
  lines: readonly string[],
): Splice {
  const at = lineEnd(text, offset);
  return { start: at, end: at, text: lines.map((line) => layout.eol + line).join('') };
}

/**
 * Lines put in behind what ends at an offset, in a block collection that stands at `column`: comment lines that are indented
 * deeper belong to what is before them.
 */
export function linesBehind(
  source: YamlSource,
  offset: number,
  column: number,
  lines: readonly string[],
): Splice {
  const { text } = source;
  const deeper = new RegExp(`(?:[ \\t]*\\r?\\n)* {${column + 1},}#[^\\n]*(?:\\n|$)`, 'y');
  let end = lineEnd(text, offset);
  let next = lineStartAfter(text, end);
  for (;;) {
    deeper.lastIndex = next;
    if (next >= text.length || !deeper.test(text)) break;
    next = deeper.lastIndex;
    end = lineEnd(text, text[next - 1] === '\n' ? next - 1 : next);
  }
  return linesAfter(source, end, lines);
}

function lineStartAfter(text: string, end: number): number {
  const feed = text.indexOf('\n', end);
  return feed === -1 ? text.length : feed + 1;
}

/**
 * Members or items of a block collection taken out, each with its lines and the comments behind them; comment lines above
 * one stay. Where one shares its first line with what it stands in, that line is left to the next.
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
