import { randomBytes } from 'node:crypto';
import type { ErrorReport, PlanDocument } from '../model/plan.ts';
import { errorText } from '../render/error-text.ts';
import { planText, type TextVoice } from '../render/plan-text.ts';
import type { Style } from '../render/style.ts';

/** How text looks in the log of a job. */
export const PLAIN: Style = { color: false, width: null, verbose: false };

export function planLog(document: PlanDocument, voice: TextVoice): string {
  return planText(document, PLAIN, voice) + errorLog(document.environments);
}

/** The errors of targets, under what is said of the targets. */
export function errorLog(
  environments: readonly { readonly name: string; readonly error: ErrorReport | null }[],
): string {
  const texts = environments.map(({ name, error }) =>
    error === null ? '' : `\n${errorText(error, PLAIN, name)}`,
  );
  return texts.join('');
}

/**
 * Text in which the runner finds no commands: it holds what files and services say. The runner looks for commands behind blanks
 * and, for `##[`, anywhere in a line; it stops until it reads a word that nobody could know.
 */
export function inert(text: string): string {
  const word = randomBytes(16).toString('hex');
  return `::stop-commands::${word}\n${text.endsWith('\n') ? text : `${text}\n`}::${word}::\n`;
}
