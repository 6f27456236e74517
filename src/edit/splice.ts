/** A piece of a text that is replaced; where start and end are the same, something is inserted. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text with its pieces replaced, everything else as it was. What is inserted at one place comes in the order given, and
 * before what is taken away there; null where two pieces overlap.
 */
export function spliced(text: string, splices: readonly Splice[]): string | null {
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
