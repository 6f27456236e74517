import type { Source } from '../model/source.ts';

/** A file's text with the offsets at which its lines start. `path` is how the person named it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lineStarts: readonly number[];
}

export function sourceFile(path: string, text: string): SourceFile {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lineStarts.push(at + 1);
  return { path, text, lineStarts };
}

/** Line and column of an offset, both from 1, in UTF-16 units. */
export function locate(file: SourceFile, offset: number): Source {
  let low = 0;
  let high = file.lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((file.lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { file: file.path, line: low + 1, column: offset - (file.lineStarts[low] ?? 0) + 1 };
}

const LONGEST = 400;

/** The text of a line, counted from 1, without its line break; of a very long one the beginning. */
export function lineOf(file: SourceFile, line: number): string {
  const start = file.lineStarts[line - 1] ?? file.text.length;
  const end = file.lineStarts[line] ?? file.text.length;
  return file.text.slice(start, Math.min(end, start + LONGEST)).replace(/\r?\n$/, '');
}
