import { randomBytes } from 'node:crypto';
import type { ErrorReport } from '../model/plan.ts';
import { errorText } from '../render/error-text.ts';
import { PLAIN } from '../render/style.ts';

/** The errors of environments, for the log. */
export function errorLog(
  environments: readonly { readonly name: string; readonly error: ErrorReport | null }[],
): string {
  const texts = environments.map(({ name, error }) =>
    error === null ? '' : `\n${errorText(error, PLAIN, name)}`,
  );
  return texts.join('');
}

/**
 * Text in which the runner finds no commands, although it contains texts of files and services. The runner recognizes commands
 * behind blanks and, for `##[`, anywhere in a line; here it ignores them until it reads a word that nobody could know.
 */
export function inert(text: string): string {
  const word = randomBytes(16).toString('hex');
  return `::stop-commands::${word}\n${text.endsWith('\n') ? text : `${text}\n`}::${word}::\n`;
}

/** GitHub drops a summary of more than 1 MiB as a whole. */
const LONGEST_SUMMARY = 1024 * 1024 - 48 * 1024;

/** The parts of a summary, whole ones only, as many as fit, and how many do not. At most 1,000,000 bytes. */
export function jobSummary(parts: readonly string[], limit = LONGEST_SUMMARY): string {
  const shown: string[] = [];
  let room = limit;
  for (const markdown of parts) {
    room -= Buffer.byteLength(markdown) + 2;
    if (room < 0) break;
    shown.push(markdown.trimEnd());
  }
  const missing = parts.length - shown.length;
  if (missing > 0) {
    shown.push(
      `${missing} of ${parts.length} environments do not fit here; the log of the step has them all.`,
    );
  }
  return `${shown.join('\n\n')}\n`;
}
