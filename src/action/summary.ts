/** A part of a job's summary; without a target it is about all of them. */
export interface Section {
  readonly target: string | null;
  readonly markdown: string;
}

/** GitHub drops a summary of more than 1 MiB as a whole. */
const LIMIT = 1024 * 1024 - 48 * 1024;

/** The sections, as many as there is room for, whole ones only, and how many are missing. At most 1,000,000 bytes. */
export function summaryOf(sections: readonly Section[], limit = LIMIT): string {
  const shown: string[] = [];
  let room = limit;
  for (const { markdown } of sections) {
    room -= Buffer.byteLength(markdown) + 2;
    if (room < 0) break;
    shown.push(markdown.trimEnd());
  }
  const missing = sections.length - shown.length;
  if (missing > 0) {
    shown.push(
      `${missing} of ${sections.length} targets have no room here; the log of the step has them all.`,
    );
  }
  return `${shown.join('\n\n')}\n`;
}
