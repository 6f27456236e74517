import type { Refusal } from '../model/guard.ts';
import { paint, type Style } from './style.ts';
import { visible } from './visible.ts';

/** What begins every refusal in a plan. */
export const WOULD_BE_REFUSED = 'Apply would be refused:';

/** A refusal of a plan in one line: what the rule found, its name, and how to lift it. */
export function refusalText(refusal: Refusal, style: Style): string {
  return `${paint(style, 'red', WOULD_BE_REFUSED)} ${visible(refusalSentence(refusal))}`;
}

export function refusalSentence({ message, rule, hint }: Refusal): string {
  return `${message} (rule ${rule}) ${hint}`;
}
