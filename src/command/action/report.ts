import { randomBytes } from 'node:crypto';
import type { ErrorReport } from '../../reconciler/model/plan.ts';
import { errorText } from '../../reconciler/render/error-text.ts';
import { PLAIN, type Style } from '../../reconciler/render/text.ts';

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

/** How the log is rendered. Nobody can ask a step for more; its summary has it. */
export const LOG: Style = { ...PLAIN, elsewhere: 'the summary' };

/** Bytes of a summary: GitHub drops one of more than 1 MiB as a whole. */
export const LONGEST_SUMMARY = 1_000_000;
