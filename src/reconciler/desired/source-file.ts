import type { DiagnosticCode } from '../model/diagnostic.ts';
import { LineCounter } from 'yaml';
import type { Source } from '../model/path.ts';
import type { SchemaLock } from '../model/native-schema.ts';

/** A file's text with the places of its lines. `path` is how the person named it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: LineCounter;
  /** What its servers have besides what is known here; absent if no lock says so. */
  readonly lock?: SchemaLock;
}

export function sourceFile(path: string, text: string, lock?: SchemaLock): SourceFile {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    lines.addNewLine(at + 1);
  return { path, text, lines, ...(lock === undefined ? {} : { lock }) };
}

/** Line and column of an offset, both from 1, in UTF-16 units. */
export function locate({ path, lines }: SourceFile, offset: number): Source {
  const { line, col } = lines.linePos(offset);
  return { file: path, line, column: col };
}

const LONGEST = 400;

/** A line, counted from 1, without its line break; of a very long line only the beginning. */
export function lineOf({ text, lines }: SourceFile, line: number): string {
  const start = lines.lineStarts[line - 1] ?? text.length;
  const end = lines.lineStarts[line] ?? text.length;
  return text.slice(start, Math.min(end, start + LONGEST)).replace(/\r?\n$/, '');
}

/** A problem of the file, in words. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly path?: readonly string[];
  readonly severity?: 'error' | 'warning';
}

/** A finding with its place. */
export interface PlacedFinding {
  readonly file: SourceFile;
  /** The offset that a caret points at. */
  readonly at: number;
  readonly finding: Finding & { readonly path: readonly string[] };
}
